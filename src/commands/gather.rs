//! The questions that a launch asks before it starts: prompt, project, folder, attachments, policy.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::now_ms;
use super::resumed::Resumed;
use crate::cli::{RunArgs, RunOptions};
use crate::config::SecretsPolicy;
use crate::context::{ContextSnapshot, DisplayText, SnapshotRequest, Switches, secrets};
use crate::control::actions::waiting;
use crate::engines::EngineSpec;
use crate::error::{ExitKind, Failure, did_you_mean};
use crate::launch::prompt::{self, PromptSources};
use crate::paths::Paths;
use crate::project::{Ask, Resolution, Resolved, resolve};
use crate::session::{SessionRow, Store};
use crate::ui::Ui;

/// Turns the inline text and the catalogue off, when it is exactly `1` (S43).
const KILL_SWITCH: &str = "AMC_DISABLE_DOCS_INJECTION";

/// The failure for a first word that names no engine.
pub(super) fn unknown_engine<'a>(
    wanted: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Failure {
    let near = did_you_mean(wanted, known.clone());
    let failure = Failure::new(
        ExitKind::Usage,
        format!("`{}` is no engine and no command", crate::ui::one_line(wanted)),
    )
    // It may be a prompt whose engine was forgotten.
    .logged_as("the first word is no engine and no command");
    let failure = match near.first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint(format!("engines: {}", known.collect::<Vec<_>>().join(", ")))
}

/// The prompt from wherever the command line says.
pub(super) fn read_prompt(args: &RunArgs, paths: &Paths, ui: Ui) -> Result<DisplayText, Failure> {
    let argument = args.prompt_option.clone().or_else(|| args.prompt.clone());
    let sources = PromptSources {
        argument,
        dash_is_stdin: args.prompt_option.is_none(),
        file: args.prompt_file.clone(),
        wait_for_stdin: args.options.stdin,
    };
    let nothing_given =
        sources.argument.is_none() && sources.file.is_none() && !sources.wait_for_stdin;
    if nothing_given && std::io::stdin().is_terminal() {
        return Err(Failure::new(ExitKind::BadPrompt, "there is no prompt")
            .hint("give it as an argument, with --prompt-file FILE, or on standard input"));
    }
    prompt::read(&sources, &rejected(paths), ui)
}

/// Where prompts are kept that could not be sent.
fn rejected(paths: &Paths) -> PathBuf {
    paths.data.join("rejected-prompts")
}

/// A failure before the session is recorded: the prompt is kept in a file that the message names.
pub(super) fn keep_prompt(failure: Failure, display: &DisplayText, paths: &Paths) -> Failure {
    match prompt::keep_bytes(display.as_str().as_bytes(), &rejected(paths)) {
        Ok(path) => failure.hint(format!("what you typed is kept in {}", path.display())),
        Err(error) => failure.hint(format!("what you typed could not be kept: {error}")),
    }
}

/// S92: an untried version starts, with one warning.
pub(super) fn warn_untried(ui: Ui, spec: &EngineSpec, version: Option<&str>) {
    let Some(version) = version else { return };
    if spec.tried(version) == Some(false) {
        ui.warning(&format!(
            "{}: {version} is outside the versions that omni-run was tried with ({} to {})",
            spec.name, spec.tried.from, spec.tried.to
        ));
    }
}

/// What the store says at the start of a launch.
pub(super) struct LookedUp {
    /// The project.
    pub(super) resolution: Resolution,
    /// The session to go on with.
    pub(super) resume: Option<Resumed>,
    /// How many actions wait for the person.
    pub(super) approvals: usize,
}

/// Asks the store, in one opening of it. `again`: the session whose message is sent once more.
pub(super) fn look_up(
    args: &RunOptions,
    paths: &Paths,
    here: &Path,
    again: Option<&SessionRow>,
) -> Result<LookedUp, Failure> {
    let store = Store::open_reading(paths);
    let resume = match &args.resume {
        None => None,
        Some(prefix) => {
            let store = store.as_ref().map_err(|e| {
                Failure::new(ExitKind::NotFound, format!("no session can be looked up: {e}"))
            })?;
            Some(Resumed::read(store, prefix)?)
        }
    };
    // A session goes on in its own project, or in none.
    let row = again.or(resume.as_ref().map(|resumed| &resumed.row));
    let of_row = row.and_then(project_of);
    let named = args.project.as_ref().map(std::ffi::OsString::from).or(of_row);
    let cwd = row.map_or(here, |row| &row.cwd);
    let ask = Ask { named: named.as_deref(), cwd, home: paths.home.as_deref() };
    let resolution = resolve(ask, store.as_ref())?;
    // Only for the chip: a store that can't say it costs nothing but the number.
    let approvals = store.as_ref().ok().and_then(|store| waiting(store, now_ms()).ok());
    let approvals = approvals.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    Ok(LookedUp { resolution, resume, approvals })
}

