//! Small valid files of the kinds that travel as attachments: PNG, JPEG, PDF, docx.
//!
//! Made here and not stored, so that each test has bytes of its own to look for on the wire. Just
//! enough of each format for the engines' checks; no library is needed for that.

use base64::Engine as _;

/// A PNG of one colour, in RGB.
pub fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    let pixels = usize::try_from(width).expect("small picture");
    let mut row = vec![0]; // no filter
    row.extend(colour.repeat(pixels));
    let pixels = row.repeat(usize::try_from(height).expect("small picture"));
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // 8 bits, RGB
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    png_chunk(&mut file, *b"IHDR", &header);
    png_chunk(&mut file, *b"IDAT", &zlib_stored(&pixels));
    png_chunk(&mut file, *b"IEND", &[]);
    file
}

/// A JPEG of 16 by 16 pixels with this text in its comment.
pub fn jpeg(comment: &str) -> Vec<u8> {
    let picture = base64::engine::general_purpose::STANDARD.decode(JPEG).expect("base64");
    let (start, rest) = picture.split_at(2);
    let mut file = start.to_vec();
    file.extend([0xff, 0xfe]);
    file.extend(u16::try_from(comment.len() + 2).expect("short comment").to_be_bytes());
    file.extend(comment.as_bytes());
    file.extend(rest);
    file
}

/// A PDF of one page that shows this text (ASCII without brackets).
pub fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 20 100 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut table = String::from("0000000000 65535 f \n");
    for (number, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table_at = file.len();
    let size = objects.len() + 1;
    file.push_str(&format!(
        "xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table_at}\n%%EOF\n"
    ));
    file.into_bytes()
}

/// A Word document with one paragraph.
pub fn docx(text: &str) -> Vec<u8> {
    let head = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
    let office = "application/vnd.openxmlformats-officedocument.wordprocessingml";
    let schemas = "http://schemas.openxmlformats.org";
    let types = format!(
        r#"{head}<Types xmlns="{schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="{office}.document.main+xml"/></Types>"#
    );
    let relations = format!(
        r#"{head}<Relationships xmlns="{schemas}/package/2006/relationships"><Relationship Id="rId1" Type="{schemas}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#
    );
    let document = format!(
        r#"{head}<w:document xmlns:w="{schemas}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"#
    );
    zip(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relations.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ])
}

const JPEG: &str = "\
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKra\
    rYqMyP/L2u71////m8H////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4\
    +Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA\
    AAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABP/EABQRAQAAAAAAAAAAAAAAAAAA\
    AAD/2gAMAwEAAhEDEQA/AJgDGP/Z";

fn png_chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend(u32::try_from(data.len()).expect("small chunk").to_be_bytes());
    let checked = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32(&file[checked..]);
    file.extend(sum.to_be_bytes());
}

/// A zlib stream that holds the data uncompressed.
fn zlib_stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        stream.push(u8::from(blocks.peek().is_none()));
        let length = u16::try_from(block.len()).expect("chunk size");
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// A zip archive that holds its files uncompressed.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let size = |n: usize| u32::try_from(n).expect("small archive");
    let short = |n: usize| u16::try_from(n).expect("small archive");
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, data) in files {
        let mut about = Vec::new();
        about.extend([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]); // version 2.0, stored, 1980-01-01
        about.extend(crc32(data).to_le_bytes());
        about.extend(size(data.len()).to_le_bytes());
        about.extend(size(data.len()).to_le_bytes());
        about.extend(short(name.len()).to_le_bytes());
        about.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]); // no comment, first disk, no attributes
        directory.extend(size(archive.len()).to_le_bytes());
        directory.extend(name.as_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&about);
        archive.extend(name.as_bytes());
        archive.extend(*data);
    }
    let directory_at = size(archive.len());
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend(short(files.len()).to_le_bytes());
    archive.extend(short(files.len()).to_le_bytes());
    archive.extend(size(directory.len()).to_le_bytes());
    archive.extend(directory_at.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    })
}
