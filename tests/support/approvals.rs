//! A home with a registered project and its queue of approvals: asking as the server does, deciding
//! as a person does, without either.

use std::path::{Path, PathBuf};
use std::process::Command;

use omni_run::control::actions::{
    Action, ActionError, ActionId, Ask, Decided, Enqueued, Idempotency, IdempotencyKey, ProjectRef,
    Queue, SettingsChange, Wish,
};
use omni_run::engines::Catalogue;
use omni_run::paths::{PathEnv, Paths};
use omni_run::project::{Bucket, registry};

use super::home::{TestHome, write};

/// A moment that no test is near to.
pub const NOW: i64 = 1_800_000_000_000;

/// One week and a bit.
pub const TOO_LONG: i64 = 7 * 24 * 3600 * 1000 + 1;

/// The home, the project `p1` in it, and folders for what lies outside.
pub struct Desk {
    pub home: TestHome,
    pub project: PathBuf,
}

impl Default for Desk {
    fn default() -> Self {
        Self::new()
    }
}

impl Desk {
    pub fn new() -> Desk {
        Desk::with_docs(&[])
    }

    pub fn with_docs(docs: &[(&str, &[u8])]) -> Desk {
        let home = TestHome::new();
        let project = home.project_with_docs("p1", docs);
        let desk = Desk { home, project };
        registry::add(desk.queue().store(), &desk.project, Some("p1"), NOW).expect("project");
        desk
    }

    pub fn paths(&self) -> Paths {
        let env = self.home.env();
        let var = |name: &str| env.get(std::ffi::OsStr::new(name)).cloned();
        Paths::resolve(&PathEnv {
            home: var("HOME"),
            config_home: var("XDG_CONFIG_HOME"),
            data_home: var("XDG_DATA_HOME"),
            runtime_dir: var("XDG_RUNTIME_DIR"),
            own_config: None,
            own_data: None,
        })
    }

    /// Opened anew: what one has, the next one has from the disk.
    pub fn queue(&self) -> Queue {
        let omni = PathBuf::from(env!("CARGO_BIN_EXE_omni-run"));
        Queue::open(&self.paths()).expect("queue").with_program(omni)
    }

    /// The probe that decides in a process of its own, in this home.
    pub fn probe(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_control-probe"));
        command.args(args);
        command
    }

    pub fn project_ref(&self) -> ProjectRef {
        ProjectRef { id: "p1".to_owned(), folder: self.project.clone() }
    }

    /// A file outside the project.
    pub fn source(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.root().join("work").join(name);
        write(&path, contents);
        path
    }

    pub fn docs(&self) -> PathBuf {
        self.project.join(".claude/docs")
    }

    pub fn doc(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.docs().join(name)).ok()
    }

    /// Everything in the project, by path below it.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.project.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("folder").flatten() {
                let path = entry.path();
                let below = path.strip_prefix(&self.project).expect("below");
                if entry.file_type().expect("type").is_dir() {
                    folders.push(path);
                } else {
                    found.push(below.to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    pub fn ask_at(&self, wish: Wish, now: i64) -> Result<Enqueued, ActionError> {
        self.ask_with(wish, None, now)
    }

    pub fn ask_with(
        &self,
        wish: Wish,
        key: Option<(&str, &str)>,
        now: i64,
    ) -> Result<Enqueued, ActionError> {
        let queue = self.queue();
        let catalogue =
            Catalogue::load(&queue.paths().config.join("engines.toml")).expect("catalogue");
        let project = (!matches!(wish, Wish::Settings(_))).then(|| self.project_ref());
        let idempotency = key.map(|(key, route)| Idempotency {
            key: IdempotencyKey::parse(key.as_bytes()).expect("key"),
            route: route.to_owned(),
        });
        let ask = Ask { wish, project, asked_by: "a test".to_owned(), idempotency };
        queue.enqueue(&ask, &catalogue, now)
    }

    pub fn ask(&self, wish: Wish) -> Result<Action, ActionError> {
        self.ask_at(wish, NOW).map(|enqueued| enqueued.action)
    }

    /// Asks for what must be taken in.
    #[track_caller]
    pub fn asked(&self, wish: Wish) -> ActionId {
        self.ask(wish).expect("taken in").id
    }

    #[track_caller]
    pub fn approve(&self, id: ActionId) -> Decided {
        self.queue().approve(id, "a test", NOW + 1).expect("decided")
    }

    #[track_caller]
    pub fn get(&self, id: ActionId) -> Action {
        self.queue().get(id).expect("action")
    }
}

pub fn add(path: &Path, name: &str, bucket: Bucket) -> Wish {
    Wish::AddDoc {
        path: path.to_str().expect("UTF-8").to_owned(),
        file_name: Some(name.to_owned()),
        bucket,
        replace: false,
    }
}

pub fn replace(path: &Path, name: &str) -> Wish {
    Wish::AddDoc {
        path: path.to_str().expect("UTF-8").to_owned(),
        file_name: Some(name.to_owned()),
        bucket: Bucket::Always,
        replace: true,
    }
}

pub fn delete(name: &str, bucket: Option<Bucket>) -> Wish {
    Wish::DeleteDoc { file_name: name.to_owned(), bucket }
}

pub fn launch(engine: &str, prompt: &str) -> Wish {
    Wish::Launch { engine: engine.to_owned(), prompt: prompt.to_owned(), model: None }
}

pub fn settings(body: &serde_json::Value) -> Wish {
    Wish::Settings(SettingsChange::from_json(body).expect("settings"))
}
