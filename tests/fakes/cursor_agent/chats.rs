//! Chat ids, and the (empty) files that a chat leaves in the home. Never anything in the workspace.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A random UUID, version 4.
pub(crate) fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .expect("random bytes");
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// With `FAKE_CURSOR_CHATS=1`: `$HOME/.cursor/chats/<md5 of the workspace>/<id>/`.
pub(crate) fn leave(workspace: &Path, id: &str) {
    if !crate::is_set_to("FAKE_CURSOR_CHATS", "1") {
        return;
    }
    let home = PathBuf::from(std::env::var_os("HOME").expect("HOME"));
    let workspace = hex(&md5(workspace.as_os_str().as_encoded_bytes()));
    let chat = home.join(".cursor/chats").join(workspace).join(id);
    std::fs::create_dir_all(&chat).expect("chat folder");
    std::fs::write(chat.join("store.db"), []).expect("store.db");
    std::fs::write(chat.join("meta.json"), "{}").expect("meta.json");
}

/// The messages of earlier runs, the oldest first.
pub(crate) fn history() -> Vec<String> {
    let text = std::fs::read_to_string(history_file()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON string")).collect()
}

/// Adds a message to them.
pub(crate) fn remember(message: &str) {
    let path = history_file();
    std::fs::create_dir_all(path.parent().expect("folder")).expect("history folder");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let line = serde_json::Value::from(message);
    writeln!(file.expect("history"), "{line}").expect("history");
}

fn history_file() -> PathBuf {
    PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cursor/stand-in-history.jsonl")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 1321, to name the folder as the real one does; not worth a crate.
fn md5(message: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let word =
            |i: usize| u32::from_le_bytes(block[i * 4..][..4].try_into().expect("four bytes"));
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64_usize {
            let (mix, at) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, 5 * i + 1),
                2 => (b ^ c ^ d, 3 * i + 5),
                _ => (c ^ (b | !d), 7 * i),
            };
            let constant = ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a
                .wrapping_add(mix)
                .wrapping_add(constant)
                .wrapping_add(word(at % 16))
                .rotate_left(SHIFTS[i / 16][i % 4]);
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut digest = [0; 16];
    for (place, part) in digest.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&part.to_le_bytes());
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_is_that_of_the_rfc() {
        assert_eq!(hex(&md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&md5(b"message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
    }
}
