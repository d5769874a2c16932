//! Secrets in docs (S72). The tokens here are made up, and put together at run time so that no
//! scanner takes this file for a leak.

use super::super::secrets::{find, scan, scan_sent, spans, spans_for_others};
use super::*;

#[test]
fn s72_known_forms() {
    let body = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1BcD4fGh7jKl0nOp";
    let upper = "Q3RT7YWX2KLM9PZV";
    let token = |prefix: &str, length: usize| format!("{prefix}{}", &body[..length]);
    let cases = [
        (["-----BEGIN RSA", "PRIVATE KEY-----"].join(" "), "private key"),
        (["-----BEGIN", "PRIVATE KEY-----"].join(" "), "private key"),
        (format!("aws AK{}{upper} x", "IA"), "AWS access key"),
        (token("ghp_", 36), "GitHub token"),
        (token("github_pat_", 41), "GitHub token"),
        (format!("url?x={}&y", token("xoxb-", 30)), "Slack token"),
        (token("sk_live_", 24), "Stripe key"),
        (token("sk-ant-api03-", 30), "Anthropic API key"),
        (token("sk-proj-", 30), "OpenAI API key"),
        (format!("key: \"{}\"", token("sk-", 42)), "OpenAI API key"),
        (token("AIza", 35), "Google API key"),
        (format!("eyJ{0}.eyJ{0}.{0}", &body[..20]), "JSON web token"),
        ("password = \"h7Gk2pLq9x\"".into(), "password or secret"),
        ("DB_PASSWORD=h7Gk2pLq9x # prod".into(), "password or secret"),
        ("\"client_secret\": \"h7Gk2pLq9xZ\",".into(), "password or secret"),
        (r#"{\"password\": \"h7Gk2pLq9xZ\"}"#.into(), "password or secret"),
        (format!("curl -H 'Authorization: Bearer {}'", &body[..24]), "access token"),
        (format!("authorization: basic {}==", &body[..22]), "access token"),
        ("postgres://ann:Wy7kk2@db.internal/x".into(), "password in an address"),
    ];
    for (line, kind) in cases {
        let found = find(&format!("first line\n{line}\nlast line"));
        let found: Vec<_> = found.iter().map(|found| (found.line, found.kind)).collect();
        assert_eq!(found, [(2, kind)], "{line}");
    }
}

#[test]
fn s72_few_false_alarms() {
    for line in [
        "The password is stored in the vault.",
        "password: your-password-here1",
        "password = \"${DB_PASSWORD_1}\"",
        "API_KEY=<insert key 1 here>",
        "token: process.env.API_TOKEN_1",
        "sk-learn and sk-proj-x are names, ghp_ too",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "secret: https://vault.example.org/v1/secret7",
        "max_tokens = 4096, token: aaaaaaaaaa1",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
        "a bearer token is sent, see https://ann@example.org:8080/x",
        "postgres://postgres:postgres@localhost/db and redis://u:${PW}@h",
        "basic authentication_and_more_words_2 here",
    ] {
        assert_eq!(find(line), [], "{line}");
    }
}

#[test]
fn weak_passwords_count_for_other_people_only() {
    for (line, secret) in [
        ("password=hunter2", "hunter2"),
        ("my password: hunter2", "hunter2"),
        ("DB_PASSWORD = hunter2", "hunter2"),
        ("curl 'https://x.example/?user=a&pwd=letmein'", "letmein"),
        ("\"password\": \"sommer\", \"user\": \"ann\"", "sommer"),
        ("passphrase: 'correct horse battery'  # the old one", "correct horse battery"),
        ("login(user=ann, password=geheim世界)", "geheim世界"),
        (r#"{\"client_secret\": \"letmein\"}"#, "letmein"),
    ] {
        assert_eq!(find(line), [], "{line}");
        let hidden: Vec<_> =
            spans_for_others(line).iter().map(|span| &line[span.start..span.end]).collect();
        assert_eq!(hidden, [secret], "{line}");
    }
    for line in [
        "The password is stored in the vault, and the secret: nobody knows where.",
        "password: String, secret: Option<Vec<u8>>",
        "password: string",
        "let password = read_password();",
        "password = self.password",
        "connect(password=password)",
        "PASSWORD=$DB_PASSWORD",
        "password = \"${DB_PASSWORD}\"",
        "password=<yours>",
        "password=your-password",
        "password: ********",
        "password = \"«password or secret masked»\"",
        "password=",
        "token=word and key: word",
    ] {
        assert_eq!(spans_for_others(line), [], "{line}");
    }
}

#[test]
fn s72_only_what_is_sent() {
    let leak = "password = \"h7Gk2pLq9x\"\n";
    let big = format!("{}{leak}", "x".repeat(4_000));
    let project = Project::with(&[
        ("a.md", leak.as_bytes()),
        ("big.md", big.as_bytes()),
        ("rules.md", format!("\n{leak}").as_bytes()),
        ("rag/r.md", leak.as_bytes()),
    ])
    .flag(&["rules.md"]);
    let snapshot = project.snapshot();
    let names = |found: Vec<(String, usize, &'static str)>| -> Vec<(String, usize)> {
        found.into_iter().map(|(name, line, _)| (name, line)).collect()
    };
    // The title of a reference doc is sent, with its quotes escaped.
    let all = [("a.md", 1), ("big.md", 1), ("rules.md", 2), ("rag/r.md", 1)]
        .map(|(name, line)| (name.to_owned(), line));
    assert_eq!(names(scan(&snapshot)), all);
    let auto = AutoContext::build(&snapshot, &delivery(4_000));
    assert_eq!(
        names(scan_sent(&snapshot, auto.report())),
        [all[0].clone(), all[2].clone(), all[3].clone()]
    );
}

#[test]
fn s72_each_secret_has_its_place() {
    let token = format!("ghp_{}", &"Ab3dEf6hIj9lMn2pQr5tUv8xYz1BcD4fGh7jKl0nOp"[..36]);
    let key =
        ["-----BEGIN RSA", "PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA", "PRIVATE KEY-----"]
            .join(" ");
    let text = format!(
        "世界 {token} and\n{key} rest\npassword = \"h7Gk2pLq9x\" token={token}.\n\"{key}\"",
    );
    let found: Vec<_> =
        spans(&text).iter().map(|s| (&text[s.start..s.end], s.line, s.kind)).collect();
    let expected = [
        (token.as_str(), 1, "GitHub token"),
        (key.as_str(), 2, "private key"),
        ("h7Gk2pLq9x", 6, "password or secret"),
        (token.as_str(), 6, "GitHub token"),
        (key.as_str(), 7, "private key"),
    ];
    // A value may hold the stop of its sentence.
    let found: Vec<_> = found.iter().map(|(t, l, k)| (t.trim_end_matches('.'), *l, *k)).collect();
    assert_eq!(found, expected);
}

#[test]
fn s72_a_key_without_its_foot_is_hidden_to_the_next_empty_line() {
    let head = ["-----BEGIN", "PRIVATE KEY-----"].join(" ");
    let text = format!("{head}\nMIIEow\n\nand on\n{head} at the end");
    let found: Vec<_> = spans(&text).iter().map(|s| &text[s.start..s.end]).collect();
    assert_eq!(found, [format!("{head}\nMIIEow"), format!("{head} at the end")]);
}

proptest::proptest! {
    #[test]
    fn s72_places_are_whole_characters_in_order(
        parts in proptest::collection::vec("(token=|://|@|:|bearer |\"|-----BEGIN PRIVATE KEY-----|-----END |世|\\n|[A-Za-z0-9]{1,30})", 0..40)
    ) {
        let text = parts.concat();
        let mut end = 0;
        for span in spans(&text) {
            assert!(end <= span.start && span.start < span.end);
            end = span.end;
            assert_eq!(text[..span.start].matches('\n').count() + 1, span.line);
            assert!(text.is_char_boundary(span.end));
        }
    }
}
