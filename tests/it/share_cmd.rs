//! `omni-run share`: a page that only can be read, without secrets, written after a yes.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::pty_driver::Run;
use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::{Finished, run};

/// Made up, and put together here so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "Ab3dEf6hIj9lMn2pQr5tUv8xYz1BcD4fGh7j")
}

const PASSWORD: &str = "h7Gk2pLq9x";

struct Bed {
    fake: ScriptEngine,
    id: String,
}

impl Bed {
    fn new(prompt: &str, reply: &str) -> Bed {
        let fake = ScriptEngine::new("cat >/dev/null; cat \"$HOME/reply\"");
        write(fake.home.home().join("reply"), reply);
        run(&mut fake.omni(&["-q", "-p"]), prompt).expect_success();
        let list = run(&mut fake.command(&["sessions", "ls", "--json"]), "").expect_success();
        let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
        let id = list[0]["id"].as_str().expect("id").to_owned();
        Bed { fake, id }
    }

    fn share(&self, args: &[&str]) -> Finished {
        run(&mut self.fake.command(&[&["share", &self.id], args].concat()), "")
    }

    fn page(&self) -> String {
        self.share(&["--yes", "-o", "-"]).expect_success().stdout
    }

    fn shares(&self) -> PathBuf {
        self.fake.home.data().join("omni-run/shares")
    }
}

/// The tags of a page, in order: `name` or `/name`, and the attributes. Fails on anything that a
/// browser would have to mend.
fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tags = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("doctype");
    // The style holds no tag; its own `<` would end it.
    let (before, rest) = body.split_once("<style>").expect("style");
    let (style, after) = rest.split_once("</style>").expect("end of the style");
    assert!(!style.contains('<'), "a tag in the style");
    for part in [before, after] {
        let mut rest = part;
        while let Some(at) = rest.find('<') {
            let end = at + rest[at..].find('>').unwrap_or_else(|| panic!("open: {}", &rest[at..]));
            let (name, attributes) =
                rest[at + 1..end].split_once(' ').unwrap_or((&rest[at + 1..end], ""));
            tags.push((name.to_owned(), self::attributes(attributes)));
            rest = &rest[end + 1..];
        }
    }
    tags
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"").unwrap_or_else(|| panic!("odd: {text}"));
        let (value, rest) = rest.split_once('"').unwrap_or_else(|| panic!("open: {text}"));
        found.push((name.trim().to_owned(), value.to_owned()));
        text = rest.trim_start();
    }
    found
}

