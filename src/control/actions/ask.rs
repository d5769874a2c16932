//! What a program asks for, as it says it; `enqueue` turns it into an action or says why not.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::control::actions::error::ActionError;
use crate::control::actions::settings::SettingsChange;
use crate::project::Bucket;
use crate::session::sha256;

/// One request.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is wished for.
    pub wish: Wish,
    /// The project; `None` only for settings.
    pub project: Option<ProjectRef>,
    /// Who asks, for the person: as they call themselves, at most 200 characters are kept.
    pub asked_by: String,
    /// How a repeated request is known.
    pub idempotency: Option<Idempotency>,
}

/// The project that a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRef {
    /// Its registered id.
    pub id: String,
    /// Its folder, absolute and without links.
    pub folder: PathBuf,
}

/// The wish, before anything was looked at: a repeated request is compared by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// `POST /project/:id/docs`
    AddDoc {
        /// The source, absolute.
        path: String,
        /// The doc's name; default: the source's.
        file_name: Option<String>,
        /// Where it goes.
        bucket: Bucket,
        /// Whether it may take the place of another.
        replace: bool,
    },
    /// `DELETE /project/:id/docs/:filename`
    DeleteDoc {
        /// The doc's name, decoded.
        file_name: String,
        /// Where it is; `None`: where it is found, if that is one place only.
        bucket: Option<Bucket>,
    },
    /// `POST /project/:id/new`
    Launch {
        /// The engine's id.
        engine: String,
        /// The display text.
        prompt: String,
        /// The model.
        model: Option<String>,
    },
    /// `PATCH /settings`
    Settings(SettingsChange),
}

/// By what a repeated request is known (S84).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The client's key.
    pub key: IdempotencyKey,
    /// Method and path of the request, as in `POST /project/p1/docs`. The same key on another route
    /// is refused like one with another body.
    pub route: String,
}

/// A key that a client made up: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Longest key, in bytes.
const LONGEST_KEY: usize = 255;

impl IdempotencyKey {
    /// From the bytes of the header.
    ///
    /// # Errors
    /// [`ActionError::BadKey`]
    pub fn parse(bytes: &[u8]) -> Result<IdempotencyKey, ActionError> {
        let bad = |reason: String| ActionError::BadKey { reason };
        if bytes.is_empty() || bytes.len() > LONGEST_KEY {
            return Err(bad(format!("it has {} bytes; 1 to {LONGEST_KEY} will do", bytes.len())));
        }
        if !bytes.iter().all(u8::is_ascii_graphic) {
            return Err(bad("only visible ASCII characters will do".to_owned()));
        }
        Ok(IdempotencyKey(bytes.iter().map(|byte| char::from(*byte)).collect()))
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ask {
    /// What a repeated request must have in common with the first: route and wish. Two bodies that
    /// mean the same, with other spaces or another order of keys, are the same.
    pub(super) fn fingerprint(&self) -> String {
        let route = self.idempotency.as_ref().map_or("", |idempotency| &idempotency.route);
        let project = self.project.as_ref().map_or("", |project| &project.id);
        let whole = serde_json::json!([route, project, self.wish]);
        sha256(whole.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h08_odd_keys_are_refused() {
        let long = [b'k'; 256];
        for bad in [b"".as_slice(), b"a b", b"caf\xc3\xa9", b"\xff", b"a\nb", b"a\0", &long] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad:?}");
        }
        for good in [b"k".as_slice(), b"0199a1b2-\"x\"/~", &long[1..]] {
            assert!(IdempotencyKey::parse(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn h08_the_fingerprint_tells_wish_route_and_project_apart() {
        let ask = |route: &str, project: &str, bucket| Ask {
            wish: Wish::DeleteDoc { file_name: "a.md".into(), bucket },
            project: Some(ProjectRef { id: project.into(), folder: "/p".into() }),
            asked_by: "test".into(),
            idempotency: Some(Idempotency {
                key: IdempotencyKey::parse(b"k").expect("key"),
                route: route.into(),
            }),
        };
        let first = ask("DELETE /a", "p1", None).fingerprint();
        assert_eq!(first, ask("DELETE /a", "p1", None).fingerprint());
        for other in [
            ask("POST /a", "p1", None),
            ask("DELETE /a", "p2", None),
            ask("DELETE /a", "p1", Some(Bucket::Rag)),
        ] {
            assert_ne!(first, other.fingerprint());
        }
    }
}
