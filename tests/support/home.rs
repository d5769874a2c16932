//! A home of its own for each test, so that no test sees the machine's files or another test's.
//!
//! Every program of a test starts with an emptied environment plus what this home sets. It knows
//! nothing of any engine; `engines.rs` puts their settings in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::RwLock;

/// Temporary folders and the environment that points into them; removed on drop.
///
/// `OMNI_KEEP_TEST_HOMES=1` keeps the folder and prints where it is.
pub struct TestHome {
    root: PathBuf,
    env: RwLock<BTreeMap<OsString, OsString>>,
    folder: Option<tempfile::TempDir>,
}

/// The folders, by the variable that names each.
const FOLDERS: [(&str, &str); 7] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/.config"),
    ("XDG_DATA_HOME", "home/.local/share"),
    ("XDG_STATE_HOME", "home/.local/state"),
    ("XDG_CACHE_HOME", "home/.cache"),
    ("XDG_RUNTIME_DIR", "run"),
    ("TMPDIR", "tmp"),
];

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    /// Makes the folders.
    pub fn new() -> Self {
        // Short, because sockets below it have a path limit of 108 bytes.
        let folder = tempfile::Builder::new().prefix("omni-").tempdir().expect("temporary folder");
        // On macOS the temporary folder is behind a link; engines compare real paths.
        let root = folder.path().canonicalize().expect("real path of the temporary folder");
        let mut env = BTreeMap::new();
        for (variable, place) in FOLDERS {
            let path = root.join(place);
            std::fs::create_dir_all(&path).expect("folder of the test home");
            env.insert(variable.into(), path.into_os_string());
        }
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(root.join("run"), private).expect("private runtime folder");
        let bin = root.join("bin");
        for place in [&bin, &root.join("projects")] {
            std::fs::create_dir(place).expect("folder of the test home");
        }
        let mut path = bin.into_os_string();
        path.push(":/usr/bin:/bin");
        env.insert("PATH".into(), path);
        env.insert("LANG".into(), "C.UTF-8".into());
        env.insert("TERM".into(), "xterm-256color".into());
        Self { root, env: RwLock::new(env), folder: Some(folder) }
    }

    /// The folder that holds all others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `$HOME`
    pub fn home(&self) -> PathBuf {
        self.folder_of("HOME")
    }

    /// `$XDG_CONFIG_HOME`
    pub fn config(&self) -> PathBuf {
        self.folder_of("XDG_CONFIG_HOME")
    }

    /// `$XDG_DATA_HOME`
    pub fn data(&self) -> PathBuf {
        self.folder_of("XDG_DATA_HOME")
    }

    /// `$XDG_STATE_HOME`
    pub fn state(&self) -> PathBuf {
        self.folder_of("XDG_STATE_HOME")
    }

    /// `$XDG_CACHE_HOME`
    pub fn cache(&self) -> PathBuf {
        self.folder_of("XDG_CACHE_HOME")
    }

    /// `$XDG_RUNTIME_DIR`
    pub fn runtime(&self) -> PathBuf {
        self.folder_of("XDG_RUNTIME_DIR")
    }

    /// `$TMPDIR`
    pub fn tmp(&self) -> PathBuf {
        self.folder_of("TMPDIR")
    }

    /// The first folder on `PATH`, empty at the start.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The folder that the projects lie in.
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// Makes an empty project folder (not a git repository) and gives its path.
    pub fn project(&self, name: &str) -> PathBuf {
        let path = self.projects().join(name);
        std::fs::create_dir_all(&path).expect("project folder");
        path
    }

    /// Makes a project with these docs, given by their path below `.claude/docs`.
    pub fn project_with_docs(&self, name: &str, docs: &[(&str, &[u8])]) -> PathBuf {
        let project = self.project(name);
        for (doc, contents) in docs {
            write(project.join(".claude/docs").join(doc), contents);
        }
        project
    }

    /// Puts a program on `PATH` under this name.
    pub fn install(&self, name: &str, program: &Path) {
        let link = self.bin().join(name);
        let _ = std::fs::remove_file(&link);
        symlink(program, link).expect("link to the program");
    }

    /// Puts an executable script on `PATH` under this name.
    pub fn install_script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.bin().join(name);
        write(&path, text);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("executable script");
        path
    }

    /// Sets a variable for every program that starts from here on.
    pub fn set_env(&self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.env.write().expect("env").insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    /// The whole environment that programs of this home start with.
    pub fn env(&self) -> BTreeMap<OsString, OsString> {
        self.env.read().expect("env").clone()
    }

    /// A program with the environment of this home and nothing else.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env()).current_dir(self.home());
        command
    }

    /// The `omni-run` under test.
    pub fn omni(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_omni-run"))
    }

    fn folder_of(&self, variable: &str) -> PathBuf {
        PathBuf::from(&self.env.read().expect("env")[OsStr::new(variable)])
    }
}

impl Drop for TestHome {
    fn drop(&mut self) {
        if std::env::var_os("OMNI_KEEP_TEST_HOMES").is_some()
            && let Some(folder) = self.folder.take()
        {
            super::process::say(&format!("kept {}", folder.keep().display()));
        }
    }
}

/// Writes a file and the folders above it.
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
    let path = path.as_ref();
    let parent = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(parent).expect("folder of the file");
    std::fs::write(path, contents).unwrap_or_else(|e| panic!("write {}: {e}", path.display()));
}
