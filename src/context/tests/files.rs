//! Field cases I04 and I05: attachments that would kill a session (S40–S43).

use super::*;

fn png(width: u32, height: u32, size: usize) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 6, 0, 0, 0]);
    file.resize(file.len().max(size.saturating_sub(12)), 0x55);
    file.extend(b"\0\0\0\0IEND\xaeB`\x82");
    file
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    // A camera's metadata stands in front of the frame header.
    let mut file = b"\xff\xd8\xff\xe1\x40\x00".to_vec();
    file.resize(2 + 2 + 0x4000, 0);
    file.extend(b"\xff\xc0\x00\x11\x08");
    file.extend(height.to_be_bytes());
    file.extend(width.to_be_bytes());
    file.extend(b"\x03\xff\xd9");
    file
}

fn gif() -> Vec<u8> {
    b"GIF89a\x05\x00\x06\x00\x00\x00\x00\x3b".to_vec()
}

fn webp() -> Vec<u8> {
    let mut file = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    file.extend([99, 0, 0, 49, 0, 0]);
    file
}

fn pdf(pages: usize, trailer: &str) -> Vec<u8> {
    let kids = "3 0 R ".repeat(pages);
    let leaves = "3 0 obj <</Type /Page /Parent 2 0 R>> endobj\n".repeat(pages);
    format!(
        "%PDF-1.7\n2 0 obj <</Type /Pages /Kids [{kids}] /Count {pages}>> endobj\n{leaves}\
         9 0 obj <</Type /Outlines /Count 5000>> endobj\ntrailer <<{trailer}>>\n%%EOF\n"
    )
    .into_bytes()
}

fn zip() -> Vec<u8> {
    let mut file = b"PK\x03\x04".to_vec();
    file.resize(200, 7);
    file
}

/// Why each file goes by path; `None`: as bytes.
fn ways(project: &Project, delivery: &Delivery) -> Vec<(String, Option<String>)> {
    let auto = project.build_for(delivery);
    let by_path: Vec<String> = auto
        .attachments()
        .iter()
        .filter(|attachment| attachment.by_path.is_some())
        .map(|attachment| attachment.path.display().to_string())
        .collect();
    let header = (!by_path.is_empty())
        .then(|| format!("Please examine the following file(s):\n{}", by_path.join("\n")));
    assert_eq!(auto.header(), header.as_deref());
    auto.attachments().iter().map(|a| (a.shown.clone(), a.by_path.clone())).collect()
}

#[test]
fn i04_bad_images() {
    let big = png(10, 10, 5_800_000);
    let cut = &png(10, 10, 5_000)[..4_000];
    let (tall, wide, good, photo) =
        (png(1, 8001, 0), png(30_000, 30_000, 0), png(10, 20, 0), jpeg(640, 480));
    let (anim, web) = (gif(), webp());
    let cases: [(&str, &[u8], Option<&str>); 13] = [
        ("a-good.png", &good, None),
        ("b-photo.JPG", &photo, None),
        ("c.gif", &anim, None),
        ("d.webp", &web, None),
        ("e-jpeg.png", &photo, Some("named png but holds jpeg")),
        ("f-png.jpg", &good, Some("named jpeg but holds png")),
        ("g-svg.png", b"<svg xmlns=''/>", Some("named png but holds text")),
        ("h-html.png", b"<!doctype html>", Some("named png but holds text")),
        ("i-empty.png", b"", Some("empty")),
        ("j-cut.png", cut, Some("cut short")),
        ("k-tall.png", &tall, Some("1×8001 pixels, a side may have 8000")),
        ("l-wide.png", &wide, Some("30000×30000 pixels, a side may have 8000")),
        ("m-big.png", &big, Some("5.8 MB is over the 3.8 MB it may be")),
    ];
    let project = Project::new();
    for (name, content, _) in cases {
        project.write(name.as_bytes(), content);
    }
    project.write(b"n.heic", b"\0\0\0\x18ftypheic");
    project.write(b"o.bmp", b"BM");
    project.write(b"rag/never.png", &good);
    let expected: Vec<(String, Option<String>)> =
        cases.iter().map(|(name, _, why)| ((*name).into(), why.map(str::to_owned))).collect();
    assert_eq!(ways(&project, &delivery(200_000)), expected);
    let auto = project.build();
    for (name, _, why) in cases.iter().filter(|case| case.2.is_some()) {
        assert!(warned(&auto, &[name, why.unwrap()]));
    }
    assert!(matches!(state(&auto, "n.heic"), DocState::Ignored(_)));
}

