//! `omni-run schedule`: a recipe as a job for cron and for systemd. It checks all that the job will
//! need, prints, and installs nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::gather::current_dir;
use super::recipe::{Place, prepare};
use super::schedule_words::{recipe_words, search_path};
use super::target::unknown;
use super::{Workplace, print};
use crate::cli::{RecipeRunArgs, RunArgs, ScheduleArgs, ScheduleFormat};
use crate::engines::detect;
use crate::error::{ExitKind, Failure};
use crate::recipes::Recipe;
use crate::schedule::cron::Cron;
use crate::schedule::{Job, crontab, systemd};
use crate::ui::{Ui, one_line};

/// Runs that are told beforehand.
const NEXT_RUNS: usize = 3;

/// Variables that say where omni-run and the engines keep their settings: without them a job would
/// use others than this shell.
const FOLDER_VARIABLES: [&str; 4] =
    ["OMNI_RUN_CONFIG_DIR", "OMNI_RUN_DATA_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Carries the command out.
pub(super) fn schedule(args: ScheduleArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let ScheduleArgs { cron, format, log_file, recipe: run } = args;
    let cron = Cron::parse(&cron).map_err(|why| {
        Failure::new(ExitKind::Usage, format!("--cron: {why}"))
            .hint("for example \"0 7 * * mon-fri\": at seven on weekdays; or @daily")
    })?;
    let options = &run.options;
    if options.resume.is_some() || options.dry_run || options.show_sent || options.stdin {
        let message = "--resume, --stdin, --dry-run and --show-sent are not for a job";
        return Err(Failure::new(ExitKind::Usage, message));
    }
    let place = Workplace::open()?;
    let shelf = Place::of(run.options.project.as_deref())?;
    let recipe = shelf.shelves().find(&run.recipe)?;
    let (folder, words) = folder_and_words(&shelf, &recipe, &run, log_file.as_deref())?;
    let launch = prepare(&shelf, &recipe, run, ui)?;
    let program = engine_program(&place, &launch)?;
    let mut job = Job {
        unit: format!("omni-run-{}", unit_name(&recipe.name)),
        description: format!("omni-run recipe {}: {}", recipe.name, recipe.description()),
        folder,
        env: environment(&place, &search_path(&program, true))?,
        words,
    };
    if let Some(word) = job.unprintable() {
        let message = format!("`{}` has a line break, which no job can hold", one_line(word));
        return Err(Failure::new(ExitKind::Usage, message)
            .hint("give the value as a default in the recipe's front matter"));
    }
    if format != Some(ScheduleFormat::Systemd) {
        fit(&mut job, &place, &program, ui)?;
    }
    say(&cron, &launch, ui);
    let mut text = String::new();
    if format != Some(ScheduleFormat::Systemd) {
        text.push_str(&format!("# {}\n{}\n", job.description, crontab::line(&job, &cron)));
    }
    if format != Some(ScheduleFormat::Crontab) {
        let between = if text.is_empty() { "" } else { "\n" };
        let (service, timer) = (systemd::service(&job), systemd::timer(&job, &cron));
        let unit = &job.unit;
        text.push_str(&format!(
            "{between}# ~/.config/systemd/user/{unit}.service\n{service}\n\
             # ~/.config/systemd/user/{unit}.timer\n{timer}\n\
             # systemctl --user daemon-reload && systemctl --user enable --now {unit}.timer\n"
        ));
    }
    print(ui, &text)
}

/// Where the job starts, and its words. A recipe's own project is named by nothing on the command
/// line: the job starts where the recipe is found.
fn folder_and_words(
    shelf: &Place,
    recipe: &Recipe,
    run: &RecipeRunArgs,
    log_file: Option<&Path>,
) -> Result<(Option<String>, Vec<String>), Failure> {
    let here = current_dir();
    let mut options = run.options.clone();
    for path in options.attach.iter_mut().chain(&mut options.cwd) {
        *path = here.join(&*path);
    }
    let root = shelf.root.as_deref().map(as_text).transpose()?;
    let by_place = options.project.is_none() && recipe.settings.project.is_some();
    if !by_place {
        options.project = root.clone().or(options.project);
    }
    // Without a project the engine runs where it is started: here, not in the home folder.
    let start = if by_place { root } else { None };
    let folder = match (&options.project, start) {
        (_, Some(start)) => Some(start),
        (None, None) => Some(as_text(&here)?),
        (Some(_), None) => None,
    };
    let mut words = vec![as_text(&own_program()?)?];
    if let Some(file) = log_file {
        words.extend(["--log-file".to_owned(), as_text(&here.join(file))?]);
    }
    words.extend(recipe_words(&recipe.name, &run.set, run.engine.as_deref(), &options)?);
    Ok((folder, words))
}

fn engine_program(place: &Workplace, launch: &RunArgs) -> Result<PathBuf, Failure> {
    let id = launch.engine.as_ref().or(place.config.default_engine.value.as_ref());
    let id = id.ok_or_else(|| {
        Failure::new(ExitKind::Usage, "no engine is named and none is the default")
            .hint("name one in the recipe or with --engine")
    })?;
    let spec = place.catalogue.get(id).ok_or_else(|| unknown(place, id))?;
    Ok(detect::find(id, spec, std::env::var_os("PATH").as_deref())?.program)
}

/// HOME, PATH, and the folders that are named by variables here.
fn environment(place: &Workplace, path: &OsStr) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut env = Vec::new();
    if let Some(home) = &place.paths.home {
        env.push(("HOME", as_text(home)?));
    }
    env.push(("PATH", as_text(Path::new(path))?));
    for name in FOLDER_VARIABLES {
        if let Some(folder) = std::env::var_os(name).map(PathBuf::from)
            && folder.is_absolute()
        {
            env.push((name, as_text(&folder)?));
        }
    }
    Ok(env)
}