/// Every tag is closed where it has to be, and in order.
fn assert_balanced(tags: &[(String, Vec<(String, String)>)]) {
    let mut open: Vec<&str> = Vec::new();
    for (name, _) in tags {
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "closed; open are {open:?}"),
            None if ["meta", "br", "hr"].contains(&name.as_str()) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

const ATTACKS: &str = r#"
<script>alert(1)</script>
<img src=x onerror=alert(2)> and <b onclick="x()">b</b> </style></main>

<style>* { display: none }</style>

[click](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) [t](java&#x09;script:x)
[file](file:///etc/passwd) [rel](src/main.rs) <javascript:alert(6)> [v](vbscript:x) [JS](JaVaScRiPt:x)

![chart](https://evil.example/pixel.png) [![badge](https://img.example/b.svg)](https://ok.example/a?b=1&c=2)

[q](https://example.org/"onmouseover="alert(7)) [s](<https://example.org/ x>) <ann@example.org>

[r]: javascript:alert(8)
[r] | `<i>` <!-- comment

```"><script>alert(9)</script>
</code></pre><script>alert(10)</script>
```

| a | b |
|:--|--:|
| <u>x</u> | [y](javascript:z) |
"#;

#[test]
fn a_page_loads_nothing_runs_nothing_and_every_tag_is_its_own() {
    let bed = Bed::new("<script>alert(0)</script></div> & \"q\"", ATTACKS);
    let page = bed.page();
    let tags = tags(&page);
    assert_balanced(&tags);
    let known: BTreeSet<&str> = [
        "html",
        "head",
        "meta",
        "title",
        "body",
        "main",
        "section",
        "header",
        "article",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "dl",
        "dt",
        "dd",
        "p",
        "div",
        "span",
        "a",
        "ul",
        "ol",
        "li",
        "pre",
        "code",
        "figure",
        "figcaption",
        "blockquote",
        "table",
        "thead",
        "tr",
        "th",
        "td",
        "em",
        "strong",
        "del",
        "br",
        "hr",
    ]
    .into();
    let mut links = Vec::new();
    for (name, attributes) in &tags {
        assert!(known.contains(name.trim_start_matches('/')), "<{name}>");
        for (attribute, value) in attributes {
            match (name.as_str(), attribute.as_str()) {
                ("a", "href") => links.push(value.as_str()),
                ("a", "rel") => assert!(value.contains("noopener")),
                ("meta", "charset" | "http-equiv" | "name" | "content") | ("html", "lang") => {}
                (_, "class" | "dir" | "id" | "tabindex") => {}
                (_, _) => panic!("{attribute}={value} on <{name}>"),
            }
        }
    }
    links.sort_unstable();
    let allowed = [
        "https://example.org/&quot;onmouseover=&quot;alert(7)",
        "https://ok.example/a?b=1&amp;c=2",
        "mailto:ann@example.org",
    ];
    assert_eq!(links, allowed, "{page}");
    // What was taken away is still told.
    for shown in [
        "click <span class=\"address\">(javascript:alert(3))</span>",
        "image: chart <span class=\"address\">(https://evil.example/pixel.png)</span>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;alert(10)&lt;/script&gt;",
        "&lt;script&gt;alert(0)&lt;/script&gt;&lt;/div&gt; &amp; &quot;q&quot;",
    ] {
        assert!(page.contains(shown), "{shown}\n{page}");
    }
}

#[test]
fn the_policy_allows_the_style_that_is_there_and_nothing_else() {
    use base64::Engine as _;
    use sha2::Digest;
    let page = Bed::new("hi", "there").page();
    let (_, rest) = page.split_once("<style>").expect("style");
    let (style, _) = rest.split_once("</style>").expect("end");
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(style));
    let policy = format!(
        "content=\"default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\""
    );
    assert!(page.contains(&policy), "{page}");
    for outside in ["@import", "url(", "http:", "https:", "@font-face"] {
        assert!(!style.contains(outside), "{outside}");
    }
    assert!(style.contains("prefers-color-scheme: dark"));
}

#[test]
fn secrets_are_masked_in_every_place_and_named_on_stderr() {
    let (token, escaped) = (token(), token().replace('_', "\\_"));
    let key = ["-----BEGIN RSA", "PRIVATE KEY-----\nMIIEowIBAAK\n-----END RSA", "PRIVATE KEY-----"]
        .join(" ");
    let prompt = format!("{}{token} first\nDB_PASSWORD={PASSWORD}\n", " ".repeat(60));
    let reply = format!(
        "as typed {token}, escaped {escaped}\n\n```env\nPASSWORD={PASSWORD}\n```\n\n{key}\n\n\
         [link](https://ann:Wy7kk2x@host.example/) ![i](https://x.example/?token={PASSWORD}1)\n"
    );
    let bed = Bed::new(&prompt, &reply);
    let told = bed.share(&["--yes", "-o", "-"]).expect_success();
    for (what, text) in [("page", &told.stdout), ("stderr", &told.stderr)] {
        for secret in [token.as_str(), &token[10..30], PASSWORD, "MIIEowIBAAK", "Wy7kk2x"] {
            assert!(!text.contains(secret), "{secret} in the {what}:\n{text}");
        }
    }
    for line in [
        "message 1, line 1: looks like GitHub token, masked",
        "message 1, line 2: looks like password or secret, masked",
        "message 2, line 1: looks like GitHub token, masked",
        "message 2, line 4: looks like password or secret, masked",
        "message 2, line 7: looks like private key, masked",
        "looks like password in an address, masked",
    ] {
        assert!(told.stderr.contains(line), "{line}\n{}", told.stderr);
    }
    assert!(told.stdout.contains("texts that look like secrets are masked."), "{}", told.stdout);
    assert!(told.stdout.contains("«GitHub token masked» first"), "{}", told.stdout);

    let kept = bed.share(&["--yes", "-o", "-", "--keep-secrets"]).expect_success();
    assert!(kept.stdout.contains(&token) && kept.stderr.contains("GitHub token, NOT masked"));
    assert!(!kept.stderr.contains(&token), "{}", kept.stderr);
}

#[test]
fn the_home_folder_is_a_tilde() {
    let bed = Bed::new("x", "y");
    let home = bed.fake.home.home();
    let place = home.join("work");
    std::fs::create_dir(&place).expect("folder");
    let mut run_there = bed.fake.home.omni();
    run_there.args(["-q", "echo", "-p", &format!("look at {}/x", home.display())]);
    run(run_there.current_dir(&place), "").expect_success();
    let list = run(&mut bed.fake.command(&["sessions", "ls", "--json"]), "").expect_success();
    let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
    let id = list[0]["id"].as_str().expect("id");
    let shared =
        run(&mut bed.fake.command(&["share", id, "--yes", "-o", "-"]), "").expect_success();
    assert!(!shared.stdout.contains(home.to_str().expect("UTF-8")), "{}", shared.stdout);
    assert!(shared.stdout.contains("<dd dir=\"auto\">~/work</dd>"), "{}", shared.stdout);
    assert!(shared.stdout.contains("look at ~/x"), "{}", shared.stdout);
    assert!(shared.stderr.contains("the home folder is written as `~`"), "{}", shared.stderr);
}

#[test]
fn nothing_is_written_without_consent_or_over_a_file() {
    let bed = Bed::new("hi", "there");
    let refused = bed.share(&[]);
    assert_eq!(refused.code(), 77);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    let entries = || std::fs::read_dir(bed.shares()).expect("shares").count();
    assert_eq!(entries(), 0, "no draft is left");

    let written = bed.share(&["--yes"]).expect_success();
    let file = bed.shares().join(format!("omni-run-{}.html", bed.id));
    assert_eq!(written.stdout, format!("{}\n", file.display()));
    let mode = |path: &PathBuf| std::fs::metadata(path).expect("meta").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&bed.shares())), (0o600, 0o700));
    let before = std::fs::read(&file).expect("page");
    write(&file, "kept");
    assert_eq!(bed.share(&["--yes"]).code(), 73);
    assert_eq!(std::fs::read_to_string(&file).expect("file"), "kept");
    bed.share(&["--yes", "--force"]).expect_success();
    assert_eq!(std::fs::read(&file).expect("page"), before, "the same bytes");
    assert_eq!(entries(), 1);

    let list = |args: &[&str]| run(&mut bed.fake.command(args), "").code();
    assert_eq!(list(&["share", "ffff", "--yes"]), 66);
    assert_eq!(list(&["share"]), 2);
    // Nothing below the project.
    assert!(!bed.fake.project.join("omni-run.html").exists());
    assert_eq!(std::fs::read_dir(&bed.fake.project).expect("project").count(), 1);
}

#[test]
fn in_a_terminal_the_person_is_told_and_asked() {
    let bed = Bed::new(&format!("PASSWORD={PASSWORD}"), "there");
    let start = || {
        Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(["share", &bed.id])
            .only_env(bed.fake.home.env())
            .cwd(&bed.fake.project)
            .size(30, 200)
            .start()
    };
    for answer in ["\r", "n\r", "maybe\r"] {
        let mut term = start();
        term.wait_for("Write this page? [y/N]");
        let screen = term.screen();
        assert!(screen.contains("2 messages"), "{screen}");
        assert!(screen.contains("message 1, line 1: looks like password"), "{screen}");
        term.send(answer);
        assert_eq!(term.wait_for_end().code, Some(77));
        assert_eq!(std::fs::read_dir(bed.shares()).expect("shares").count(), 0);
    }
    let mut term = start();
    term.wait_for("Write this page? [y/N]");
    term.send("y\r");
    assert_eq!(term.wait_for_end().code, Some(0));
    assert!(bed.shares().join(format!("omni-run-{}.html", bed.id)).exists());
}

#[test]
fn a_megabyte_and_deep_nesting_make_a_page() {
    let deep = format!("{}x\n\n{}", ">".repeat(5_000), "- ".repeat(3_000));
    let paragraphs = "A paragraph with `code` and *words*, 世界.\n\n".repeat(24_000);
    let bed = Bed::new("long", &format!("{deep}\n\n{paragraphs}"));
    let page = bed.page();
    assert!(page.len() > 1 << 20);
    assert_balanced(&tags(&page));
}
