//! Recipes: prompts kept as files, `NAME.md`, with parameters and the settings of their launch.
//!
//! A recipe lies in a project's `.claude/recipes/` or in `recipes/` of the user's config folder; the
//! project's wins. [`front_matter`] reads the settings at its head, [`template`] the prompt below
//! them, [`find`] looks files up. Nothing here starts an engine or prints.
//!
//! A project's recipe may come from somebody else with a cloned repository. So it can name an engine
//! of the catalogue, never a program, and has no way to give the engine arguments of its own; its
//! values are text that is put in once and never looked at again.

pub mod find;
pub mod front_matter;
pub mod template;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{ExitKind, Failure, did_you_mean};
use crate::recipes::front_matter::{Declared, Settings};
use crate::recipes::template::Template;
use crate::ui::one_line;

/// Whose a recipe is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In the `.claude/recipes/` of the project in this folder.
    Project(PathBuf),
    /// In the user's config folder.
    Own,
}

/// A recipe as it was read.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Its file's name without `.md`.
    pub name: String,
    /// Whose it is.
    pub origin: Origin,
    /// Its file.
    pub file: PathBuf,
    /// What stands in its front matter.
    pub settings: Settings,
    /// Its prompt.
    pub template: Template,
}

/// A parameter as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value where none is given; `None`: it has to be given.
    pub default: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// It stands in the prompt.
    pub used: bool,
}

/// Longest description in a list, in characters.
const DESCRIPTION_LENGTH: usize = 120;

impl Recipe {
    /// Reads the text of a recipe file.
    ///
    /// # Errors
    /// [`ExitKind::Config`] with file, line and key.
    pub fn parse(
        name: &str,
        origin: Origin,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Result<Recipe, Failure> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            bad(file, None, &format!("is not UTF-8: bad byte at offset {offset}"))
        })?;
        // The same recipe gives the same prompt on every system: line ends are LF.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        let (settings, body, first_line) = front_matter::read(file, &text, &origin)?;
        let template = Template::parse(body, first_line).map_err(|(line, what)| {
            bad(file, Some(line), &what)
                .logged_as(format!("{}:{line}: a mistake in the prompt", file.display()))
        })?;
        if template.is_empty() {
            return Err(bad(file, None, "has no prompt below its front matter"));
        }
        let name = name.to_owned();
        Ok(Recipe { name, origin, file: file.to_owned(), settings, template })
    }

    /// What it is for: its own description, else the first line of its prompt.
    pub fn description(&self) -> String {
        let first = || {
            let line = self.template.source().lines().find(|line| !line.trim().is_empty());
            line.unwrap_or_default().trim_start_matches('#').trim().to_owned()
        };
        let text = one_line(&self.settings.description.clone().unwrap_or_else(first));
        match text.chars().count() > DESCRIPTION_LENGTH {
            true => text.chars().take(DESCRIPTION_LENGTH - 1).chain(['…']).collect(),
            false => text,
        }
    }

    /// Its parameters, in the order in which the prompt names them; declared ones that it does not
    /// name come last.
    pub fn parameters(&self) -> Vec<Parameter> {
        let declared = &self.settings.parameters;
        let parameter = |name: &str, used| {
            let Declared { default, description } = declared.get(name).cloned().unwrap_or_default();
            Parameter { name: name.to_owned(), default, description, used }
        };
        let named = self.template.names();
        let unused = declared.keys().map(String::as_str).filter(|name| !named.contains(name));
        let used = named.iter().map(|name| parameter(name, true));
        used.chain(unused.map(|name| parameter(name, false))).collect()
    }

    /// The prompt with these values in place of its parameters. A value is text: what looks like a
    /// parameter in it stays as it is.
    ///
    /// # Errors
    /// [`ExitKind::Usage`] for a value without a parameter and for a parameter without a value.
    pub fn expand(&self, given: &BTreeMap<String, String>) -> Result<String, Failure> {
        let parameters = self.parameters();
        let names = || parameters.iter().map(|parameter| parameter.name.as_str());
        if let Some(unknown) = given.keys().find(|key| !names().any(|name| name == *key)) {
            return Err(self.unknown_parameter(unknown, names()));
        }
        let value = |parameter: &Parameter| {
            given.get(&parameter.name).cloned().or_else(|| parameter.default.clone())
        };
        let lacks = |parameter: &&Parameter| value(parameter).is_none();
        let missing: Vec<&Parameter> = parameters.iter().filter(lacks).collect();
        if !missing.is_empty() {
            return Err(self.missing_parameters(&missing));
        }
        let values = parameters
            .iter()
            .filter_map(|parameter| value(parameter).map(|value| (parameter.name.clone(), value)));
        Ok(self.template.expand(&values.collect()))
    }

    fn unknown_parameter<'a>(
        &self,
        unknown: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Failure {
        let message =
            format!("the recipe `{}` has no parameter `{}`", self.name, one_line(unknown));
        let failure = Failure::new(ExitKind::Usage, message);
        if let Some(near) = did_you_mean(unknown, known.clone()).first() {
            return failure.hint(format!("did you mean `{near}`?"));
        }
        let known: Vec<&str> = known.collect();
        match known.is_empty() {
            true => failure.hint("it has no parameters at all"),
            false => failure.hint(format!("it has: {}", known.join(", "))),
        }
    }

    fn missing_parameters(&self, missing: &[&Parameter]) -> Failure {
        let names: Vec<String> = missing.iter().map(|p| format!("`{}`", p.name)).collect();
        let message = format!("the recipe `{}` needs a value for {}", self.name, names.join(", "));
        missing.iter().fold(Failure::new(ExitKind::Usage, message), |failure, parameter| {
            let what = parameter
                .description
                .as_deref()
                .map_or(String::new(), |text| format!("  ({})", one_line(text)));
            failure.hint(format!("--set {}=VALUE{what}", parameter.name))
        })
    }
}

/// A recipe file with a mistake; nothing was changed by reading it.
fn bad(file: &Path, line: Option<usize>, what: &str) -> Failure {
    let place = line.map_or(String::new(), |line| format!(":{line}"));
    Failure::new(
        ExitKind::Config,
        format!("{}{place}: {what}", crate::context::names::shown_path(file)),
    )
}

#[cfg(test)]
mod tests;
