//! What a file may be, by its name alone (S2, S3, S4): text, attachable, an editor's leftover, a key
//! file that is never sent, or nothing we use. `sniff` and `magic` then look at the content.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What the name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// Text, if the content agrees.
    Text,
    /// An image, PDF or Office file, with its kind.
    Attachable(&'static str),
    /// Not used; why.
    Ignored(&'static str),
}

/// Why a hidden file is left out.
pub const HIDDEN: &str = "hidden file";
/// Why an editor's leftover is left out.
pub const LEFTOVER: &str = "leftover of an editor or a file manager";
/// Why a key file is left out.
pub const SECRET: &str = "key or credentials file: never sent";
/// Why anything else is left out.
pub const UNKNOWN: &str = "neither a known text type nor an attachable one";

/// Extensions of text, in lower case.
#[rustfmt::skip]
const TEXT_EXTENSIONS: &[&str] = &[
    // Prose and markup.
    "md", "markdown", "mdx", "mdown", "mkd", "txt", "text", "rst", "adoc", "asciidoc", "org", "tex",
    "bib", "html", "htm", "xhtml", "css", "scss", "sass", "less", "svg", "wiki", "pod", "typ",
    // Data and settings.
    "json", "jsonl", "ndjson", "json5", "jsonc", "yaml", "yml", "toml", "ini", "cfg", "conf", "csv",
    "tsv", "xml", "xsd", "xsl", "xslt", "properties", "plist", "log", "diff", "patch", "lock",
    "proto", "graphql", "gql", "avsc", "thrift", "tf", "tfvars", "hcl", "nix", "dhall", "cue",
    "jsonnet", "http", "rest", "ics", "srt", "vtt", "po", "pot", "mermaid", "mmd", "puml",
    "plantuml", "dot", "gv", "drawio", "ipynb",
    // Source code.
    "rs", "py", "pyi", "rb", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte",
    "astro", "java", "kt", "kts", "scala", "groovy", "gradle", "clj", "cljs", "edn", "c", "h", "cc",
    "cpp", "cxx", "hh", "hpp", "hxx", "inl", "m", "mm", "cs", "fs", "fsx", "vb", "go", "swift",
    "dart", "php", "pl", "pm", "lua", "r", "rmd", "jl", "hs", "lhs", "elm", "ml", "mli", "ex",
    "exs", "erl", "hrl", "lisp", "el", "scm", "rkt", "nim", "zig", "v", "sv", "vhd", "vhdl", "d",
    "ada", "adb", "ads", "pas", "f90", "f95", "for", "cob", "cbl", "asm", "s", "sol", "move",
    "cairo", "wat", "wgsl", "glsl", "hlsl", "metal", "cu", "sql", "ddl", "dml", "prisma", "sh",
    "bash", "zsh", "fish", "ksh", "ps1", "psm1", "psd1", "bat", "cmd", "awk", "sed", "mk", "mak",
    "cmake", "ninja", "bzl", "bazel", "star", "dockerfile", "feature", "robot", "liquid", "hbs",
    "mustache", "ejs", "jinja", "j2", "tmpl", "tpl", "erb", "haml", "pug", "coffee", "vim", "tcl",
    "gd", "ino", "cls", "apex", "abap", "bicep", "rego",
];

/// Whole names of text files without a telling extension, in lower case.
#[rustfmt::skip]
const TEXT_NAMES: &[&str] = &[
    "readme", "license", "licence", "copying", "notice", "authors", "contributors", "contributing",
    "changelog", "changes", "history", "news", "todo", "install", "maintainers", "codeowners",
    "makefile", "gnumakefile", "dockerfile", "containerfile", "vagrantfile", "jenkinsfile",
    "procfile", "rakefile", "gemfile", "brewfile", "justfile", "podfile", "fastfile",
    "cmakelists.txt", "build", "workspace", "go.mod", "go.sum", "go.work",
];

/// Extensions of attachables with their kinds (S3).
const ATTACHABLE: &[(&str, &str)] = &[
    ("png", "png"),
    ("jpg", "jpeg"),
    ("jpeg", "jpeg"),
    ("gif", "gif"),
    ("webp", "webp"),
    ("pdf", "pdf"),
    ("docx", "docx"),
    ("xlsx", "xlsx"),
    ("pptx", "pptx"),
];

/// Extensions of key and credential files, in lower case.
#[rustfmt::skip]
const SECRET_EXTENSIONS: &[&str] = &[
    "pem", "key", "p8", "p12", "pfx", "pkcs12", "jks", "keystore", "kdbx", "ppk", "gpg", "pgp",
    "asc", "der", "crt", "cer", "csr", "ovpn", "env", "envrc", "netrc", "htpasswd", "tfstate",
];

/// Whole names of key and credential files, in lower case.
#[rustfmt::skip]
const SECRET_NAMES: &[&str] = &[
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity",
    "credentials", "credentials.json", "credentials.csv", "credentials.ini", "credentials.toml",
    "credentials.yaml", "credentials.yml", "credentials.xml", "credentials.txt",
    "client_secret.json", "service-account.json", "service_account.json", "secrets.json",
    "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.ini", "secrets.txt", "kubeconfig",
    "htpasswd", "netrc", "_netrc", "pgpass", "wallet.dat", "master.key",
];

/// Whole names of leftovers, in lower case: file managers', and the `4913` with which vim tries
/// whether it may write.
#[rustfmt::skip]
const LEFTOVER_NAMES: &[&str] =
    &[
    "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "4913", "nohup.out",
];

/// Endings of leftovers, in lower case.
#[rustfmt::skip]
const LEFTOVER_EXTENSIONS: &[&str] =
    &[
    "orig", "rej", "bak", "swp", "swo", "swx", "tmp", "temp", "part", "crdownload", "download",
];

/// Why a name is no doc's at all (S4): hidden or a leftover. Cheap, for folders of thousands.
pub fn no_doc(name: &OsStr) -> Option<&'static str> {
    if name.as_bytes().starts_with(b".") {
        return Some(if is_junk_dotfile(name) { LEFTOVER } else { HIDDEN });
    }
    let lower = name.to_string_lossy().to_lowercase();
    is_leftover(&lower, extension_of(&lower)).then_some(LEFTOVER)
}