/// A session's project as `--project` would name it: a virtual one by its id, which says that it is.
fn project_of(row: &SessionRow) -> Option<std::ffi::OsString> {
    match &row.project {
        Some(id) if id.starts_with("__") => Some(id.into()),
        id => row.project_root.clone().map(Into::into).or(id.as_ref().map(Into::into)),
    }
}

/// The current folder; `/` when it was deleted under us, so that nothing is guessed from it.
pub(super) fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}

/// Where the engine runs: `--cwd`; else the resumed session's; else here if inside the project; else
/// the project folder (S50).
pub(super) fn working_dir(
    args: &RunOptions,
    here: &Path,
    project: Option<&Resolved>,
    resume: Option<&SessionRow>,
) -> Result<PathBuf, Failure> {
    let root = project.and_then(|p| p.root.as_deref());
    let real_here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let dir = match (&args.cwd, resume, root) {
        (Some(dir), _, _) => here.join(dir),
        (None, Some(row), _) => row.cwd.clone(),
        (None, None, Some(root)) if !real_here.starts_with(root) => root.to_owned(),
        (None, None, _) => here.to_owned(),
    };
    if !dir.is_dir() {
        let message = format!("the folder {} is not there", dir.display());
        return Err(Failure::new(ExitKind::NotFound, message).hint("name one with --cwd DIR"));
    }
    Ok(dir)
}

/// What a session that is gone on with has in its conversation already.
#[derive(Clone, Copy, Default)]
pub(super) struct Standing {
    /// Block and attachments.
    pub(super) block: bool,
    /// The instructions, at the head of the block.
    pub(super) instructions: bool,
}

/// What this launch wants injected. What stands in the conversation is not put in again.
pub(super) fn switches(
    args: &RunOptions,
    profile: bool,
    project: Option<&Resolved>,
    standing: Standing,
) -> Switches {
    let killed = std::env::var_os(KILL_SWITCH).is_some_and(|value| value == "1");
    let is_virtual = project.is_some_and(|p| p.virtual_);
    Switches {
        inline: !args.no_docs && !killed && !is_virtual && !standing.block,
        attachments: !args.no_attach && !standing.block,
        instructions: !args.no_instructions && !is_virtual && !standing.instructions,
        profile: profile && !args.no_profile && !is_virtual && !standing.block,
    }
}

/// The `--attach` files, absolute and there.
pub(super) fn attach_paths(args: &RunOptions, here: &Path) -> Result<Vec<PathBuf>, Failure> {
    args.attach
        .iter()
        .map(|file| {
            let path = here.join(file);
            let found = std::fs::metadata(&path).map_err(|e| e.to_string()).and_then(|meta| {
                if meta.is_file() { Ok(()) } else { Err("is not a file".to_owned()) }
            });
            found.map(|()| path).map_err(|why| {
                Failure::new(ExitKind::NotFound, format!("--attach {}: {why}", file.display()))
            })
        })
        .collect()
}

/// What to read, as far as project and folders decide it.
pub(super) fn snapshot_request(
    paths: &Paths,
    project: Option<&Resolved>,
    cwd: &Path,
) -> SnapshotRequest {
    SnapshotRequest {
        project_root: project.and_then(|p| p.root.clone()),
        cwd: cwd.to_owned(),
        order: project.map(|p| p.order.clone()).unwrap_or_default(),
        instruction_names: project.map(|p| p.instructions.clone()).unwrap_or_default(),
        custom_instructions: Some(paths.config.join("instructions.md")),
        profile: Some(paths.config.join("profile.md")),
        ..SnapshotRequest::default()
    }
}

/// Secrets in what would be sent: said by name and line, or a refusal (S72).
pub(super) fn check_secrets(
    snapshot: &ContextSnapshot,
    policy: SecretsPolicy,
    display: &DisplayText,
    paths: &Paths,
    ui: Ui,
) -> Result<(), Failure> {
    if policy == SecretsPolicy::Off {
        return Ok(());
    }
    let found: Vec<String> = secrets::scan(snapshot)
        .into_iter()
        .map(|(name, line, kind)| format!("{name}, line {line}: looks like {kind}"))
        .collect();
    if policy == SecretsPolicy::Deny && !found.is_empty() {
        let failure =
            Failure::new(ExitKind::Refused, format!("secrets in docs: {}", found.join("; ")))
                .hint("take them out, or set `secrets = \"warn\"` in config.toml");
        return Err(keep_prompt(failure, display, paths));
    }
    for line in found {
        ui.warning(&line);
    }
    Ok(())
}
