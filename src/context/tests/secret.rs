//! Secrets in docs (S72). The tokens here are made up, and put together at run time so that no
//! scanner takes this file for a leak.

use super::super::secrets::{find, scan, scan_sent};
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
    ] {
        assert_eq!(find(line), [], "{line}");
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
    let all = [("a.md".to_owned(), 1), ("big.md".to_owned(), 1), ("rules.md".to_owned(), 2)];
    assert_eq!(names(scan(&snapshot)), all);
    let auto = AutoContext::build(&snapshot, &delivery(4_000));
    assert_eq!(names(scan_sent(&snapshot, auto.report())), [all[0].clone(), all[2].clone()]);
}
