//! Tests over several modules of this room, by case id, and what they share: projects made at run
//! time in a temporary folder, and a reader of the block that knows CommonMark's rule for fences.

mod budget;
mod describing;
mod files;
mod folder;
mod invisible;
mod naming;
mod properties;
mod secret;
mod sniffing;
mod speed;
mod text;
mod tokens;
mod unreadable;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::first_message::DocState;
use super::{
    AttachmentRules, AutoContext, ContextSnapshot, Delivery, InstructionRoute, Reading,
    SnapshotRequest, folder as reader,
};

/// A project in a temporary folder.
struct Project {
    folder: tempfile::TempDir,
    request: SnapshotRequest,
}

impl Project {
    /// With `.claude/docs/rag` in it.
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".claude/docs/rag")).unwrap();
        let request =
            SnapshotRequest { project_root: Some(root.clone()), cwd: root, ..Default::default() };
        Project { folder, request }
    }

    /// With these docs; a name may begin with `rag/`.
    fn with(files: &[(&str, &[u8])]) -> Project {
        let project = Project::new();
        for (name, content) in files {
            project.write(name.as_bytes(), content);
        }
        project
    }

    fn flag(mut self, names: &[&str]) -> Project {
        self.request.instruction_names = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    fn order(mut self, names: &[&str]) -> Project {
        self.request.order = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    fn root(&self) -> &Path {
        self.request.project_root.as_deref().unwrap()
    }

    fn docs(&self) -> PathBuf {
        self.root().join(".claude/docs")
    }

    fn path(&self, name: &[u8]) -> PathBuf {
        self.docs().join(OsStr::from_bytes(name))
    }

    fn write(&self, name: &[u8], content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    fn snapshot(&self) -> ContextSnapshot {
        reader::snapshot(&self.request)
    }

    fn build(&self) -> AutoContext {
        self.build_for(&delivery(200_000))
    }

    /// Built from both ways of reading, which must agree.
    fn build_for(&self, delivery: &Delivery) -> AutoContext {
        let everything = AutoContext::build(&self.snapshot(), delivery);
        let reading = Reading::UpTo(delivery.budget().bytes());
        let launch = reader::snapshot(&SnapshotRequest { reading, ..self.request.clone() });
        let launch = AutoContext::build(&launch, delivery);
        assert_eq!(launch.block(), everything.block());
        assert_eq!(launch.instructions(), everything.instructions());
        assert_eq!(launch.header(), everything.header());
        launch
    }

    fn block(&self) -> String {
        self.build().block().unwrap_or_default().to_owned()
    }
}

/// A delivery that takes everything.
fn delivery(window_tokens: u64) -> Delivery {
    Delivery {
        window_tokens,
        instructions: InstructionRoute::SystemPrompt,
        attachments: AttachmentRules {
            images: ["png", "jpeg", "gif", "webp"].map(str::to_owned).into(),
            pdf: true,
            office: true,
            max_image_bytes: 3_750_000,
            max_image_side: 8000,
            max_pdf_bytes: 24_000_000,
            max_pdf_pages: 100,
            max_total_bytes: 24_000_000,
            max_count: 20,
        },
        defuse_image_paths: false,
    }
}

/// The docs of a block as a CommonMark reader sees them: heading and fenced content. Lines end in
/// LF, CR LF or CR, as CommonMark has it; a fence closes with at least as many backticks, alone on
/// its line, indented by at most three blanks. Also gives all text that is outside every fence.
fn read_block(block: &str) -> (Vec<(String, String)>, String) {
    let (mut docs, mut outside) = (Vec::new(), String::new());
    let mut name = String::new();
    let mut open: Option<(usize, String)> = None;
    for line in lines(block) {
        let bare = line.trim_end_matches(['\n', '\r']);
        let text = bare.trim_start_matches(' ');
        let ticks = text.len() - text.trim_start_matches('`').len();
        let is_fence = ticks >= 3 && bare.len() - text.len() < 4;
        match open.take() {
            Some((length, content)) => {
                if is_fence && ticks >= length && text[ticks..].trim().is_empty() {
                    docs.push((name.clone(), content));
                } else {
                    open = Some((length, content + line));
                }
            }
            None if is_fence => open = Some((ticks, String::new())),
            None => {
                if let Some(heading) = bare.strip_prefix("### ") {
                    name = heading.to_owned();
                }
                outside.push_str(line);
            }
        }
    }
    assert!(open.is_none(), "a fence is left open");
    (docs, outside)
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    let (mut lines, mut from, bytes) = (Vec::new(), 0, text.as_bytes());
    for at in 0..bytes.len() {
        let ends = match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends {
            lines.push(&text[from..=at]);
            from = at + 1;
        }
    }
    lines.push(&text[from..]);
    lines.retain(|line| !line.is_empty());
    lines
}

/// What became of a doc.
fn state(auto: &AutoContext, name: &str) -> DocState {
    let doc = auto.report().docs.iter().find(|doc| doc.name == name);
    doc.unwrap_or_else(|| panic!("{name} is not in the report")).state.clone()
}

fn warned(auto: &AutoContext, words: &[&str]) -> bool {
    auto.report().warnings.iter().any(|line| words.iter().all(|word| line.contains(word)))
}
