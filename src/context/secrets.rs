//! Keys and passwords in docs (S72): found by form, one linear pass, told by name and line. Examples
//! and placeholders are left alone, so that a warning means something. What follows from a finding is
//! the policy's business, not this module's; a secret itself is never repeated.

use super::first_message::{ContextReport, DocState};
use super::snapshot::{ContextSnapshot, DocKind};

/// One secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The line it is on, from 1.
    pub line: usize,
    /// What it looks like.
    pub kind: &'static str,
}

/// The secrets in every text that the snapshot holds: name as printed, line, kind.
pub fn scan(snapshot: &ContextSnapshot) -> Vec<(String, usize, &'static str)> {
    scan_docs(snapshot, |_| true)
}

/// The secrets in what one launch sends: docs that its report has as included or instruction, the
/// custom instructions and the profile.
pub fn scan_sent(
    snapshot: &ContextSnapshot,
    report: &ContextReport,
) -> Vec<(String, usize, &'static str)> {
    scan_docs(snapshot, |index| {
        report
            .docs
            .get(index)
            .is_some_and(|doc| matches!(doc.state, DocState::Included | DocState::Instruction))
    })
}

fn scan_docs(
    snapshot: &ContextSnapshot,
    is_sent: impl Fn(usize) -> bool,
) -> Vec<(String, usize, &'static str)> {
    let switches = snapshot.request.switches;
    let docs = snapshot.docs.iter().enumerate().filter_map(|(index, doc)| match &doc.kind {
        DocKind::Text(text) => {
            let on = if doc.instruction { switches.instructions } else { switches.inline };
            (on && is_sent(index)).then_some((doc.shown.as_str(), text.as_str()))
        }
        DocKind::TextUnread | DocKind::Attachable(_) | DocKind::Ignored(_) => None,
    });
    let own = [
        ("instructions.md", snapshot.custom_instructions.as_deref(), switches.instructions),
        ("profile.md", snapshot.profile.as_deref(), switches.profile),
    ];
    let own = own.into_iter().filter_map(|(name, text, on)| Some((name, text.filter(|_| on)?)));
    let mut found: Vec<_> = docs
        .chain(own)
        .flat_map(|(name, text)| {
            find(text).into_iter().map(move |found| (name.to_owned(), found.line, found.kind))
        })
        .collect();
    // A reference doc is listed by its title; the line is that of the title, not of the file.
    for entry in snapshot.rag.iter().filter(|_| switches.inline) {
        let title = entry.description.as_deref().unwrap_or_default();
        found.extend(find(title).into_iter().map(|f| (format!("rag/{}", entry.shown), 1, f.kind)));
    }
    found
}

/// Finds secrets; at most one of a kind on a line.
pub fn find(text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let before = findings.len();
        let mut add = |kind| {
            if !findings[before..].iter().any(|found| found.kind == kind) {
                findings.push(Finding { line: index + 1, kind });
            }
        };
        if is_private_key_head(line) {
            add("private key");
        }
        for token in line.split(|c: char| !is_token_char(c)) {
            if let Some(kind) = known_form(token.trim_matches('.')) {
                add(kind);
            }
        }
        if before == findings.len() && has_secret_value(line) {
            findings.push(Finding { line: index + 1, kind: "password or secret" });
        }
    }
    findings
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_private_key_head(line: &str) -> bool {
    line.split_once("-----BEGIN ").is_some_and(|(_, rest)| {
        rest.split_once("-----").is_some_and(|(label, _)| {
            label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK"
        })
    })
}

/// How the rest of a known token looks behind its prefix.
struct Form {
    prefix: &'static str,
    shortest: usize,
    longest: usize,
    kind: &'static str,
}

const fn form(prefix: &'static str, shortest: usize, longest: usize, kind: &'static str) -> Form {
    Form { prefix, shortest, longest, kind }
}

const ANY: usize = usize::MAX;
/// Longer prefixes stand before shorter ones that they begin with.
const FORMS: &[Form] = &[
    form("AKIA", 16, 16, "AWS access key"),
    form("ASIA", 16, 16, "AWS access key"),
    form("ghp_", 36, ANY, "GitHub token"),
    form("gho_", 36, ANY, "GitHub token"),
    form("ghu_", 36, ANY, "GitHub token"),
    form("ghs_", 36, ANY, "GitHub token"),
    form("ghr_", 36, ANY, "GitHub token"),
    form("github_pat_", 40, ANY, "GitHub token"),
    form("glpat-", 20, ANY, "GitLab token"),
    form("xoxb-", 20, ANY, "Slack token"),
    form("xoxp-", 20, ANY, "Slack token"),
    form("xoxa-", 20, ANY, "Slack token"),
    form("xoxr-", 20, ANY, "Slack token"),
    form("xoxs-", 20, ANY, "Slack token"),
    form("xapp-", 20, ANY, "Slack token"),
    form("sk_live_", 16, ANY, "Stripe key"),
    form("rk_live_", 16, ANY, "Stripe key"),
    form("sk-ant-", 20, ANY, "Anthropic API key"),
    form("sk-proj-", 20, ANY, "OpenAI API key"),
    form("sk-svcacct-", 20, ANY, "OpenAI API key"),
    form("sk-admin-", 20, ANY, "OpenAI API key"),
    form("sk-", 40, ANY, "OpenAI API key"),
    form("AIza", 35, 35, "Google API key"),
    form("npm_", 36, 36, "npm token"),
];