#[test]
fn i04_many_images_have_a_cap_together() {
    let project = Project::new();
    for index in 0..25 {
        project.write(format!("{index:02}.png").as_bytes(), &png(10, 10, 1_000));
    }
    let ways_by_count = ways(&project, &delivery(200_000));
    assert_eq!(ways_by_count.iter().filter(|(_, why)| why.is_none()).count(), 20);
    let mut tight = delivery(200_000);
    tight.attachments.max_total_bytes = 3_500;
    let by_bytes = ways(&project, &tight);
    assert_eq!(by_bytes.iter().filter(|(_, why)| why.is_none()).count(), 3);
    assert!(by_bytes[3].1.as_ref().unwrap().contains("together may be 3.5 KB"));
}

#[test]
fn i05_bad_pdf_and_office() {
    let (good, long, locked, office) = (pdf(3, ""), pdf(101, ""), pdf(3, "/Encrypt 5 0 R"), zip());
    let metadata = pdf(100, "/EncryptMetadata false");
    let ole = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat();
    let cases: [(&str, &[u8], Option<&str>); 11] = [
        ("a-good.pdf", &good, None),
        ("b-100.pdf", &metadata, None),
        ("c-101.pdf", &long, Some("101 pages, a PDF may have 100")),
        ("d-locked.pdf", &locked, Some("encrypted")),
        ("e-text.pdf", b"just text", Some("named pdf but holds text")),
        ("f-zero.pdf", b"", Some("empty")),
        ("g-good.docx", &office, None),
        ("h-text.docx", b"just text", Some("named docx but holds text")),
        ("i-zero.docx", b"", Some("empty")),
        ("j-html.xlsx", b"<html>", Some("named xlsx but holds text")),
        ("k-ole.pptx", &ole, Some("named pptx but holds an old Office or an encrypted file")),
    ];
    let project = Project::new();
    for (name, content, _) in cases {
        project.write(name.as_bytes(), content);
    }
    project.write(b"~$x.docx", b"owner");
    let expected: Vec<(String, Option<String>)> =
        cases.iter().map(|(name, _, why)| ((*name).into(), why.map(str::to_owned))).collect();
    assert_eq!(ways(&project, &delivery(200_000)), expected);

    let mut images_only = delivery(200_000);
    (images_only.attachments.pdf, images_only.attachments.office) = (false, false);
    let ways = ways(&project, &images_only);
    assert!(ways.iter().all(|(_, why)| why.is_some()));
    assert_eq!(ways[0].1.as_deref(), Some("this engine takes no pdf as bytes"));
    // What the engine cannot take is no fault of the file.
    assert!(!warned(&project.build_for(&images_only), &["a-good.pdf"]));
}

#[test]
fn s42_the_users_own_files_whatever_their_type() {
    let mut project = Project::with(&[("doc.png", &png(1, 1, 0))]);
    let own = project.folder.path().join("own");
    fs::create_dir(&own).unwrap();
    for (name, content) in
        [("pic.png", png(2, 2, 0)), ("notes.md", b"text".to_vec()), ("tool.bin", vec![0; 9])]
    {
        fs::write(own.join(name), content).unwrap();
        project.request.attach.push(own.join(name));
    }
    project.request.switches.attachments = false;
    let auto = project.build();
    let kinds: Vec<_> =
        auto.attachments().iter().map(|a| (a.kind.as_str(), a.by_path.is_none())).collect();
    assert_eq!(kinds, [("png", true), ("text", false), ("file", false)]);
    assert_eq!(state(&auto, "doc.png"), DocState::Ignored("attachments are switched off".into()));
    assert_eq!(auto.report().chip(0), "docs: 1 attached, 2 by path only");
}
