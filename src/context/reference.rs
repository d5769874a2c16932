//! The catalogue of `rag/` (S20–S23): a line for each file, never its bytes. No index, no retrieval,
//! on purpose (S24). The descriptions are made by `describe` when the folder is read.

use std::path::Path;

use super::names::{shown, shown_path};
use super::snapshot::RagEntry;
use super::{defuse, figures};

/// The heading of the catalogue.
pub(crate) const HEADING: &str = "## Available Reference Docs (RAG — fetch with Read tool)";
/// Entries that are listed; the rest is counted (S21).
pub(crate) const MAX_ENTRIES: usize = 100;
/// Where the files are, from the project folder.
pub(crate) const RELATIVE_DIR: &str = ".claude/docs/rag";

/// Writes the catalogue; `None` without files. `more`: files beyond those in `rag`. `relative`: the
/// engine runs in the project folder (S22).
pub(crate) fn build(
    rag: &[RagEntry],
    more: usize,
    docs_dir: &Path,
    relative: bool,
    defuse_images: bool,
) -> Option<String> {
    let listed = &rag[..rag.len().min(MAX_ENTRIES)];
    let more = more + (rag.len() - listed.len());
    if listed.is_empty() {
        return None;
    }
    let dir = if relative { RELATIVE_DIR.to_owned() } else { shown_path(&docs_dir.join("rag")) };
    let mut text = format!("{HEADING}\n\n");
    for entry in listed {
        let path = format!("{dir}/{}", shown(&entry.name));
        // A relative path does not look like one to the engine that wants this.
        let path = if defuse_images && !relative {
            defuse::bracketed(&path)
        } else {
            path.as_str().into()
        };
        text.push_str(&format!("- {path} ({})", measure(entry)));
        if let Some(description) = entry.description.as_deref().filter(|text| !text.is_empty()) {
            let description =
                if defuse_images { defuse::image_paths(description) } else { description.into() };
            text.push_str(&format!(" — \"{description}\""));
        }
        text.push('\n');
    }
    if more > 0 {
        text.push_str(&format!("- … and {more} more\n"));
    }
    Some(text)
}

/// About how many tokens a text is by the plain rule of the catalogue; the size of a binary.
fn measure(entry: &RagEntry) -> String {
    if entry.text {
        format!("~{} tokens", figures::tokens(entry.size / 4))
    } else {
        figures::bytes(entry.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, size: u64, description: Option<&str>) -> RagEntry {
        RagEntry {
            name: name.into(),
            shown: name.into(),
            size,
            text: description.is_some(),
            description: description.map(str::to_owned),
        }
    }

    #[test]
    fn s20_lines_read_like_the_spec() {
        let rag = [
            entry("archive-2024.pdf", 8_200_000, None),
            entry("empty.md", 1_000, Some("")),
            entry("schema.sql", 12_000, Some("Canonical DB schema")),
        ];
        let text = build(&rag, 4, Path::new("/p/.claude/docs"), true, false).unwrap();
        assert_eq!(
            text,
            "## Available Reference Docs (RAG — fetch with Read tool)\n\n\
             - .claude/docs/rag/archive-2024.pdf (8.2 MB)\n\
             - .claude/docs/rag/empty.md (~250 tokens)\n\
             - .claude/docs/rag/schema.sql (~3K tokens) — \"Canonical DB schema\"\n\
             - … and 4 more\n"
        );
        let elsewhere = build(&rag[..1], 0, Path::new("/p/.claude/docs"), false, false).unwrap();
        assert!(elsewhere.ends_with("\n- /p/.claude/docs/rag/archive-2024.pdf (8.2 MB)\n"));
        assert_eq!(build(&[], 0, Path::new("/p"), true, false), None);
    }

    #[test]
    fn c08_images_keep_their_path_where_the_engine_scans_for_them() {
        let rag = [entry("a.png", 10, None)];
        let dir = Path::new("/p/.claude/docs");
        assert!(
            build(&rag, 0, dir, false, true).unwrap().contains("- </p/.claude/docs/rag/a.png> (")
        );
        assert!(build(&rag, 0, dir, true, true).unwrap().contains("- .claude/docs/rag/a.png ("));
    }
}
