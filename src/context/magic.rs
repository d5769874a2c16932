//! What an attachable really is (S41): magic bytes, the pixels of an image, the pages of a PDF. One
//! file with the wrong content under its name is refused by an API on every later turn, so it is
//! found here and goes by path. Reads headers only; nothing is unpacked or rendered.

use super::snapshot::Facts;

/// How much of the head of an attachable is looked at: enough for the metadata that cameras put in
/// front of a JPEG's dimensions.
pub(crate) const HEAD_BYTES: u64 = 512 * 1024;
/// How much of its end is looked at: trailers, and a PDF's `/Encrypt`.
pub(crate) const TAIL_BYTES: u64 = 64 * 1024;
/// How much of a PDF is searched for pages, from its head.
pub(crate) const PDF_HEAD_BYTES: u64 = 8 * 1024 * 1024;

/// The parts of a file that were read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// Size of the file, in bytes.
    pub(crate) size: u64,
    /// Its head.
    pub(crate) head: &'a [u8],
    /// Its end; overlaps the head in a small file.
    pub(crate) tail: &'a [u8],
}

/// How much of the head of a file of this kind should be read, in bytes.
pub(crate) fn head_bytes(kind: &str) -> u64 {
    if kind == "pdf" { PDF_HEAD_BYTES } else { HEAD_BYTES }
}

/// The media type of a kind.
pub(crate) fn mime(kind: &str) -> &'static str {
    match kind {
        "png" => "image/png",
        "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => "application/octet-stream",
    }
}

/// Is `kind` one of the image kinds?
pub(crate) fn is_image(kind: &str) -> bool {
    matches!(kind, "png" | "jpeg" | "gif" | "webp")
}

/// Is `kind` one of the Office kinds?
pub(crate) fn is_office(kind: &str) -> bool {
    matches!(kind, "docx" | "xlsx" | "pptx")
}

/// Looks at a file that its name says is of `kind`.
pub(crate) fn facts(kind: &str, sample: Sample<'_>) -> Facts {
    let mut facts =
        Facts { kind: kind.to_owned(), mime: mime(kind).to_owned(), ..Facts::default() };
    if sample.size == 0 {
        facts.suspect = Some("empty".to_owned());
        return facts;
    }
    let found = content(sample.head);
    let fits = found == kind || (is_office(kind) && found == "zip");
    if !fits {
        facts.suspect = Some(mismatch(kind, found));
        return facts;
    }
    if is_image(kind) {
        facts.pixels =
            pixels(kind, sample.head).filter(|(width, height)| *width > 0 && *height > 0);
        facts.suspect = match facts.pixels {
            None => Some(format!("no dimensions in its {kind} header")),
            Some(_) if is_cut_short(kind, sample) => Some("cut short".to_owned()),
            Some(_) => None,
        };
    } else if kind == "pdf" {
        facts.pages = pdf_pages(sample.head);
        if is_encrypted(sample) {
            facts.suspect = Some("encrypted".to_owned());
        }
    } else if sample.size < ZIP_END_BYTES {
        facts.suspect = Some("cut short".to_owned());
    }
    facts
}

/// The smallest possible zip is its end record alone.
const ZIP_END_BYTES: u64 = 22;

/// What the magic bytes say.
fn content(head: &[u8]) -> &'static str {
    match head {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => "png",
        [0xff, 0xd8, 0xff, ..] => "jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
        [b'P', b'K', 3, 4, ..] => "zip",
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => "ole",
        [b'B', b'M', ..] => "bmp",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "heif",
        // Readers accept a PDF head anywhere in the first kilobyte.
        _ if find(&head[..head.len().min(1024)], b"%PDF-").is_some() => "pdf",
        _ if !head.contains(&0) && std::str::from_utf8(&head[..head.len().min(64)]).is_ok() => {
            "text"
        }
        _ => "unknown",
    }
}

fn mismatch(kind: &str, found: &str) -> String {
    match found {
        "ole" => format!("named {kind} but holds an old Office or an encrypted file"),
        "unknown" => format!("named {kind} but its content is something else"),
        other => format!("named {kind} but holds {other}"),
    }
}

