//! Where omni-run keeps its own things: config, data, run folders. The only module (with `launch`)
//! that knows of differences between systems. It never touches the project.

use std::ffi::OsString;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// The environment variables that decide the folders, read once at the start.
#[derive(Debug, Clone, Default)]
pub struct PathEnv {
    /// `HOME`.
    pub home: Option<OsString>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<OsString>,
    /// `XDG_DATA_HOME`.
    pub data_home: Option<OsString>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<OsString>,
    /// `OMNI_RUN_CONFIG_DIR`, `OMNI_RUN_DATA_DIR`: ours, before all.
    pub own_config: Option<OsString>,
    /// See `own_config`.
    pub own_data: Option<OsString>,
}

impl PathEnv {
    /// Reads the process environment.
    pub fn from_process() -> PathEnv {
        let var = |name| std::env::var_os(name);
        PathEnv {
            home: var("HOME"),
            config_home: var("XDG_CONFIG_HOME"),
            data_home: var("XDG_DATA_HOME"),
            runtime_dir: var("XDG_RUNTIME_DIR"),
            own_config: var("OMNI_RUN_CONFIG_DIR"),
            own_data: var("OMNI_RUN_DATA_DIR"),
        }
    }
}

/// The folders of one run.
#[derive(Debug, Clone)]
pub struct Paths {
    /// `config.toml`, `engines.toml`, `profile.md`, `instructions.md`.
    pub config: PathBuf,
    /// The database, the spool, rejected prompts.
    pub data: PathBuf,
    /// Parent of the 0700 run folders.
    pub runs: PathBuf,
    /// The home folder that was found, if any.
    pub home: Option<PathBuf>,
}

/// The folder for what does not last. A relative or empty `TMPDIR` does not count: it would be a folder
/// of the user's project.
pub fn temp_folder() -> PathBuf {
    Some(std::env::temp_dir()).filter(|dir| dir.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

impl Paths {
    /// Resolves the folders. A relative or empty variable does not count (XDG says so); without a
    /// usable `HOME` the passwd entry serves; without that, a 0700 folder of this user in the
    /// temporary folder, so that a cron job without HOME still runs.
    pub fn resolve(env: &PathEnv) -> Paths {
        let absolute =
            |v: &Option<OsString>| v.as_ref().map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute(&env.home).or_else(passwd_home);
        let fallback =
            || temp_folder().join(format!("omni-run-{}", nix::unistd::getuid().as_raw()));
        let under_home = |tail: &str| home.as_ref().map(|h| h.join(tail));
        let config = absolute(&env.own_config)
            .or_else(|| absolute(&env.config_home).map(|p| p.join("omni-run")))
            .or_else(|| under_home(".config/omni-run"))
            .unwrap_or_else(|| fallback().join("config"));
        let data = absolute(&env.own_data)
            .or_else(|| absolute(&env.data_home).map(|p| p.join("omni-run")))
            .or_else(|| under_home(".local/share/omni-run"))
            .unwrap_or_else(|| fallback().join("data"));
        let runs = absolute(&env.runtime_dir)
            .filter(|p| p.is_dir())
            .map(|p| p.join("omni-run"))
            .unwrap_or_else(fallback);
        Paths { config, data, runs, home }
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.data.join("omni-run.db")
    }

    /// Where rows wait that the database could not take.
    pub fn spool(&self) -> PathBuf {
        self.data.join("spool")
    }
}

/// Makes `dir` and its missing parents, each with mode 0700; an existing folder is left as it is.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// How a folder is opened that is only a step on the way. On Linux it need not be readable: a home
/// that others may pass through but not list is one.
#[cfg(target_os = "linux")]
pub(crate) const STEP: OFlag = OFlag::O_PATH;
/// See above; this system has no such way.
#[cfg(not(target_os = "linux"))]
pub(crate) const STEP: OFlag = OFlag::O_RDONLY;

/// Sets a file to 0600: for files that another library made with the user's umask.
pub fn make_private(file: &Path) -> io::Result<()> {
    std::fs::set_permissions(file, Permissions::from_mode(0o600))
}

fn passwd_home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok()??;
    Some(user.dir).filter(|dir| dir.is_absolute())
}