/// Judges a name.
pub fn by_name(name: &OsStr) -> NameKind {
    if let Some(why) = no_doc(name) {
        return NameKind::Ignored(why);
    }
    let lower = name.to_string_lossy().to_lowercase();
    let extension = extension_of(&lower);
    let secret = |list: &[&str], what: &str| list.contains(&what);
    if secret(SECRET_NAMES, &lower) || extension.is_some_and(|e| secret(SECRET_EXTENSIONS, e)) {
        return NameKind::Ignored(SECRET);
    }
    if let Some((_, kind)) = ATTACHABLE.iter().find(|(e, _)| Some(*e) == extension) {
        return NameKind::Attachable(kind);
    }
    if TEXT_NAMES.contains(&lower.as_str())
        || extension.is_some_and(|e| TEXT_EXTENSIONS.contains(&e))
        // `Dockerfile.dev`, `README.de`, `Makefile.am`.
        || lower.split_once('.').is_some_and(|(stem, _)| {
            matches!(stem, "dockerfile" | "makefile" | "readme" | "license")
        })
    {
        return NameKind::Text;
    }
    NameKind::Ignored(UNKNOWN)
}

/// What follows the last dot of a lower-case name; none where nothing stands before or after it.
pub fn extension_of(lower: &str) -> Option<&str> {
    lower.rsplit_once('.').filter(|(stem, e)| !stem.is_empty() && !e.is_empty()).map(|(_, e)| e)
}

fn is_junk_dotfile(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    bytes == b".DS_Store"
        || bytes.starts_with(b"._")
        || bytes.starts_with(b".#")
        || [&b".swp"[..], b".swo", b".swx", b"~"].iter().any(|end| bytes.ends_with(end))
}

fn is_leftover(lower: &str, extension: Option<&str>) -> bool {
    let numbered_temporary = || {
        // `notes.md.tmp.1`, as agents leave behind when an atomic write is cut off.
        let mut parts = lower.rsplit('.');
        parts.next().is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            && parts.next() == Some("tmp")
    };
    LEFTOVER_NAMES.contains(&lower)
        || lower.ends_with('~')
        || lower.starts_with("~$")
        || (lower.len() > 1 && lower.starts_with('#') && lower.ends_with('#'))
        // Emacs' `#notes.md#` when it was cut off, and JetBrains' temporary copies.
        || lower.ends_with("___jb_tmp___")
        || lower.ends_with("___jb_old___")
        || extension.is_some_and(|e| LEFTOVER_EXTENSIONS.contains(&e))
        || numbered_temporary()
}

#[cfg(test)]
mod tests {
    use super::NameKind::{Attachable, Ignored, Text};
    use super::*;

    #[test]
    fn s02_s03_s04_names() {
        let cases: &[(&str, NameKind)] = &[
            ("style-guide.md", Text),
            ("README", Text),
            ("Dockerfile.dev", Text),
            ("schema.SQL", Text),
            ("data.jsonl", Text),
            ("con .txt", Text),
            ("a:b.md", Text),
            ("说明.md", Text),
            ("logo.PNG", Attachable("png")),
            ("photo.jpg", Attachable("jpeg")),
            ("plan.docx", Attachable("docx")),
            (".env", Ignored(HIDDEN)),
            (".md", Ignored(HIDDEN)),
            ("...", Ignored(HIDDEN)),
            ("prod.env", Ignored(SECRET)),
            ("server.pem", Ignored(SECRET)),
            ("id_rsa", Ignored(SECRET)),
            ("credentials", Ignored(SECRET)),
            ("credentials.json", Ignored(SECRET)),
            ("nul", Ignored(UNKNOWN)),
            ("aux.md.", Ignored(UNKNOWN)),
            ("x.md ", Ignored(UNKNOWN)),
            ("x.md.exe", Ignored(UNKNOWN)),
            ("shell.md::$DATA", Ignored(UNKNOWN)),
            ("photo.heic", Ignored(UNKNOWN)),
            ("paint.bmp", Ignored(UNKNOWN)),
        ];
        for (name, expected) in cases {
            assert_eq!(by_name(OsStr::new(name)), *expected, "{name}");
        }
    }

    #[test]
    fn c04_editor_leftovers() {
        for name in [
            ".#notes.md",
            ".notes.md.swp",
            "notes.md~",
            "#notes.md#",
            "._notes.md",
            ".DS_Store",
            "Thumbs.db",
            "~$plan.docx",
            "notes.md.orig",
            "4913",
            "notes.md.tmp.1",
            "notes.md.swp",
        ] {
            assert_eq!(by_name(OsStr::new(name)), Ignored(LEFTOVER), "{name}");
        }
    }
}
