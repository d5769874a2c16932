//! How secrets look: heads of private keys, tokens of known issuers, values beside a telling name,
//! passwords in addresses. Each is told by its place; examples and placeholders are left alone.

/// A start, an end and a kind; in bytes of the text or of the line.
pub(super) type Place = (usize, usize, &'static str);

/// The kind of a value that only its name gives away.
pub(super) const VAGUE: &str = "password or secret";

const KEY_HEAD: &str = "-----BEGIN ";
const KEY_FOOT: &str = "-----END ";
const DASHES: &str = "-----";
/// A foot farther away than this belongs to something else, in bytes.
const LONGEST_KEY_TEXT: usize = 32 << 10;

/// Private keys, from their head to their foot; to the next empty line where the foot is missing.
pub(super) fn private_keys(text: &str) -> Vec<Place> {
    let (mut found, mut from) = (Vec::new(), 0);
    // Looked for once, not once for each head: the pass stays linear.
    let mut next_foot = 0;
    while let Some(at) = text[from..].find(KEY_HEAD) {
        let start = from + at;
        from = start + KEY_HEAD.len();
        let label = text[from..].split(['\n', '-']).next().unwrap_or_default();
        let closed = text[from + label.len()..].starts_with(DASHES);
        if !closed || !(label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK") {
            continue;
        }
        if next_foot < from {
            next_foot = text[from..].find(KEY_FOOT).map_or(text.len(), |at| from + at);
        }
        let body = from + label.len() + DASHES.len();
        let end = if next_foot < text.len() && next_foot - from <= LONGEST_KEY_TEXT {
            let foot = next_foot + KEY_FOOT.len();
            let line = text[foot..].split('\n').next().unwrap_or_default();
            foot + line.find(DASHES).map_or(line.len(), |at| at + DASHES.len())
        } else {
            text[body..].find("\n\n").map_or(text.len(), |at| body + at)
        };
        found.push((start, end, "private key"));
        from = end;
    }
    found
}

/// All other secrets of one line.
pub(super) fn in_line(line: &str, mut add: impl FnMut(usize, usize, &'static str)) {
    for token in line.split(|c: char| !is_token_char(c)) {
        let token = token.trim_matches('.');
        if let Some(kind) = known_form(token) {
            let start = place(line, token);
            add(start, start + token.len(), kind);
        }
    }
    secret_values(line, &mut add);
    passwords_in_addresses(line, &mut add);
    carried_tokens(line, &mut add);
}

/// Where `part`, a piece of `line`, begins in it.
fn place(line: &str, part: &str) -> usize {
    part.as_ptr().addr() - line.as_ptr().addr()
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
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
    form("omr_", 64, 64, "omni-run API token"),
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
pub(super) const LONGEST_VALUE: usize = 1024;
/// Bits a character of a value must have on average: words and placeholders have less.
const LEAST_ENTROPY: f64 = 3.2;

/// `password = "…"`, `API_KEY: …` with a value that looks random.
fn secret_values(line: &str, add: &mut impl FnMut(usize, usize, &'static str)) {
    for Named { start, value, .. } in named_values(line, SECRET_KEYS) {
        if is_secret_value(value) {
            add(start, start + value.len(), VAGUE);
        }
    }
}

/// A value beside a telling name.
pub(super) struct Named<'l> {
    /// Where it begins in its line, in bytes.
    pub(super) start: usize,
    pub(super) value: &'l str,
    /// It stands in quotes.
    pub(super) quoted: bool,
    /// It stands right behind a `=`.
    pub(super) assigned: bool,
}

/// The values of a line beside names that end in one of `keys`.
pub(super) fn named_values<'l>(line: &'l str, keys: &[&str]) -> impl Iterator<Item = Named<'l>> {
    line.match_indices(['=', ':']).filter_map(move |(sign, mark)| {
        // The key is what stands right in front, the value what comes right behind; bounded looks
        // both ways keep the pass linear.
        if !ends_in_key(&line.as_bytes()[sign.saturating_sub(LONGEST_KEY)..sign], keys) {
            return None;
        }
        let at = sign + mark.len();
        let until = line.floor_char_boundary(at + LONGEST_VALUE + 16);
        let (value, quoted) = value_at(&line[at..until]);
        let start = place(line, value);
        Some(Named { start, value, quoted, assigned: mark == "=" && start == at })
    })
}

/// Whether a name that ends in one of these, in lower case and without `_` and `-`, stands at the end.
pub(super) fn ends_in_key(before: &[u8], keys: &[&str]) -> bool {
    let key: Vec<u8> = before
        .trim_ascii_end()
        .iter()
        .rev()
        // JSON inside JSON has its quotes escaped.
        .skip_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'\\'))
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    keys.iter().any(|end| {
        key.len() >= end.len() && end.bytes().rev().zip(&key).all(|(wanted, byte)| wanted == *byte)
    })
}

