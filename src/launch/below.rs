//! Whether this process runs below an engine that omni-run has started. An engine acts for its model;
//! what only a person may decide, nothing below an engine may.
//!
//! Every launch sets a variable, and an engine's children inherit it. A child can drop it, but not
//! from its parents: on Linux their environments are read too. A program that leaves its process tree
//! on purpose is not found; it has this user's rights and could write the store itself.

use std::ffi::OsStr;

/// Set for each engine: the id of its session.
pub const SESSION_VARIABLE: &str = "OMNI_RUN_SESSION";

/// Where a script may keep the API's token; no engine inherits it (H07).
pub const TOKEN_VARIABLE: &str = "OMNI_RUN_TOKEN";

/// The session below which this process runs.
pub fn session_above() -> Option<String> {
    let own = std::env::var_os(SESSION_VARIABLE);
    own.map(|value| value.to_string_lossy().into_owned()).or_else(in_parents)
}

/// How many parents are asked: far more than any shell in a tool in an engine has.
#[cfg(target_os = "linux")]
const PARENTS: usize = 64;

#[cfg(target_os = "linux")]
fn in_parents() -> Option<String> {
    let mut pid = nix::unistd::getppid().as_raw();
    for _ in 0..PARENTS {
        if pid <= 1 {
            return None;
        }
        // A parent of another user can't be read; what is above it may be.
        if let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ"))
            && let Some(session) = value_in(&environment, SESSION_VARIABLE)
        {
            return Some(session);
        }
        pid = parent_of(pid)?;
    }
    None
}

/// Other systems show nobody the environment of a process.
#[cfg(not(target_os = "linux"))]
fn in_parents() -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
pub(super) fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets too.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux shows environments"))]
fn value_in(environment: &[u8], name: &str) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsStr::from_bytes(value).to_string_lossy().into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_found_by_its_whole_name() {
        let environment = b"A=1\0XOMNI_RUN_SESSION=no\0OMNI_RUN_SESSION=s1\0B=2\0";
        assert_eq!(value_in(environment, SESSION_VARIABLE).as_deref(), Some("s1"));
        assert_eq!(value_in(b"OMNI_RUN_SESSIONS=x\0", SESSION_VARIABLE), None);
    }
}