/// A command that cron would cut gets a shorter PATH.
fn fit(job: &mut Job, place: &Workplace, program: &Path, ui: Ui) -> Result<(), Failure> {
    let fits = |job: &Job| crontab::command(job).len() <= crontab::LONGEST_COMMAND;
    if fits(job) {
        return Ok(());
    }
    job.env = environment(place, &search_path(program, false))?;
    if fits(job) {
        ui.warning(
            "the whole PATH of this shell would make the line too long for cron; it has the folders \
             of the engine and of the system only",
        );
        return Ok(());
    }
    let most = crontab::LONGEST_COMMAND;
    let message = format!("the command is longer than the {most} bytes that every cron takes");
    Err(Failure::new(ExitKind::Usage, message)
        .hint("--format systemd has no such limit")
        .hint("give long values as defaults in the recipe's front matter"))
}

fn say(cron: &Cron, launch: &RunArgs, ui: Ui) {
    let zone = jiff::tz::TimeZone::system();
    let mut now = jiff::Timestamp::now().to_zoned_datetime(zone).datetime();
    let mut times = Vec::new();
    while times.len() < NEXT_RUNS
        && let Some(next) = cron.next_after(now)
    {
        times.push(next.strftime("%a %Y-%m-%d %H:%M").to_string());
        now = next;
    }
    ui.status(&format!("next: {}", times.join(", ")));
    if launch.options.no_overlap.is_none() {
        ui.hint("with --no-overlap a run that is not done yet is not joined by a second one");
    }
    if launch.options.timeout.is_none() {
        ui.hint("with --timeout a run that hangs comes to an end");
    }
}

/// omni-run itself: by its name on PATH where that leads to this program, so that an update of it
/// counts; else the file.
fn own_program() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(anyhow::Error::from)?;
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let by_name = which::which_in("omni-run", std::env::var_os("PATH"), "/").ok();
    let same = by_name.filter(|path| path.canonicalize().is_ok_and(|path| path == real));
    Ok(same.unwrap_or(own))
}

fn as_text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let shown = crate::context::names::shown_path(path);
        Failure::new(ExitKind::Usage, format!("{shown} is not UTF-8: a job can't name it"))
    })
}

/// A part of a unit's name.
fn unit_name(recipe: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    recipe.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}
