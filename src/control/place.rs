//! Where a running server is found: its lock (one server for a data folder), the port file for
//! scripts, and the socket in the file system. All are gone with the server; what a killed one left
//! is replaced by the next.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::{LockError, RunLock, UnixMs};

/// The file with the port as a number, for scripts.
pub fn port_file(paths: &Paths) -> PathBuf {
    paths.data.join("serve-port")
}

/// The port of the server that runs for this data folder, if one does.
pub fn running(paths: &Paths) -> Option<u16> {
    // The file alone proves nothing: a killed server leaves it, and its port may be another's.
    match RunLock::acquire(paths, "serve", "a look", 0) {
        Err(LockError::Held { .. }) => {}
        Ok(_) | Err(LockError::Unavailable { .. }) => return None,
    }
    fs::read_to_string(port_file(paths)).ok()?.trim().parse().ok()
}

/// The right to serve this data folder.
#[derive(Debug)]
pub struct Place {
    _lock: RunLock,
    port_file: PathBuf,
}

impl Place {
    /// Takes the place, or says who has it.
    ///
    /// # Errors
    /// [`ExitKind::Busy`] with pid and port of the other server, [`ExitKind::CannotCreate`].
    pub fn take(paths: &Paths, now: UnixMs) -> Result<Place, Failure> {
        let port_file = port_file(paths);
        match RunLock::acquire(paths, "serve", "omni-run serve", now) {
            Ok(lock) => {
                // A killed server's.
                let _ = fs::remove_file(&port_file);
                Ok(Place { _lock: lock, port_file })
            }
            Err(LockError::Held { holder, .. }) => {
                let port = fs::read_to_string(&port_file).unwrap_or_default();
                let at = match port.trim().parse::<u16>() {
                    Ok(port) => format!(", at http://127.0.0.1:{port}"),
                    Err(_) => String::new(),
                };
                let message = format!("a server runs already: {holder}{at}");
                Err(Failure::new(ExitKind::Busy, message)
                    .hint("one server is enough for all projects; end that one to start another"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Tells scripts the port.
    ///
    /// # Errors
    /// [`ExitKind::CannotCreate`].
    pub fn tell_port(&self, port: u16) -> Result<(), Failure> {
        let folder = self.port_file.parent().unwrap_or(Path::new("/"));
        let write = || -> io::Result<()> {
            let mut draft = tempfile::Builder::new().prefix(".serve-port-").tempfile_in(folder)?;
            writeln!(draft, "{port}")?;
            draft.persist(&self.port_file)?;
            Ok(())
        };
        write().map_err(|error| {
            let message = format!("the port file {}: {error}", self.port_file.display());
            Failure::new(ExitKind::CannotCreate, message)
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.port_file);
    }
}

/// A listening socket in the file system, 0600 from its first moment under its name; removed when dropped.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl SocketFile {
    /// Listens there. A socket that nobody listens on any more is replaced; anything else is not.
    ///
    /// # Errors
    /// [`ExitKind::CannotCreate`].
    pub fn listen(path: &Path) -> Result<(SocketFile, UnixListener), Failure> {
        let fail = |why: String| {
            let message = format!("the socket {} {why}", path.display());
            Failure::new(ExitKind::CannotCreate, message)
        };
        match fs::symlink_metadata(path) {
            Ok(about) if !about.file_type().is_socket() => {
                return Err(fail("cannot be made: something else has that name".to_owned()));
            }
            Ok(_) if UnixStream::connect(path).is_ok() => {
                return Err(fail("is in use by another program".to_owned()));
            }
            Ok(_) | Err(_) => {}
        }
        // Made in a folder of its own, so that nobody else gets in before it is 0600.
        let folder = path.parent().unwrap_or(Path::new("/"));
        let listen = || -> io::Result<UnixListener> {
            let draft = tempfile::Builder::new()
                .prefix(".")
                .rand_bytes(5)
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(folder)?;
            let socket = draft.path().join("s");
            let listener = UnixListener::bind(&socket)?;
            fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
            fs::rename(&socket, path)?;
            Ok(listener)
        };
        let listener = listen().map_err(|e| fail(format!("cannot be made: {e}")))?;
        let inode = fs::symlink_metadata(path).map_or(0, |about| about.ino());
        Ok((SocketFile { path: path.to_owned(), inode }, listener))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another server may have taken the name since.
        if fs::symlink_metadata(&self.path).is_ok_and(|about| about.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_for_a_data_folder() {
        let dir = tempfile::tempdir().expect("dir");
        let data = dir.path().to_owned();
        let paths = Paths { config: data.clone(), runs: data.clone(), data, home: None };
        fs::write(port_file(&paths), "1\n").expect("a stale file");
        let place = Place::take(&paths, 0).expect("free");
        assert!(!port_file(&paths).exists(), "the stale file is gone");
        place.tell_port(4000).expect("told");
        let about = fs::metadata(port_file(&paths)).expect("file");
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
        let failure = Place::take(&paths, 0).expect_err("taken");
        assert_eq!(failure.kind, ExitKind::Busy);
        let pid = format!("pid {}", std::process::id());
        assert!(failure.message.contains(&pid) && failure.message.contains(":4000"), "{failure}");
        drop(place);
        assert!(!port_file(&paths).exists());
        Place::take(&paths, 0).expect("free again");
    }

    #[test]
    fn a_dead_socket_is_replaced_and_nothing_else() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("s");
        let (file, listener) = SocketFile::listen(&path).expect("listens");
        let mode = fs::symlink_metadata(&path).expect("socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(SocketFile::listen(&path).expect_err("in use").kind, ExitKind::CannotCreate);
        // As a killed server leaves it.
        std::mem::forget(file);
        drop(listener);
        let (file, _listener) = SocketFile::listen(&path).expect("replaced");
        drop(file);
        assert!(!path.exists());
        fs::write(&path, "precious").expect("file");
        SocketFile::listen(&path).expect_err("a file is not replaced");
        assert_eq!(fs::read(&path).expect("file"), b"precious");
    }
}
