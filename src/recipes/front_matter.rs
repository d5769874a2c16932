//! The head of a recipe: TOML between two lines `+++` (or `---`). Pure.
//!
//! A file whose first line is neither is a prompt without settings. Unknown keys are errors with
//! file, line and a suggestion, as in `config.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Origin, bad, template};
use crate::cli::{Output, parse_time};
use crate::engines::catalogue::toml_failure;
use crate::error::Failure;

/// The lines that enclose it.
const FENCES: [&str; 2] = ["+++", "---"];

/// What a recipe says about its launch. An option of the command line wins over each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Settings {
    /// What it is for, for lists.
    pub description: Option<String>,
    /// An engine of the catalogue.
    pub engine: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The project: its id or its folder.
    pub project: Option<String>,
    /// The time-out.
    #[serde(deserialize_with = "time")]
    pub timeout: Option<Duration>,
    /// How often a try that failed before it answered is repeated.
    pub retries: Option<u32>,
    /// What is printed.
    pub output: Option<Output>,
    /// Whether one run at a time is allowed.
    pub no_overlap: Overlap,
    /// Files to attach, relative to the project's folder.
    pub attachments: Vec<PathBuf>,
    /// Arguments for the engine itself. Only in a user's own recipe: a project's could raise what
    /// the engine may do.
    pub engine_args: Vec<String>,
    /// The declared parameters.
    pub parameters: BTreeMap<String, Declared>,
}

/// `no-overlap`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Several runs at a time.
    #[default]
    Allowed,
    /// One, of this recipe and project.
    OfThisRecipe,
    /// One that holds this key.
    OfKey(String),
}

/// A parameter of the front matter: a table, or its default alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// Its value where none is given.
    pub default: Option<String>,
    /// What it is for.
    pub description: Option<String>,
}

/// Takes the text of a file apart: settings, prompt, and the number of the prompt's first line.
/// `text` has LF line ends and no byte order mark.
///
/// # Errors
/// [`crate::error::ExitKind::Config`] with file, line and key.
pub fn read<'a>(
    file: &Path,
    text: &'a str,
    origin: &Origin,
) -> Result<(Settings, &'a str, usize), Failure> {
    let Some((fence, head, body)) = split(text) else {
        return Ok((Settings::default(), text, 1));
    };
    let Some(body) = body else {
        let what = format!("the front matter that begins here has no line `{fence}` at its end");
        return Err(bad(file, Some(1), &what));
    };
    // With an empty line in place of the fence the lines count as in the file.
    let toml = format!("\n{head}");
    let settings: Settings = toml::from_str(&toml).map_err(|error| {
        let failure = toml_failure(file, &toml, &error);
        match looks_like_yaml(&toml, &error) {
            true => failure.hint("front matter is TOML: `key = \"value\"`, not `key: value`"),
            false => failure,
        }
    })?;
    settings.check(file, &toml, origin)?;
    Ok((settings, body, 3 + head.matches('\n').count()))
}

/// The fence, what stands between its lines, and what follows; `None` without front matter, an inner
/// `None` without its end.
fn split(text: &str) -> Option<(&'static str, &str, Option<&str>)> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let fence = FENCES.into_iter().find(|fence| *fence == first.trim_end())?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == fence {
            return Some((fence, &rest[..at], Some(&rest[at + line.len()..])));
        }
        at += line.len();
    }
    Some((fence, rest, None))
}

fn looks_like_yaml(text: &str, error: &toml::de::Error) -> bool {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    !line.contains('=') && line.contains(':')
}

impl Settings {
    /// What TOML alone can't tell.
    fn check(&self, file: &Path, toml: &str, origin: &Origin) -> Result<(), Failure> {
        let wrong =
            |key: &str, what: &str| Err(bad(file, line_of(toml, key), &format!("`{key}` {what}")));
        if !self.engine_args.is_empty() && *origin != Origin::Own {
            return wrong(
                "engine-args",
                "is not for a project's recipe: it could raise what the engine may do; give them \
                 after `--`, or keep the recipe in the config folder's recipes/",
            );
        }
        for (key, value) in [("engine", &self.engine), ("model", &self.model)] {
            // As the value of an engine's option it could be taken for an option itself.
            if value.as_deref().is_some_and(|text| text.starts_with('-') || text.trim().is_empty())
            {
                return wrong(key, "is empty or begins with `-`");
            }
        }
        if self.project.as_deref().is_some_and(|text| text.trim().is_empty()) {
            return wrong("project", "is empty");
        }
        if self.attachments.iter().any(|path| path.as_os_str().is_empty()) {
            return wrong("attachments", "has an empty name");
        }
        match self.parameters.keys().find(|name| !template::is_name(name)) {
            Some(name) => wrong(name, "cannot be a parameter: use letters, digits, `_` and `-`"),
            None => Ok(()),
        }
    }
}

/// The line in which a key is set, for a mistake that is not one of TOML.
fn line_of(toml: &str, key: &str) -> Option<usize> {
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches(['"', '\'']);
        line.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with('='))
    };
    toml.lines().position(sets).map(|at| at + 1)
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    parse_time(&text).map(Some).map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for Overlap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Overlap, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Overlap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a key")
            }
            fn visit_bool<E>(self, on: bool) -> Result<Overlap, E> {
                Ok(if on { Overlap::OfThisRecipe } else { Overlap::Allowed })
            }
            fn visit_str<E>(self, key: &str) -> Result<Overlap, E> {
                Ok(Overlap::OfKey(key.to_owned()))
            }
        }
        from.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Declared {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Declared, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            default: Option<String>,
            description: Option<String>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Declared;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a table with `default` and `description`")
            }
            fn visit_str<E>(self, default: &str) -> Result<Declared, E> {
                Ok(Declared { default: Some(default.to_owned()), description: None })
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Declared, M::Error> {
                let Table { default, description } =
                    Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Declared { default, description })
            }
        }
        from.deserialize_any(Either)
    }
}
