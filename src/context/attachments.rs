//! Which attachments go as bytes and which by path only (S40–S42), from their facts and the rules of
//! the engine. One bad file must not kill a session, so in doubt a file goes by path. Nothing is read
//! here, and no file makes a launch fail.

use super::defuse;
use super::delivery::AttachmentRules;
use super::figures;
use super::first_message::{Attachment, DocState};
use super::magic::{is_image, is_office};
use super::names::shown_path;
use super::snapshot::{DocEntry, DocKind, Facts};

/// The first line of the header.
pub(crate) const HEADER: &str = "Please examine the following file(s):";

/// The attachments in their order, the header, and the state of each entry that was looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attached {
    /// Every attachment with its way.
    pub(crate) attachments: Vec<Attachment>,
    /// The docs folder's, by position in the snapshot.
    pub(crate) docs: Vec<(usize, DocState)>,
    /// The user's own, by position in the snapshot.
    pub(crate) own: Vec<(usize, DocState)>,
    /// Lists what goes by path.
    pub(crate) header: Option<String>,
    /// One line each.
    pub(crate) warnings: Vec<String>,
}

/// Decides for each attachable of the docs folder (none if `with_docs` is off), then for the user's
/// own files.
pub(crate) fn build(
    docs: &[DocEntry],
    own: &[DocEntry],
    with_docs: bool,
    rules: &AttachmentRules,
    defuse_images: bool,
) -> Attached {
    let mut attached = Attached::default();
    let mut load = Load::default();
    for (index, doc) in docs.iter().enumerate() {
        if let DocKind::Attachable(facts) = &doc.kind {
            let state = if with_docs {
                attached.add(doc, facts, rules, &mut load)
            } else {
                DocState::Ignored("attachments are switched off".into())
            };
            attached.docs.push((index, state));
        }
    }
    for (index, file) in own.iter().enumerate() {
        let text = Facts { kind: "text".into(), mime: "text/plain".into(), ..Facts::default() };
        let state = match &file.kind {
            DocKind::Attachable(facts) => attached.add(file, facts, rules, &mut load),
            DocKind::Text(_) | DocKind::TextUnread => attached.add(file, &text, rules, &mut load),
            DocKind::Ignored(why) => DocState::Ignored(why.clone()),
        };
        attached.own.push((index, state));
    }
    attached.header = header(&attached.attachments, defuse_images);
    attached
}

/// What goes as bytes so far.
#[derive(Default)]
struct Load {
    bytes: u64,
    count: usize,
}

impl Attached {
    fn add(
        &mut self,
        entry: &DocEntry,
        facts: &Facts,
        rules: &AttachmentRules,
        load: &mut Load,
    ) -> DocState {
        let refusal = refusal(entry.size, facts, rules, load);
        if refusal.is_none() {
            load.bytes += entry.size;
            load.count += 1;
        }
        if let Some(Refusal { why, bad: true }) = &refusal {
            self.warnings.push(format!("{}: attached by path only: {why}", entry.shown));
        }
        let by_path = refusal.map(|refusal| refusal.why);
        self.attachments.push(Attachment {
            path: entry.path.clone(),
            shown: entry.shown.clone(),
            kind: facts.kind.clone(),
            mime: facts.mime.clone(),
            size: entry.size,
            by_path: by_path.clone(),
        });
        by_path.map_or(DocState::Attached, DocState::ByPath)
    }
}

/// Why a file does not go as bytes.
struct Refusal {
    why: String,
    /// The file is at fault, not what the engine can take: the person is warned.
    bad: bool,
}

fn refusal(size: u64, facts: &Facts, rules: &AttachmentRules, load: &Load) -> Option<Refusal> {
    let plain = |why: String| Some(Refusal { why, bad: false });
    let bad = |why: String| Some(Refusal { why, bad: true });
    if let Some(why) = &facts.suspect {
        return bad(why.clone());
    }
    let kind = facts.kind.as_str();
    let taken = match kind {
        kind if is_image(kind) => rules.images.iter().any(|image| image == kind),
        "pdf" => rules.pdf,
        kind if is_office(kind) => rules.office,
        _ => return plain("goes by path, whatever the engine".into()),
    };
    if !taken {
        return plain(format!("this engine takes no {kind} as bytes"));
    }
    let size_cap = match kind {
        "pdf" => rules.max_pdf_bytes,
        kind if is_image(kind) => rules.max_image_bytes,
        _ => rules.max_total_bytes,
    };
    if size > size_cap {
        return bad(format!(
            "{} is over the {} it may be",
            figures::bytes(size),
            figures::bytes(size_cap)
        ));
    }
    if let Some((width, height)) = facts.pixels {
        let side = rules.max_image_side;
        if width > side || height > side {
            return bad(format!("{width}×{height} pixels, a side may have {side}"));
        }
    }
    if let Some(pages) = facts.pages.filter(|pages| *pages > rules.max_pdf_pages) {
        return bad(format!("{pages} pages, a PDF may have {}", rules.max_pdf_pages));
    }
    if load.count >= rules.max_count {
        return bad(format!("a message takes {} attachments", rules.max_count));
    }
    if load.bytes.saturating_add(size) > rules.max_total_bytes {
        let cap = figures::bytes(rules.max_total_bytes);
        return bad(format!("all attachments together may be {cap}"));
    }
    None
}

fn header(attachments: &[Attachment], defuse_images: bool) -> Option<String> {
    let by_path: Vec<String> = attachments
        .iter()
        .filter(|attachment| attachment.by_path.is_some())
        .map(|attachment| {
            let path = shown_path(&attachment.path);
            if defuse_images { defuse::bracketed(&path).into_owned() } else { path }
        })
        .collect();
    (!by_path.is_empty()).then(|| format!("{HEADER}\n{}", by_path.join("\n")))
}
