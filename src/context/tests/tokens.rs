//! Field case I01: the estimate against the real tokenizer (S14).

use base64::Engine as _;

use super::super::tokens::{MARGIN_PERCENT, TextKind, about, about_bytes, count_exact};

/// Numbers without a pattern, the same on every run.
fn noise(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(|_| next()).collect()
}

const ENGLISH: &str = "The engine reads the whole of the project folder before the first message is \
    sent, so that nothing which the person wrote down earlier has to be explained again. A doc that \
    does not fit into the budget is named instead; the agent can still open it later, whenever the \
    conversation turns to it.\n\n";
const CHINESE: &str = "项目文件夹中的文档会在第一条消息之前自动加入上下文,因此无需重复解释。超出预算的文件只会\
    列出名称和路径,代理之后仍然可以读取它们。系统不会截断任何文件,也不会修改用户输入的内容。\n";
const KOREAN: &str = "프로젝트 폴더에 있는 문서는 첫 번째 메시지보다 먼저 자동으로 포함됩니다. 예산을 넘는 파일은 \
    이름과 경로만 표시되며, 에이전트는 나중에 그 파일을 읽을 수 있습니다.\n";
const JAPANESE: &str =
    "プロジェクトのフォルダーにある文書は、最初のメッセージの前に自動的に追加されます。\n";
const RUSSIAN: &str =
    "Документы из папки проекта автоматически добавляются перед первым сообщением.\n";
const ARABIC: &str = "تتم إضافة مستندات مجلد المشروع تلقائيا قبل الرسالة الأولى من المستخدم.\n";
const CODE: &str = "pub fn decode(bytes: Vec<u8>) -> Result<Decoded, Error> {\n    let (encoding, mark) = \
    Encoding::of(&bytes);\n    match encoding {\n        Encoding::Utf8 => decode_utf8(bytes, mark),\n    }\n}\n";

fn samples() -> Vec<(&'static str, TextKind, String)> {
    let bytes: Vec<u8> = noise(6_000).iter().flat_map(|n| n.to_le_bytes()).collect();
    let hex: String = bytes[..9_000].iter().map(|byte| format!("{byte:02x}")).collect();
    let digits: String = noise(4_000).iter().map(u32::to_string).collect();
    let emoji = ["😀", "👨‍👩‍👧", "🚀", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👩🏽‍💻", "✅", "🇩🇪"];
    let emoji: String = noise(2_000).iter().map(|n| emoji[*n as usize % emoji.len()]).collect();
    let json: String = noise(1_500)
        .iter()
        .map(|n| {
            format!(
                "{{\"id\":{n},\"name\":\"n{}\",\"on\":{},\"x\":[{},null]}},",
                n % 97,
                n % 2 == 0,
                n % 7
            )
        })
        .collect();
    let csv: String = noise(1_500)
        .iter()
        .map(|n| format!("{},{}.{},a{}\n", n % 9999, n % 10, n % 77, n % 5))
        .collect();
    vec![
        ("english", TextKind::Prose, ENGLISH.repeat(60)),
        ("chinese", TextKind::Prose, CHINESE.repeat(60)),
        ("korean", TextKind::Prose, KOREAN.repeat(60)),
        ("japanese", TextKind::Prose, JAPANESE.repeat(60)),
        ("russian", TextKind::Prose, RUSSIAN.repeat(60)),
        ("arabic", TextKind::Prose, ARABIC.repeat(60)),
        ("emoji", TextKind::Prose, emoji),
        ("base64", TextKind::Prose, base64::engine::general_purpose::STANDARD.encode(&bytes)),
        ("hex", TextKind::Prose, hex),
        ("digits", TextKind::Prose, digits),
        ("minified json", TextKind::Data, json.clone()),
        ("json named txt", TextKind::Prose, json),
        ("csv", TextKind::Data, csv),
        ("blanks", TextKind::Prose, " ".repeat(20_000)),
        ("line breaks", TextKind::Prose, "\n".repeat(20_000)),
        ("indented", TextKind::Prose, "\n        \t  ".repeat(2_000)),
        ("code", TextKind::Code, CODE.repeat(60)),
        ("signs", TextKind::Prose, "=== --- *** ||| ::: <> /* */ && ## ~~\n".repeat(300)),
    ]
}

#[test]
fn i01_the_estimate_is_not_under_the_real_count() {
    let mut low = Vec::new();
    for (name, kind, text) in samples() {
        let (about, exact) = (about(kind, &text), count_exact(&text) as u64);
        if about * 100 < exact * (100 - MARGIN_PERCENT) {
            low.push(format!("{name}: about {about}, exact {exact}"));
        }
        // Nor is it useless: prose and code stay near.
        if matches!(name, "english" | "code" | "chinese") {
            assert!(about < exact * 2, "{name}: about {about}, exact {exact}");
        }
    }
    assert!(low.is_empty(), "{low:#?}");
}

#[test]
fn s14_the_rules_of_thumb() {
    assert_eq!(about_bytes(TextKind::Prose, 4_000), 1_000);
    assert_eq!(about_bytes(TextKind::Code, 3_500), 1_000);
    assert_eq!(about_bytes(TextKind::Data, 2_000), 1_000);
    assert_eq!(about(TextKind::Prose, &"word ".repeat(800)), 1_000);
    assert_eq!(about(TextKind::Prose, &"界".repeat(100)), 100);
    for (name, kind) in [
        ("a.md", TextKind::Prose),
        ("README", TextKind::Prose),
        ("a.RS", TextKind::Code),
        ("a.csv", TextKind::Data),
    ] {
        assert_eq!(TextKind::of_name(name), kind);
    }
}