/// Fewer different characters than this in a token and it is a placeholder, `xxxx…`.
const FEWEST_DIFFERENT: usize = 8;

fn known_form(token: &str) -> Option<&'static str> {
    if token.len() < 20 {
        return None;
    }
    let found = FORMS.iter().find_map(|form| {
        let rest = token.strip_prefix(form.prefix)?;
        // A sentence may go on behind the token: `…key.Then`.
        let rest = rest.split('.').next().unwrap_or(rest);
        let fits = (form.shortest..=form.longest).contains(&rest.len());
        let aws = form.prefix.starts_with('A') && form.longest == 16;
        let right = !aws || rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        (fits && right && is_random(rest)).then_some(form.kind)
    });
    found.or_else(|| is_jwt(token).then_some("JSON web token"))
}

fn is_random(text: &str) -> bool {
    let mut seen = [false; 128];
    text.bytes().filter(u8::is_ascii).for_each(|byte| seen[byte as usize] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    different >= FEWEST_DIFFERENT && !text.to_ascii_uppercase().contains("EXAMPLE")
}

/// Three parts of base64url, the first two JSON: `eyJ` is `{"`.
fn is_jwt(token: &str) -> bool {
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    head.starts_with("eyJ")
        && body.starts_with("eyJ")
        && head.len() >= 16
        && body.len() >= 16
        && signature.len() >= 16
        && is_random(signature)
}

/// Ends of the names that hold a secret, in lower case without `_` and `-`.
const SECRET_KEYS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secretkey",
    "apikey",
    "accesskey",
    "authtoken",
    "accesstoken",
    "clientsecret",
    "privatekey",
    "token",
];
/// How far back a key is looked for, in bytes.
const LONGEST_KEY: usize = 48;
/// The shortest value taken for a secret, in bytes.
const SHORTEST_VALUE: usize = 10;
/// The longest: what is longer is data.
const LONGEST_VALUE: usize = 200;
/// Bits a character of a value must have on average: words and placeholders have less.
const LEAST_ENTROPY: f64 = 3.2;

/// `password = "…"`, `API_KEY: …` with a value that looks random.
fn has_secret_value(line: &str) -> bool {
    let mut at = 0;
    while let Some(found) = line[at..].find(['=', ':']) {
        let sign = at + found;
        at = sign + 1;
        // The key is what stands right in front, the value what comes right behind; bounded looks
        // both ways keep the pass linear.
        if !is_secret_key(&line.as_bytes()[sign.saturating_sub(LONGEST_KEY)..sign]) {
            continue;
        }
        let until = line.floor_char_boundary(at + LONGEST_VALUE + 16);
        let after = line[at..until].trim_start_matches(['=', ':', '>']).trim_start();
        if is_secret_value(after) {
            return true;
        }
    }
    false
}

fn is_secret_key(before: &[u8]) -> bool {
    let key: Vec<u8> = before
        .trim_ascii_end()
        .iter()
        .rev()
        .skip_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'*'))
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    SECRET_KEYS.iter().any(|end| {
        key.len() >= end.len() && end.bytes().rev().zip(&key).all(|(wanted, byte)| wanted == *byte)
    })
}

fn is_secret_value(after: &str) -> bool {
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let value = match quote {
        Some(quote) => after[1..].split(quote).next().unwrap_or(""),
        None => {
            let end =
                |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | '"' | '\'' | '`');
            after.split(end).next().unwrap_or("")
        }
    };
    let bytes = value.as_bytes();
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    (SHORTEST_VALUE..=LONGEST_VALUE).contains(&value.len())
        && value.is_ascii()
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !bytes
            .iter()
            .any(|b| matches!(b, b' ' | b'<' | b'>' | b'{' | b'}' | b'(' | b'[' | b'\\'))
        && !value.starts_with('$')
        && !value.contains("://")
        && !value.contains("...")
        && !is_placeholder(value)
        && entropy(bytes) >= LEAST_ENTROPY
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["example", "changeme", "change-me", "your", "placeholder", "dummy", "xxxx", "env.", "test"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Bits a character.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|byte| counts[*byte as usize] += 1);
    let all = bytes.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum()
}
