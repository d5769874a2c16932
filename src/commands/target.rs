//! An engine as the docs commands need it: with its model, its window and so its budget, found the
//! way a launch finds them, so that list, preview and launch agree.

use std::path::{Path, PathBuf};

use super::Workplace;
use super::gather::{Standing, current_dir, snapshot_request, switches, working_dir};
use crate::cli::RunOptions;
use crate::context::{AutoContext, ContextSnapshot, Delivery, Reading, SnapshotRequest, folder};
use crate::engines::{Engine, EngineSpec, Host, LaunchMode, detect};
use crate::error::{ExitKind, Failure, did_you_mean};
use crate::project::Resolved;

/// An engine with a model.
pub(super) struct Target {
    pub(super) engine: Box<dyn Engine>,
    /// As asked for or configured in omni-run; `None`: the engine's own choice.
    pub(super) model: Option<String>,
    pub(super) delivery: Delivery,
}

/// Whether an engine's program may be started to ask for its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Programs {
    /// Once; then it is cached.
    Ask,
    /// Only what is cached counts: for who may not start anything.
    LeaveAlone,
}

impl Target {
    /// The engine that is named; else the configured one; else the one with the widest budget, the
    /// first of several by id.
    pub(super) fn choose(
        place: &Workplace,
        engine: Option<&str>,
        model: Option<&str>,
        cwd: &Path,
    ) -> Result<Target, Failure> {
        Target::choose_with(place, engine, model, cwd, Programs::Ask)
    }

    /// [`Target::choose`], with a say on whether programs are started.
    pub(super) fn choose_with(
        place: &Workplace,
        engine: Option<&str>,
        model: Option<&str>,
        cwd: &Path,
        programs: Programs,
    ) -> Result<Target, Failure> {
        match engine.or(place.config.default_engine.value.as_deref()) {
            Some(id) => {
                let spec = place.catalogue.get(id).ok_or_else(|| unknown(place, id))?;
                Ok(Target::new(place, id, spec, model, cwd, programs))
            }
            None => place
                .catalogue
                .iter()
                .map(|(id, spec)| Target::new(place, id, spec, model, cwd, programs))
                .reduce(|best, next| if next.budget() > best.budget() { next } else { best })
                .ok_or_else(|| Failure::new(ExitKind::Config, "the catalogue has no engine")),
        }
    }

    /// Every engine of the catalogue, with the model that is configured for it.
    pub(super) fn all(place: &Workplace, cwd: &Path) -> Vec<Target> {
        let new = |(id, spec)| Target::new(place, id, spec, None, cwd, Programs::Ask);
        place.catalogue.iter().map(new).collect()
    }

    fn new(
        place: &Workplace,
        id: &str,
        spec: &EngineSpec,
        model: Option<&str>,
        cwd: &Path,
        programs: Programs,
    ) -> Target {
        let engine = crate::engines::engine(id, spec);
        let configured_here = || place.config.models.value.get(id).cloned();
        let model = model.map(str::to_owned).or_else(configured_here);
        let version = deciding_version(place, id, spec, programs);
        let host = Host {
            env: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            home: place.paths.home.clone(),
            cwd: cwd.to_owned(),
            version: version.clone(),
        };
        let window = engine.configured(&host).window(spec, model.as_deref(), version.as_deref());
        let delivery = engine.delivery(window, LaunchMode::OneShot);
        Target { engine, model, delivery }
    }

    /// In bytes.
    pub(super) fn budget(&self) -> u64 {
        self.delivery.budget().bytes()
    }

    /// Its id.
    pub(super) fn id(&self) -> &str {
        self.engine.id().as_str()
    }

    /// What this engine gets of a snapshot.
    pub(super) fn build(&self, snapshot: &ContextSnapshot) -> AutoContext {
        self.engine.first_message_auto_context(snapshot, &self.delivery)
    }
}

/// The failure for an engine that is not in the catalogue.
pub(super) fn unknown(place: &Workplace, id: &str) -> Failure {
    let failure = Failure::new(ExitKind::Usage, format!("there is no engine `{id}`"));
    let near = did_you_mean(id, place.catalogue.iter().map(|(id, _)| id));
    match near.first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`omni-run engines` lists them"),
    }
}

/// The engine's version where a window depends on it; asked of the binary once, then cached. The
/// other engines are not started for a list.
fn deciding_version(
    place: &Workplace,
    id: &str,
    spec: &EngineSpec,
    programs: Programs,
) -> Option<String> {
    if !spec.windows.iter().any(|rule| rule.since.is_some() || rule.until.is_some()) {
        return None;
    }
    let path = std::env::var_os("PATH");
    let found = detect::find(id, spec, path.as_deref()).ok()?;
    match programs {
        Programs::LeaveAlone => detect::known_version(&found, &version_cache(place)),
        Programs::Ask => {
            let child_path = detect::child_path(spec, &found, path.as_deref());
            detect::version(&found, spec, &version_cache(place), &child_path)
        }
    }
}

/// Where the versions of the programs are kept.
pub(super) fn version_cache(place: &Workplace) -> PathBuf {
    place.paths.data.join("engine-versions.json")
}

/// Where a launch from here would run.
pub(super) fn cwd(project: Option<&Resolved>) -> Result<PathBuf, Failure> {
    working_dir(&RunOptions::default(), &current_dir(), project, None)
}

/// The docs folder as a launch in `cwd` would read it.
pub(super) fn snapshot(
    place: &Workplace,
    project: Option<&Resolved>,
    cwd: &Path,
    reading: Reading,
) -> ContextSnapshot {
    let args = RunOptions::default();
    folder::snapshot(&SnapshotRequest {
        switches: switches(&args, place.config.profile.value, project, Standing::default()),
        reading,
        ..snapshot_request(&place.paths, project, cwd)
    })
}
