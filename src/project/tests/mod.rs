//! Tests of projects on real folders and a real store, named by the case they show.

mod docs;
mod registering;
mod resolving;
mod transfer;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::paths::Paths;
use crate::session::{Store, UnixMs};

const NOW: UnixMs = 1_796_000_000_000;

/// A store and a folder for projects.
struct Place {
    _folder: TempDir,
    root: PathBuf,
    store: Store,
}

impl Place {
    fn new() -> Place {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let paths = Paths {
            config: root.join("config"),
            data: root.join("data"),
            runs: root.join("runs"),
            home: None,
        };
        let store = Store::open(&paths).unwrap();
        Place { _folder: folder, root, store }
    }

    fn dir(&self, name: &str) -> PathBuf {
        let dir = self.root.join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.store.file()).unwrap()
    }
}

fn is_text(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "md" || ending == "txt")
}
