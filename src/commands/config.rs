//! `omni-run config`: the settings in force and where each comes from (S93).

use std::process::ExitCode;

use super::{Workplace, own_paths, print};
use crate::cli::{ConfigAction, ConfigArgs};
use crate::error::Failure;
use crate::ui::{Ui, one_line};

/// The files of the config folder with what each is for.
const FILES: [(&str, &str); 4] = [
    ("config.toml", "the settings above"),
    ("engines.toml", "engines changed or added"),
    ("instructions.md", "custom instructions for every engine"),
    ("profile.md", "the coaching profile"),
];

/// Carries the command out.
pub(super) fn config(args: &ConfigArgs, ui: Ui) -> Result<ExitCode, Failure> {
    match args.action.as_ref().unwrap_or(&ConfigAction::Show) {
        ConfigAction::Path => print(ui, &format!("{}\n", own_paths().config.display())),
        ConfigAction::Show => {
            let Workplace { paths, config, .. } = Workplace::open()?;
            let mut text = String::new();
            for line in config.lines() {
                text.push_str(&one_line(&line));
                text.push('\n');
            }
            for (name, what) in FILES {
                let file = paths.config.join(name);
                let there = if file.exists() { what } else { "not there" };
                text.push_str(&format!("{}  ({there})\n", one_line(&file.to_string_lossy())));
            }
            print(ui, &text)
        }
    }
}
