//! The 0700 folder that holds one launch's files, 0600 each. Removed at the end, and by the next
//! start after a crash: a lock that dies with its process tells a living folder from a left one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::paths::Paths;

use super::plan::{CarryBack, LaunchPlan, RunContents};

/// The lock's name inside a run folder.
const LOCK: &str = ".lock";
/// Its name until it is locked.
const LOCK_DRAFT: &str = ".lock-draft";
/// Left folders looked at in one start: keeps a start fast whatever piled up.
const SWEEP_AT_MOST: usize = 64;

/// Names the folder outside, so that a later start can remove it too.
const OUTSIDE: &str = ".outside";

/// A run folder while the launch lasts.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    _lock: Option<Flock<File>>,
}

impl RunFolder {
    /// The folder for run folders: the usual one, or one of the data folder where another user holds
    /// the usual one's name in a shared place.
    pub fn parent(paths: &Paths) -> PathBuf {
        let usable = |dir: &Path| {
            crate::paths::create_private_dir(dir).and_then(|()| require_own(dir)).is_ok()
        };
        let own = paths.data.join("runs");
        if usable(&paths.runs) || !usable(&own) { paths.runs.clone() } else { own }
    }

    /// Makes `parent/name`, and sweeps what crashed launches left in `parent`.
    ///
    /// # Errors
    /// When the folder cannot be made, or `parent` is not this user's own folder.
    pub fn create(parent: &Path, name: &str) -> io::Result<RunFolder> {
        crate::paths::create_private_dir(parent)?;
        require_own(parent)?;
        sweep(parent);
        let path = parent.join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        // Locked before it has its name: a sweep of another start must never find it unlocked.
        let draft = path.join(LOCK_DRAFT);
        let file = new_file(&draft)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok();
        std::fs::rename(draft, path.join(LOCK))?;
        Ok(RunFolder { path, _lock: lock })
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the plan's files. Each is new: an existing one is never written through.
    ///
    /// # Errors
    /// Names the file that could not be made.
    pub fn fill(&self, plan: &LaunchPlan) -> io::Result<()> {
        if let Some(outside) = &plan.outside {
            use std::os::unix::ffi::OsStrExt;
            new_file(&self.path.join(OUTSIDE))?.write_all(outside.as_os_str().as_bytes())?;
            crate::paths::create_private_dir(outside)?;
            require_own(outside)?;
        }
        for file in &plan.files {
            self.make(&file.path, &file.contents, plan.outside.as_deref())
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.path.display())))?;
        }
        Ok(())
    }

    fn make(&self, path: &Path, contents: &RunContents, outside: Option<&Path>) -> io::Result<()> {
        let inside =
            path.starts_with(&self.path) || outside.is_some_and(|dir| path.starts_with(dir));
        match contents {
            RunContents::Dir => return crate::paths::create_private_dir(path),
            _ if !inside => return Err(io::Error::other("outside the run folder")),
            RunContents::Bytes(_) | RunContents::Link(_) | RunContents::Copy(_) => {}
        }
        if let Some(dir) = path.parent() {
            crate::paths::create_private_dir(dir)?;
        }
        match contents {
            RunContents::Bytes(bytes) => new_file(path)?.write_all(bytes),
            RunContents::Copy(of) => io::copy(&mut File::open(of)?, &mut new_file(path)?).map(drop),
            RunContents::Link(to) => symlink(to, path),
            RunContents::Dir => Ok(()),
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be removed now is swept by a later start.
        remove(&self.path);
    }
}

fn remove(folder: &Path) {
    use std::os::unix::ffi::OsStrExt;
    if let Ok(outside) = std::fs::read(folder.join(OUTSIDE)) {
        let _ = std::fs::remove_dir_all(Path::new(std::ffi::OsStr::from_bytes(&outside)));
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Takes files that the engine renewed inside an overlay back to its real folder: an engine that
/// writes by rename replaces our link by a plain file.
pub fn carry_back(back: &CarryBack) -> Vec<String> {
    let mut complaints = Vec::new();
    let Ok(entries) = std::fs::read_dir(&back.from) else { return complaints };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        let litter = name.to_string_lossy().ends_with(".tmp");
        if !plain || litter || back.ours.contains(&name) {
            continue;
        }
        let result = copy_over(&entry.path(), &back.to.join(&name));
        if let Err(error) = result {
            complaints.push(format!(
                "{} could not be taken back to {}: {error}",
                crate::ui::one_line(&name.to_string_lossy()),
                back.to.display()
            ));
        }
    }
    complaints
}

fn copy_over(from: &Path, to: &Path) -> io::Result<()> {
    let dir = to.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.as_file().set_permissions(std::fs::metadata(from)?.permissions())?;
    file.persist(to).map(drop).map_err(|e| e.error)
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A folder in a shared place such as the temporary folder could be another user's trap.
fn require_own(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(dir)?;
    let own = meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw();
    if own && meta.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{} is not a private folder of this user", dir.display()),
    ))
}

fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten().take(SWEEP_AT_MOST) {
        let Ok(lock) = OpenOptions::new().write(true).open(entry.path().join(LOCK)) else {
            continue;
        };
        if Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok() {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_is_private_removed_at_the_end_and_swept_after_a_crash() {
        let dir = tempfile::tempdir().expect("dir");
        let parent = dir.path().join("runs");
        let folder = RunFolder::create(&parent, "a").expect("create");
        let mode = std::fs::metadata(folder.path()).expect("meta").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::create_dir(parent.join("crashed")).expect("mkdir");
        std::fs::write(parent.join("crashed").join(LOCK), "").expect("lock");
        let other = RunFolder::create(&parent, "b").expect("create");
        assert!(!parent.join("crashed").exists(), "a left folder goes");
        assert!(folder.path().exists(), "a living one stays");
        drop((folder, other));
        assert_eq!(std::fs::read_dir(&parent).expect("dir").count(), 0);
    }

    #[test]
    fn renewed_files_come_back_and_links_and_ours_do_not() {
        let dir = tempfile::tempdir().expect("dir");
        let (from, to) = (dir.path().join("o"), dir.path().join("r"));
        for sub in [&from, &to] {
            std::fs::create_dir(sub).expect("mkdir");
        }
        std::fs::write(to.join("kept"), "kept").expect("write");
        symlink(to.join("kept"), from.join("kept")).expect("link");
        std::fs::write(from.join("renewed"), "new").expect("write");
        std::fs::write(from.join("OURS.md"), "ours").expect("write");
        let back = CarryBack { from, to: to.clone(), ours: vec!["OURS.md".into()] };
        assert!(carry_back(&back).is_empty());
        assert_eq!(std::fs::read_to_string(to.join("renewed")).expect("read"), "new");
        assert!(!to.join("OURS.md").exists());
    }
}