/// The value behind a `=` or `:`, and whether it stands in quotes.
fn value_at(behind: &str) -> (&str, bool) {
    let after = behind.trim_start_matches(['=', ':', '>']).trim_start();
    let after = after.strip_prefix('\\').unwrap_or(after);
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let value = match quote {
        Some(quote) => after[1..].split(quote).next().unwrap_or_default(),
        None => {
            let end =
                |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | '"' | '\'' | '`');
            after.split(end).next().unwrap_or_default()
        }
    };
    (value.trim_end_matches('\\'), quote.is_some())
}

fn is_secret_value(value: &str) -> bool {
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

/// Passwords that everybody has: an example, not a secret.
const COMMON_PASSWORDS: &[&str] =
    &["password", "passwd", "secret", "postgres", "changeme", "username", "guest", "admin"];

/// `scheme://user:password@host`.
fn passwords_in_addresses(line: &str, add: &mut impl FnMut(usize, usize, &'static str)) {
    /// Longer than any user name and password, in bytes.
    const LONGEST: usize = 512;
    for (at, sign) in line.match_indices("://") {
        let rest = &line[at + sign.len()..];
        let rest = &rest[..rest.floor_char_boundary(LONGEST)];
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '<' | '>');
        let authority = rest.split(ends).next().unwrap_or_default();
        let Some((user, password)) =
            authority.rsplit_once('@').and_then(|(before, _host)| before.split_once(':'))
        else {
            continue;
        };
        let odd = |b: u8| matches!(b, b'{' | b'}' | b'$' | b'*' | b'[' | b'`' | b'\'');
        let lower = password.to_ascii_lowercase();
        if password.len() >= 6
            && !password.bytes().any(odd)
            && password != user
            && !COMMON_PASSWORDS.contains(&lower.as_str())
            && !is_placeholder(password)
        {
            let start = place(line, password);
            add(start, start + password.len(), "password in an address");
        }
    }
}

/// `Authorization: Bearer …` and `Basic …`.
fn carried_tokens(line: &str, add: &mut impl FnMut(usize, usize, &'static str)) {
    /// No issuer has shorter ones, in bytes.
    const SHORTEST: usize = 20;
    let is_part = |c: char| is_token_char(c) || matches!(c, '+' | '/' | '=' | '~');
    for (scheme, needs_header) in [("bearer ", false), ("basic ", true)] {
        let is_scheme = |window: &[u8]| window.eq_ignore_ascii_case(scheme.as_bytes());
        for at in line.as_bytes().windows(scheme.len()).enumerate().filter(|(_, w)| is_scheme(w)) {
            let at = at.0;
            let before = line.as_bytes()[at.saturating_sub(24)..at].to_ascii_lowercase();
            if needs_header && !before.windows(13).any(|w| w == b"authorization") {
                continue;
            }
            let rest = line[at + scheme.len()..].trim_start();
            let token = rest.split(|c| !is_part(c)).next().unwrap_or_default();
            let has_digit = token.bytes().any(|b| b.is_ascii_digit());
            if token.len() >= SHORTEST
                && has_digit
                && !is_placeholder(token)
                && is_random(token)
                && entropy(token.as_bytes()) >= LEAST_ENTROPY
            {
                let start = place(line, token);
                add(start, start + token.len(), "access token");
            }
        }
    }
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