/// Width and height from the header.
fn pixels(kind: &str, head: &[u8]) -> Option<(u32, u32)> {
    match kind {
        "png" => (head.get(12..16)? == b"IHDR").then_some((be32(head, 16)?, be32(head, 20)?)),
        "gif" => Some((le16(head, 6)?, le16(head, 8)?)),
        "jpeg" => jpeg_pixels(head),
        "webp" => webp_pixels(head),
        _ => None,
    }
}

/// Walks the segments to the frame header.
fn jpeg_pixels(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Fill bytes may stand in front of a marker.
        while *head.get(at)? == 0xff && *head.get(at + 1)? == 0xff {
            at += 1;
        }
        if head[at] != 0xff {
            return None;
        }
        match *head.get(at + 1)? {
            // Start of frame, all but the tables that share the range.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((be16(head, at + 7)?, be16(head, at + 5)?));
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            0xd9 | 0xda => return None,
            _ => at += 2 + (be16(head, at + 2)? as usize).max(2),
        }
    }
}

fn webp_pixels(head: &[u8]) -> Option<(u32, u32)> {
    match head.get(12..16)? {
        b"VP8 " => Some((le16(head, 26)? & 0x3fff, le16(head, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = le16(head, 21)? | (le16(head, 23)? << 16);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at| Some((le16(head, at)? | (u32::from(*head.get(at + 2)?) << 16)) + 1);
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}

/// Is the end of the image missing?
fn is_cut_short(kind: &str, sample: Sample<'_>) -> bool {
    match kind {
        "png" => find(sample.tail, b"IEND").is_none(),
        // Phones append data of their own after the end marker, so it may stand anywhere near.
        "jpeg" => find(sample.tail, &[0xff, 0xd9]).is_none(),
        "gif" => !sample.tail.contains(&0x3b),
        "webp" => le16(sample.head, 4)
            .zip(le16(sample.head, 6))
            .is_none_or(|(low, high)| u64::from(low | (high << 16)) + 8 > sample.size),
        _ => false,
    }
}

/// Pages, as far as they can be counted without unpacking: the page objects, or the largest
/// `/Count` beside a `/Type /Pages`. `None` where they lie in compressed streams.
fn pdf_pages(head: &[u8]) -> Option<u32> {
    /// How far from `/Type /Pages` its `/Count` may stand; long `/Kids` lists lie between them.
    const NEAR: usize = 4096;
    let (mut leaves, mut declared) = (0u32, 0u32);
    let mut last_node: Option<usize> = None;
    let mut last_count: Option<(usize, u32)> = None;
    let mut at = 0;
    while let Some(slash) = head[at..].iter().position(|byte| *byte == b'/') {
        at += slash + 1;
        let rest = &head[at..];
        if let Some(name) = rest.strip_prefix(b"Type").map(<[u8]>::trim_ascii_start) {
            if name.starts_with(b"/Pages") {
                last_node = Some(at);
                // `/Count` may stand in front of `/Type`.
                if let Some((_, count)) = last_count.filter(|(where_, _)| at - where_ < NEAR) {
                    declared = declared.max(count);
                }
            } else if name.starts_with(b"/Page")
                && !name.get(5).is_some_and(u8::is_ascii_alphanumeric)
            {
                leaves += 1;
            }
        } else if let Some(number) = rest.strip_prefix(b"Count").map(<[u8]>::trim_ascii_start) {
            let digits = number.iter().take(7).take_while(|byte| byte.is_ascii_digit());
            let count = digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            last_count = Some((at, count));
            if last_node.is_some_and(|node| at - node < NEAR) {
                declared = declared.max(count);
            }
        } else if rest.starts_with(b"Outlines") {
            // A table of contents has counts of its own.
            (last_node, last_count) = (None, None);
        }
    }
    Some(leaves.max(declared)).filter(|pages| *pages > 0)
}

/// `/Encrypt` stands in the trailer: at the end, or at the head of a linearised file.
fn is_encrypted(sample: Sample<'_>) -> bool {
    [sample.head, sample.tail].iter().any(|part| {
        let mut at = 0;
        while let Some(found) = find(&part[at..], b"/Encrypt") {
            at += found + b"/Encrypt".len();
            // Not `/EncryptMetadata`; the value is a reference or a dictionary.
            if !part.get(at).is_some_and(u8::is_ascii_alphabetic) {
                return true;
            }
        }
        false
    })
}

/// The first place of `needle`: skips from one candidate first byte to the next.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = haystack[at..].iter().position(|byte| *byte == needle[0]) {
        at += found;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
