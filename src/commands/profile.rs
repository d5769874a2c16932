//! `omni-run profile`: the coaching profile (S25), a file in the config folder.

use std::path::Path;
use std::process::{Command, ExitCode};

use super::{Workplace, here, own_paths, print, print_exact};
use crate::cli::{ProfileAction, ProfileArgs};
use crate::config::{Setting, Source};
use crate::config_edit;
use crate::context::figures;
use crate::error::{ExitKind, Failure};
use crate::paths::create_private_dir;
use crate::ui::Ui;

/// The most that goes along; more stays out whole (S25). In bytes.
const CAP: u64 = 16 * 1024;

/// Carries the command out.
pub(super) fn profile(args: &ProfileArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    let file = paths.config.join("profile.md");
    match args.action.as_ref().unwrap_or(&ProfileAction::Show) {
        ProfileAction::Path => return print(ui, &format!("{}\n", file.display())),
        ProfileAction::Show => return show(&file, ui),
        ProfileAction::Edit => {
            edit(&file)?;
            let size = std::fs::metadata(&file).map_or(0, |about| about.len());
            say_state(size, &Workplace::open()?.config.profile, ui);
        }
        ProfileAction::Off => switch(&paths.config.join("config.toml"), false, ui)?,
        ProfileAction::On => switch(&paths.config.join("config.toml"), true, ui)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(file: &Path, ui: Ui) -> Result<ExitCode, Failure> {
    // The metadata first: a pipe would block for ever.
    let text = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            ui.status("there is no profile yet; `omni-run profile edit` makes one");
            return Ok(ExitCode::SUCCESS);
        }
        Ok(about) if about.is_file() => std::fs::read(file),
        Ok(_) => Err(std::io::Error::other("is not a regular file")),
        Err(error) => Err(error),
    };
    let text = text.map_err(|error| {
        Failure::new(ExitKind::NotFound, format!("{}: {error}", here::shown(file)))
    })?;
    say_state(text.len() as u64, &Workplace::open()?.config.profile, ui);
    print_exact(ui, &String::from_utf8_lossy(&text))
}

fn say_state(size: u64, on: &Setting<bool>, ui: Ui) {
    if size > CAP {
        ui.warning(&format!(
            "the profile is {}: over 16 KB it stays out of every message",
            figures::bytes(size)
        ));
    } else if size == 0 {
        ui.status("the profile is empty: nothing goes along");
    } else if on.value {
        ui.status("the profile goes along with every first message");
    } else {
        ui.status(&format!("the profile is off ({}): it stays here", on.source.shown()));
    }
}

fn switch(config: &Path, on: bool, ui: Ui) -> Result<(), Failure> {
    // A file that is wrong now is said with its line before anything is written.
    Workplace::open()?;
    config_edit::set(config, &[("profile", on.into())])?;
    let now = Workplace::open()?.config.profile;
    ui.status(match on {
        true => "the profile goes along from the next session on",
        false => "the profile is kept and goes along no more",
    });
    if now.value != on && now.source == Source::Environment {
        ui.warning("the variable OMNI_RUN_PROFILE says otherwise and wins while it is set");
    }
    Ok(())
}

/// Opens the file in the person's editor, the way git does it: the variable is a shell command, the
/// file its argument.
fn edit(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    create_private_dir(folder).map_err(|error| {
        let message = format!("the folder {} cannot be made: {error}", here::shown(folder));
        Failure::new(ExitKind::CannotCreate, message)
    })?;
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into());
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let ended = Command::new("sh").arg("-c").arg(script).arg(&editor).arg(file).status();
    let shown = crate::ui::one_line(&editor.to_string_lossy());
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("the editor `{shown}` ended with {status}"),
        Err(error) => format!("the editor `{shown}` cannot be started: {error}"),
    };
    Err(Failure::new(ExitKind::CannotCreate, why)
        .hint("set VISUAL or EDITOR to your editor")
        .hint(format!("or write {} with any program", here::shown(file))))
}
