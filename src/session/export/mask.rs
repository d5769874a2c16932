//! Takes out of a text what its owner would not want to hand on: secrets, found by their form, and
//! the path of the home folder. What was taken out is told by kind and place, never by its text.

use std::borrow::Cow;
use std::path::Path;

use crate::context::secrets;

/// One secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The message that it is in, from 1; `None`: beside the messages, in a path or a name.
    pub message: Option<usize>,
    /// The line of that message, from 1.
    pub line: usize,
    /// What it looks like.
    pub kind: &'static str,
}

/// Masks the texts of one session and keeps the list.
#[derive(Debug, Default)]
pub struct Masker {
    homes: Vec<String>,
    hides_secrets: bool,
    looks_for_secrets: bool,
    found: Vec<Masked>,
    homes_found: usize,
}

impl Masker {
    /// Changes nothing.
    pub fn off() -> Masker {
        Masker::default()
    }

    /// Masks the home folder, and secrets unless `keep_secrets`; then they are only listed.
    pub fn new(home: Option<&Path>, keep_secrets: bool) -> Masker {
        let real = home.and_then(|home| home.canonicalize().ok());
        let mut homes: Vec<String> = [home, real.as_deref()]
            .into_iter()
            .flatten()
            .filter_map(Path::to_str)
            .map(|home| home.trim_end_matches('/').to_owned())
            // A daemon's home may be `/`: all paths begin with it.
            .filter(|home| home.starts_with('/'))
            .collect();
        // The longer one first: one may lie in the other.
        homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
        homes.dedup();
        Masker { homes, hides_secrets: !keep_secrets, looks_for_secrets: true, ..Masker::default() }
    }

    /// What was found so far, in order.
    pub fn found(&self) -> &[Masked] {
        &self.found
    }

    /// How many secrets were taken out.
    pub fn hidden(&self) -> usize {
        if self.hides_secrets { self.found.len() } else { 0 }
    }

    /// How often the home folder became `~`.
    pub fn homes_found(&self) -> usize {
        self.homes_found
    }

    /// `text` without its secrets. It begins on `first_line` of `message`.
    pub(super) fn mask<'t>(
        &mut self,
        text: &'t str,
        message: Option<usize>,
        first_line: usize,
    ) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        if self.looks_for_secrets {
            let spans = secrets::spans_for_others(text);
            for span in &spans {
                let found = Masked { message, line: first_line + span.line - 1, kind: span.kind };
                self.note(found);
            }
            if self.hides_secrets && !spans.is_empty() {
                masked = Cow::Owned(without(text, &spans));
            }
        }
        for home in &self.homes {
            if let Some((without, times)) = without_home(&masked, home) {
                self.homes_found += times;
                masked = Cow::Owned(without);
            }
        }
        masked
    }

    /// A text is looked at as it is stored and once more as it is shown: one secret, one line.
    fn note(&mut self, found: Masked) {
        if self.hides_secrets || !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}

fn without(text: &str, spans: &[secrets::Span]) -> String {
    let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
    for span in spans {
        masked.push_str(&text[from..span.start]);
        masked.push_str(&format!("«{} masked»", span.kind));
        from = span.end;
    }
    masked.push_str(&text[from..]);
    masked
}

/// `~` for each path that is, or lies in, `home`; `None` where there is none.
fn without_home(text: &str, home: &str) -> Option<(String, usize)> {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
    let (mut masked, mut from, mut times) = (String::new(), 0, 0);
    for (at, _) in text.match_indices(home) {
        let end = at + home.len();
        // A name may begin like the home folder's, or end like its path.
        let mut behind = text[end..].chars();
        let goes_on = match behind.next() {
            // The full stop of a sentence.
            Some('.') => behind.next().is_some_and(in_name),
            next => next.is_some_and(in_name),
        };
        if at < from || goes_on || text[..at].chars().next_back().is_some_and(in_name) {
            continue;
        }
        masked.push_str(&text[from..at]);
        masked.push('~');
        from = end;
        times += 1;
    }
    (times > 0).then(|| {
        masked.push_str(&text[from..]);
        (masked, times)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masker(keep_secrets: bool) -> Masker {
        Masker {
            homes: vec!["/home/ann".to_owned()],
            hides_secrets: !keep_secrets,
            looks_for_secrets: true,
            ..Masker::default()
        }
    }

    #[test]
    fn the_home_folder_becomes_a_tilde_and_its_likes_do_not() {
        let mut masker = masker(false);
        for (text, expected) in [
            ("see /home/ann/x and /home/ann.", "see ~/x and ~."),
            ("file:///home/ann/x", "file://~/x"),
            (
                "/home/anna/x /home/ann.old /data/home/ann",
                "/home/anna/x /home/ann.old /data/home/ann",
            ),
            ("\"/home/ann\"", "\"~\""),
            ("/home/ann", "~"),
        ] {
            assert_eq!(masker.mask(text, None, 1), expected);
        }
        assert_eq!(masker.homes_found(), 5);
        assert!(Masker::new(Some(Path::new("/")), false).homes.is_empty());
    }

    #[test]
    fn secrets_are_hidden_and_listed_or_listed_only() {
        let secret = "h7Gk2pLq9x";
        let text = format!("one\npassword = \"{secret}\"\n");
        let listed = [Masked { message: Some(2), line: 2, kind: "password or secret" }];
        let mut hiding = masker(false);
        let masked = hiding.mask(&text, Some(2), 1).into_owned();
        assert_eq!(masked, "one\npassword = \"«password or secret masked»\"\n");
        assert_eq!(hiding.mask(&masked, Some(2), 1), masked.as_str(), "nothing is left");
        assert_eq!(hiding.found(), listed);
        let mut keeping = masker(true);
        assert_eq!(keeping.mask(&text, Some(2), 1), text.as_str());
        assert_eq!(keeping.mask(&text, Some(2), 1), text.as_str());
        assert_eq!(keeping.found(), listed);
        assert_eq!(Masker::off().mask(&text, None, 1), text.as_str());
    }
}
