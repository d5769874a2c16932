//! Field case A11: inputs that make a careless pass quadratic.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use super::*;
use crate::context::secrets;

/// What this thread used of the processor, so that a busy machine does not fail a test.
fn processor_time() -> Duration {
    #[cfg(target_os = "linux")]
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    #[cfg(not(target_os = "linux"))]
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// What users wait at most; unoptimised builds are some twenty times slower. A quadratic pass over
/// these inputs takes minutes in either.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 });

#[test]
fn a11_long_lines() {
    let project = Project::new();
    let line = "var a=1;function b(c){return c.d['e']};".repeat(31_000);
    let shapes = [
        "/*",
        "`",
        "<!--",
        "[",
        "](",
        "![",
        "<",
        "=",
        "password=",
        "a.",
        "*",
        "---\n",
        "```\n",
        "<h1>",
        "\u{200b}",
        "\\",
    ];
    project.write(b"0-min.js", line.as_bytes());
    for (index, shape) in shapes.iter().enumerate() {
        let text = shape.repeat(200_000 / shape.len());
        for bucket in ["", "rag/"] {
            project.write(format!("{bucket}{index:02}.md").as_bytes(), text.as_bytes());
        }
    }
    project.write(b"rag/min.js", line.as_bytes());
    project.write(b"z-small.md", b"small\n");
    let start = processor_time();
    let snapshot = project.snapshot();
    let auto = AutoContext::build(&snapshot, &delivery(200_000));
    let _ = secrets::scan(&snapshot);
    let used = processor_time() - start;
    assert!(used < LIMIT, "{used:?}");
    assert_eq!(state(&auto, "0-min.js"), DocState::Skipped);
    assert_eq!(state(&auto, "z-small.md"), DocState::Included);
    let path = project.path(b"0-min.js").display().to_string();
    assert!(auto.block().unwrap().contains(&format!("`{path}`")));
}

/// Bytes of each shape.
const SIZE: usize = if cfg!(debug_assertions) { 120_000 } else { 1_200_000 };

#[test]
fn a11_each_shape_through_the_scanners() {
    use super::super::{describe::describe, hidden, tokens};
    for shape in [
        "[",
        "](",
        "<!--",
        "<h1",
        "`",
        "\u{200d}",
        "secret=",
        "eyJ.",
        "a\u{301}",
        "x: ",
        "\"",
        "\u{e0041}",
    ] {
        let text = shape.repeat(SIZE / shape.len());
        let start = processor_time();
        let _ = describe(&text, Some("md"));
        let _ = (
            secrets::find(&text),
            hidden::find(&text),
            tokens::about(tokens::TextKind::Prose, &text),
        );
        let used = processor_time() - start;
        assert!(used < LIMIT, "{shape:?} {used:?}");
    }
}
