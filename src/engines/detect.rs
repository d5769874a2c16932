//! Finding an engine on this machine: PATH look-up, a check that it can be executed, its version.
//! It starts nothing but `PROGRAM --version`, and that only when the cache has no answer.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::catalogue::EngineSpec;
use crate::error::{ExitKind, Failure};
use crate::launch::below::TOKEN_VARIABLE;

/// How long a `--version` may take: the slowest engine needs about 3 s on a loaded machine.
const VERSION_TIME: Duration = Duration::from_secs(20);

/// An engine's program on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Absolute path, as found (links not resolved).
    pub program: PathBuf,
}

/// Looks the program up: the configured path, else the names on PATH. Empty and relative items of
/// PATH are not searched: they would run a program out of the project.
///
/// # Errors
/// [`ExitKind::EngineUnavailable`] naming what was looked for, where, and how to get it.
pub fn find(id: &str, spec: &EngineSpec, path: Option<&OsStr>) -> Result<Found, Failure> {
    if spec.adapter == super::echo::ADAPTER {
        let program = std::env::current_exe().map_err(|e| {
            Failure::new(ExitKind::EngineUnavailable, format!("cannot find omni-run itself: {e}"))
        })?;
        return Ok(Found { program });
    }
    if let Some(program) = &spec.path {
        check_executable(program).map_err(|why| {
            Failure::new(
                ExitKind::EngineUnavailable,
                format!("{}: {} {why}", spec.name, program.display()),
            )
            .hint(format!("correct `{id}.path` in the config folder's engines.toml"))
        })?;
        return Ok(Found { program: program.clone() });
    }
    let dirs: Vec<PathBuf> = path
        .map(|path| std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect())
        .unwrap_or_default();
    let joined = std::env::join_paths(&dirs).unwrap_or_default();
    for name in &spec.programs {
        if let Ok(program) = which::which_in(name, Some(&joined), "/") {
            check_executable(&program).map_err(|why| {
                Failure::new(
                    ExitKind::EngineUnavailable,
                    format!("{}: {} {why}", spec.name, program.display()),
                )
                .hint(format!("reinstall it: {}", spec.install))
            })?;
            return Ok(Found { program });
        }
    }
    let searched = match path {
        None => "PATH is not set".to_owned(),
        Some(path) => format!("searched PATH={}", path.to_string_lossy()),
    };
    Err(Failure::new(
        ExitKind::EngineUnavailable,
        format!("{}: no `{}` found; {searched}", spec.name, spec.programs.join("` or `")),
    )
    .logged_as(format!("{}: no `{}` found on PATH", spec.name, spec.programs.join("` or `")))
    .hint(format!("install it: {}", spec.install))
    .hint(format!(
        "or set its absolute path: `[{id}]` with `path = \"/…/{}\"` in the config folder's engines.toml",
        spec.programs.first().map_or("", String::as_str)
    )))
}

/// Whether a file can be executed, its `#!` interpreter included: a spawn with a bad one fails in
/// ways that name the wrong file.
fn check_executable(program: &Path) -> Result<(), String> {
    let meta = std::fs::metadata(program).map_err(|e| format!("cannot be used: {e}"))?;
    if !meta.is_file() {
        return Err("is not a file".into());
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return Err("is not executable".into());
    }
    let mut head = [0u8; 256];
    let Ok(n) = std::fs::File::open(program).and_then(|mut f| f.read(&mut head)) else {
        // Execute-only files exist; the kernel will say.
        return Ok(());
    };
    let Some(line) = head[..n].strip_prefix(b"#!") else { return Ok(()) };
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line);
    let interpreter = text.split_whitespace().next().unwrap_or_default();
    if interpreter.is_empty() || Path::new(interpreter).exists() {
        return Ok(());
    }
    Err(format!("needs the interpreter {interpreter}, which is not there"))
}

/// The version that the program prints, from the cache file where the program is unchanged (same
/// path, size and time), else by running it. `None` when it can't be had; that stops nothing.
pub fn version(found: &Found, spec: &EngineSpec, cache: &Path, env_path: &OsStr) -> Option<String> {
    if spec.version_args.is_empty() {
        // Started bare, an agent may open a session.
        return None;
    }
    let key = cache_key(&found.program)?;
    let mut entries = read_cache(cache);
    if let Some(known) = entries.get(&key).and_then(|v| v.as_str()) {
        return Some(known.to_owned()).filter(|v| !v.is_empty());
    }
    let version = ask_version(&found.program, &spec.version_args, env_path);
    entries.retain(|old, _| !old.starts_with(&format!("{}\n", found.program.display())));
    entries.insert(key, version.clone().unwrap_or_default().into());
    // The cache is a convenience: a folder that cannot be written costs only time.
    let _ = write_cache(cache, &entries);
    version
}

/// [`version`], as far as the cache file knows it: no program is started.
pub fn known_version(found: &Found, cache: &Path) -> Option<String> {
    let known = read_cache(cache).remove(&cache_key(&found.program)?)?;
    known.as_str().filter(|version| !version.is_empty()).map(str::to_owned)
}

