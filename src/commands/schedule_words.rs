//! The words of a job: a `recipe run` with all its options, and the PATH that it needs.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::RunOptions;
use crate::error::{ExitKind, Failure};

/// What every system has.
const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The arguments of omni-run. Status lines are left out: cron would mail them.
pub(super) fn recipe_words(
    recipe: &str,
    set: &[OsString],
    engine: Option<&str>,
    options: &RunOptions,
) -> Result<Vec<String>, Failure> {
    let mut words: Vec<OsString> = ["-q", "recipe", "run", recipe].map(OsString::from).to_vec();
    let mut option = |name: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            words.push(name.into());
            words.push(value.to_owned());
        }
    };
    for pair in set {
        option("--set", Some(pair));
    }
    option("--engine", engine.map(OsStr::new));
    words.extend(option_words(options));
    words
        .into_iter()
        .map(|word| {
            word.into_string().map_err(|word| {
                let shown = crate::ui::one_line(&word.to_string_lossy());
                let message = format!("`{shown}` is not UTF-8: a job can't hold it");
                Failure::new(ExitKind::Usage, message)
            })
        })
        .collect()
}

/// The options as they would be typed. Each field is named, so that a new one is not forgotten.
fn option_words(options: &RunOptions) -> Vec<OsString> {
    let RunOptions {
        stdin: _,
        print: _,
        project,
        cwd,
        model,
        attach,
        resume: _,
        output,
        timeout,
        retries,
        no_overlap,
        strict,
        no_docs,
        no_attach,
        no_instructions,
        no_profile,
        dry_run: _,
        show_sent: _,
        engine_args,
    } = options;
    // One answer, also where the line is tried in a terminal.
    let mut words: Vec<OsString> = vec!["-p".into()];
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            words.push(name.into());
            words.push(value);
        }
    };
    option("--project", project.as_ref().map(OsString::from));
    option("--cwd", cwd.as_ref().map(OsString::from));
    option("--model", model.as_ref().map(OsString::from));
    for file in attach {
        option("--attach", Some(file.into()));
    }
    option("--output", output.map(|output| output.word().into()));
    option("--timeout", timeout.map(|time| format!("{}s", time.as_secs()).into()));
    option("--retries", retries.map(|number| number.to_string().into()));
    match no_overlap {
        None => {}
        Some(None) => words.push("--no-overlap".into()),
        Some(Some(key)) => words.push(format!("--no-overlap={key}").into()),
    }
    for (name, on) in [
        ("--strict", strict),
        ("--no-docs", no_docs),
        ("--no-attach", no_attach),
        ("--no-instructions", no_instructions),
        ("--no-profile", no_profile),
    ] {
        if *on {
            words.push(name.into());
        }
    }
    if !engine_args.is_empty() {
        words.push("--".into());
        words.extend(engine_args.iter().cloned());
    }
    words
}

/// The PATH of a job. `whole`: all of this shell's that is there, since an engine looks for its tools
/// in it as well; else the folders of the engine and of its interpreter. The system's in each case.
pub(super) fn search_path(program: &Path, whole: bool) -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = Vec::new();
    if whole {
        folders.extend(std::env::split_paths(&own).filter(|dir| dir.is_absolute() && dir.is_dir()));
    } else {
        folders.extend(program.parent().map(Path::to_owned));
        folders.extend(interpreter(program, &own).and_then(|path| Some(path.parent()?.to_owned())));
    }
    folders.extend(SYSTEM_PATH.map(PathBuf::from));
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !seen.contains(&folder) {
            seen.push(folder);
        }
    }
    std::env::join_paths(seen).unwrap_or_default()
}

/// What `#!/usr/bin/env NAME` of a script finds on this PATH.
fn interpreter(program: &Path, path: &OsStr) -> Option<PathBuf> {
    let mut head = [0; 256];
    let read = std::fs::File::open(program).and_then(|mut file| file.read(&mut head)).ok()?;
    let line = head[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    if !words.next()?.ends_with("/env") {
        return None;
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    which::which_in(name, Some(path), "/").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_as_they_were_typed() {
        use clap::Parser;
        let typed = [
            "-p",
            "--project",
            "/p",
            "--cwd",
            "/c",
            "--model",
            "m",
            "--attach",
            "/a",
            "--output",
            "json",
            "--timeout",
            "600s",
            "--retries",
            "2",
            "--no-overlap=k",
            "--strict",
            "--no-docs",
            "--no-attach",
            "--no-instructions",
            "--no-profile",
            "--",
            "--own",
            "x y",
        ];
        let words = ["omni-run", "recipe", "run", "r"].into_iter().chain(typed);
        let cli = crate::cli::Cli::try_parse_from(words).expect("command line");
        let crate::cli::Command::Recipe(crate::cli::Later(recipe)) = cli.command else {
            panic!("recipe")
        };
        let Some(crate::cli::RecipeAction::Run(run)) = recipe.action else { panic!("run") };
        assert_eq!(option_words(&run.options), typed.map(OsString::from));
    }

    #[test]
    fn the_short_path_has_engine_interpreter_and_system() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let script = dir.path().join("engine");
        std::fs::write(&script, "#!/usr/bin/env -S sh -e\n").expect("write");
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("mode");
        let path = search_path(&script, false);
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        assert_eq!(folders[0], dir.path());
        assert!(folders.ends_with(&["/bin".into()]) || folders.contains(&"/bin".into()));
        assert!(interpreter(&script, OsStr::new("/usr/bin:/bin")).expect("sh").ends_with("sh"));
    }
}
