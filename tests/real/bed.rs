//! The test bed itself: a fake model that recorded the wrong thing, or an assertion that can not
//! fail, would make every other test worthless.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::FakeModel;
use crate::support::fake_model::{REPLY, Wire};
use crate::support::sample_files::{docx, jpeg, pdf, png};

const BLOCK: &str = "## Injected Project Docs\n\n### a.md\n```\n世界\n```";
const DISPLAY: &str = "tell me";
const INSTRUCTIONS: &str = "Always answer in rhyme.";

/// Status line and headers, and the body, of one request.
fn post(model: &FakeModel, path: &str, body: &Value) -> (String, String) {
    let address = model.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).expect("connect");
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("send");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("receive");
    let (head, body) = answer.split_once("\r\n\r\n").expect("HTTP answer");
    (head.to_owned(), body.to_owned())
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The same request in each of the four formats: instructions, block and text, an image, a PDF.
fn requests(image: &[u8], document: &[u8]) -> [(&'static str, Value); 4] {
    let text = format!("{BLOCK}\n\n{DISPLAY}");
    let image_url = format!("data:image/png;base64,{}", base64(image));
    let document_url = format!("data:application/pdf;base64,{}", base64(document));
    let tools = json!([{"name": "read", "type": "function"}]);
    [
        (
            "/v1/messages?beta=true",
            json!({"model": "m", "tools": tools, "stream": true,
            "system": [{"type": "text", "text": INSTRUCTIONS}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "<system-reminder/>"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64(image)}},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": base64(document)}},
                {"type": "text", "text": text},
            ]}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "tools": tools, "stream": true, "instructions": "",
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": INSTRUCTIONS}]},
                {"type": "function_call", "name": "read", "arguments": "{}", "call_id": "1"},
                {"type": "message", "role": "user", "content": [
                    {"type": "input_image", "image_url": image_url},
                    {"type": "input_file", "filename": "a.pdf", "file_data": document_url},
                    {"type": "input_text", "text": text},
                ]},
            ]}),
        ),
        (
            "/v1/chat/completions",
            json!({"model": "m", "tools": tools, "stream": true, "messages": [
                {"role": "system", "content": INSTRUCTIONS},
                {"role": "user", "content": [
                    {"type": "image_url", "image_url": {"url": image_url}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": document_url}},
                    {"type": "text", "text": text},
                ]},
            ]}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"tools": tools, "systemInstruction": {"role": "user", "parts": [{"text": INSTRUCTIONS}]},
            "contents": [{"role": "user", "parts": [
                {"text": "<session_context/>"},
                {"inlineData": {"mimeType": "image/png", "data": base64(image)}},
                {"inlineData": {"mimeType": "application/pdf", "data": base64(document)}},
                {"text": text},
            ]}]}),
        ),
    ]
}

fn fails(check: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(check)).is_err()
}

#[test]
fn the_four_formats_look_the_same() {
    let (image, document) = (png(3, 2, [1, 2, 3]), pdf("a marker"));
    for (path, body) in requests(&image, &document) {
        let model = FakeModel::start();
        let (head, answer) = post(&model, path, &body);
        assert!(head.contains("200") && head.contains("text/event-stream"), "{head}");
        let in_two = answer.contains("\"MOCK-R\"") && answer.contains("\"EPLY-OK\"");
        assert!(in_two, "two deltas: {answer}");
        let wire = model.only_request().wire();
        wire.assert_block_once(BLOCK, DISPLAY);
        wire.assert_instructions_once(INSTRUCTIONS);
        wire.assert_image_bytes(&image);
        wire.assert_document_bytes(&document);
        wire.assert_absent("not there");
    }
}

#[test]
fn the_assertions_can_fail() {
    let (image, document) = (png(3, 2, [1, 2, 3]), pdf("a marker"));
    let model = FakeModel::start();
    let [(path, mut body), ..] = requests(&image, &document);
    body["stream"] = json!(false);
    let again = body["messages"][0].clone();
    body["messages"].as_array_mut().expect("messages").push(again);
    let (_, answer) = post(&model, path, &body);
    let answer: Value = serde_json::from_str(&answer).expect("whole answer");
    assert_eq!(answer["content"][0]["text"], REPLY);

    let twice = model.only_request().wire();
    assert!(fails(|| twice.assert_block_once(BLOCK, DISPLAY)));
    assert!(fails(|| twice.assert_image_bytes(&image)));
    assert!(fails(|| twice.assert_absent(INSTRUCTIONS)));
    assert!(fails(|| Wire::default().assert_instructions_once(INSTRUCTIONS)));
    let apart =
        Wire { user_texts: vec![vec![BLOCK.into()], vec![DISPLAY.into()]], ..Wire::default() };
    assert!(fails(|| apart.assert_block_once(BLOCK, DISPLAY)));
    assert!(fails(|| apart.assert_document_bytes(&document)));
}

#[test]
fn failing_holding_and_side_requests() {
    let model = FakeModel::start();
    let [_, _, (path, body), _] = requests(&[1], &[2]);
    model.fail_with(401);
    assert!(post(&model, path, &body).0.starts_with("HTTP/1.1 401"));
    model.recover();

    let title = json!({"model": "m", "messages": [
        {"role": "system", "content": "You are a title generator."}, {"role": "user", "content": BLOCK},
    ]});
    post(&model, path, &title);
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.main_requests().len(), 1, "a title is no turn");

    model.hold();
    model.reply_with("later");
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| post(&model, path, &body));
        assert_eq!(model.wait_for(2).len(), 2);
        assert!(!answer.is_finished());
        model.release();
        assert!(answer.join().expect("answer").1.contains("ter"));
    });
}

#[test]
fn sample_files_begin_as_their_kind() {
    assert!(png(600, 400, [9, 9, 9]).len() > 3 * 600 * 400);
    assert_ne!(jpeg("one"), jpeg("two"));
    let starts: [(&[u8], Vec<u8>); 4] = [
        (b"\x89PNG", png(1, 1, [0; 3])),
        (b"\xff\xd8\xff", jpeg("a")),
        (b"%PDF-1", pdf("a")),
        (b"PK\x03\x04", docx("a")),
    ];
    for (start, file) in starts {
        assert!(file.starts_with(start));
    }
}