fn read_cache(cache: &Path) -> serde_json::Map<String, serde_json::Value> {
    let bytes = std::fs::read(cache).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn cache_key(program: &Path) -> Option<String> {
    let real = std::fs::canonicalize(program).ok()?;
    let meta = std::fs::metadata(&real).ok()?;
    Some(format!("{}\n{}\n{}\n{}", program.display(), real.display(), meta.len(), meta.mtime()))
}

fn write_cache(
    cache: &Path,
    entries: &serde_json::Map<String, serde_json::Value>,
) -> std::io::Result<()> {
    let dir = cache.parent().unwrap_or(Path::new("/"));
    crate::paths::create_private_dir(dir)?;
    // tempfile makes it 0600; the rename keeps two writers from mixing their bytes.
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    serde_json::to_writer(&mut file, entries)?;
    file.persist(cache).map(drop).map_err(|e| e.error)
}

fn ask_version(program: &Path, args: &[String], env_path: &OsStr) -> Option<String> {
    let output = tempfile::tempfile().ok()?;
    let errors = output.try_clone().ok()?;
    let child = Command::new(program)
        .args(args)
        .env_remove(TOKEN_VARIABLE)
        .env("PATH", env_path)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output.try_clone().ok()?))
        // One engine prints its version on stderr when stdin is no terminal.
        .stderr(Stdio::from(errors))
        .process_group(0)
        .spawn()
        .ok()?;
    let group = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let (tell, told) = std::sync::mpsc::channel();
    let mut child = child;
    let waiter = std::thread::spawn(move || tell.send(child.wait()));
    if told.recv_timeout(VERSION_TIME).is_err() {
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        return None;
    }
    // Gone before the launch forks its watcher: a fork wants one thread.
    let _ = waiter.join();
    let mut text = String::new();
    let mut output = output;
    std::io::Seek::rewind(&mut output).ok()?;
    output.take(64 << 10).read_to_string(&mut text).ok()?;
    text.lines()
        .map(str::trim)
        .find(|line| !super::catalogue::version_key(line).is_empty())
        .map(str::to_owned)
}

/// The child's PATH: the user's, with the engine's own folder in front when a path was configured,
/// so that what the engine itself looks for beside it (node, helpers) is found under cron.
pub fn child_path(spec: &EngineSpec, found: &Found, path: Option<&OsStr>) -> OsString {
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    match (spec.path.is_some(), found.program.parent()) {
        (true, Some(dir)) => {
            let all = std::iter::once(dir.to_owned()).chain(std::env::split_paths(path));
            std::env::join_paths(all).unwrap_or_else(|_| path.to_owned())
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(dir: &Path, name: &str, text: &str, mode: u32) {
        let file = dir.join(name);
        std::fs::write(&file, text).expect("write");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("chmod");
    }

    fn spec() -> EngineSpec {
        EngineSpec {
            name: "X".into(),
            programs: vec!["xeng".into()],
            install: "get xeng".into(),
            version_args: vec!["--version".into()],
            ..EngineSpec::default()
        }
    }

    #[test]
    fn f01_only_absolute_path_items_and_executable_files_count() {
        let dir = tempfile::tempdir().expect("dir");
        let (bad, good) = (dir.path().join("bad"), dir.path().join("good"));
        for sub in [&bad, &good] {
            std::fs::create_dir(sub).expect("mkdir");
        }
        script(&bad, "xeng", "#!/bin/sh\n", 0o644);
        script(&good, "xeng", "#!/bin/sh\necho 'xeng 1.2.3'\n", 0o755);
        let path =
            std::env::join_paths([Path::new("."), Path::new(""), &bad, &good]).expect("path");
        let found = find("xeng", &spec(), Some(&path)).expect("found");
        assert_eq!(found.program, good.join("xeng"));
        let cache = dir.path().join("cache/versions.json");
        assert_eq!(version(&found, &spec(), &cache, &path).as_deref(), Some("xeng 1.2.3"));
        assert!(cache.exists());
        assert_eq!(known_version(&found, &cache).as_deref(), Some("xeng 1.2.3"));
        assert_eq!(known_version(&found, &dir.path().join("none")), None);
    }

    #[test]
    fn f01_not_found_names_program_path_and_remedy() {
        let failure = find("xeng", &spec(), Some(OsStr::new("/nowhere:."))).expect_err("none");
        assert_eq!(failure.kind, ExitKind::EngineUnavailable);
        assert!(failure.message.contains("`xeng`") && failure.message.contains("PATH=/nowhere:."));
        assert!(failure.hints[0].contains("get xeng") && failure.hints[1].contains("path ="));
        assert!(find("xeng", &spec(), None).expect_err("none").message.contains("PATH is not set"));
    }

    #[test]
    fn a_missing_interpreter_is_named() {
        let dir = tempfile::tempdir().expect("dir");
        script(dir.path(), "xeng", "#!/no/such/node\n", 0o755);
        let failure = find("xeng", &spec(), Some(dir.path().as_os_str())).expect_err("interpreter");
        assert!(failure.message.contains("/no/such/node"), "{failure}");
    }
}
