//! The adapter for an engine that exists in TOML alone, and the base plan that the other adapters
//! start from: arguments in their order, the sent text on its channel, instructions and attachments
//! where an option carries them.

use std::path::{Path, PathBuf};

use super::*;
use crate::launch::plan::{Channels, StdinPlan};

adapter!(
    /// Any engine of the user's catalogue.
    Generic
);

impl Engine for Generic {
    fn id(&self) -> &EngineId {
        &self.id
    }

    fn catalogue(&self) -> &EngineSpec {
        &self.spec
    }

    fn first_message_auto_context(
        &self,
        snapshot: &ContextSnapshot,
        delivery: &Delivery,
    ) -> AutoContext {
        AutoContext::build(snapshot, delivery)
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut plan = base(&self.spec, request, first)?;
        message(&mut plan, &self.spec, request, first.sent().to_text())?;
        Ok(plan)
    }

    fn dialogue(&self, _plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        Box::new(dialogue::Plain::new(self.spec.one_shot.empty_is_failure))
    }
}

/// Everything but the message: program, arguments, environment, model, session, instructions and
/// attachments by option, then the user's own arguments.
pub(super) fn base(
    spec: &EngineSpec,
    request: &LaunchRequest,
    first: &FirstMessage,
) -> Result<LaunchPlan, PlanError> {
    let channels = Channels {
        message: spec.one_shot.message,
        instructions: spec.one_shot.instructions,
        attachments: spec.attachments.channel,
    };
    let mut plan = LaunchPlan::bare(&request.program, &request.cwd, channels);
    plan.env.extend(spec.env.iter().map(|(k, v)| (k.clone(), v.into())));
    let session = &request.session;
    let chosen = match spec.one_shot.session_id.as_str() {
        "" => session.clone(),
        pattern => pattern
            .replace("{session_id}", session)
            .replace("{turned_session_id}", &turned(session)),
    };
    let engines = request.resume.as_ref().unwrap_or(&chosen);
    let fill = |text: &String| {
        text.replace("{model}", request.model.as_deref().unwrap_or_default())
            .replace("{session_id}", session)
            .replace("{engine_session_id}", engines)
            .replace("{cwd}", &request.cwd.to_string_lossy())
    };
    plan.args.extend(spec.one_shot.args.iter().map(fill).map(Into::into));
    if request.model.is_some() {
        plan.args.extend(spec.one_shot.model_args.iter().map(fill).map(Into::into));
    }
    match &request.resume {
        Some(id) => {
            if spec.one_shot.resume_args.is_empty() {
                return Err(PlanError::NoResume {
                    engine: spec.name.clone(),
                    id: request.engine.to_string(),
                });
            }
            plan.args.extend(spec.one_shot.resume_args.iter().map(fill).map(Into::into));
            plan.engine_session = Some(id.clone());
        }
        None if !spec.one_shot.session_args.is_empty() => {
            plan.args.extend(spec.one_shot.session_args.iter().map(fill).map(Into::into));
            plan.engine_session = Some(chosen.clone());
        }
        None => {}
    }
    if let (InstructionChannel::File, Some(text)) =
        (spec.one_shot.instructions, first.auto().instructions())
    {
        let file = plan.file(request.run_dir.join("instructions.md"), text);
        let fill = |arg: &String| arg.replace("{instructions_file}", &file.to_string_lossy());
        plan.args.extend(spec.one_shot.instruction_args.iter().map(fill).map(Into::into));
    }
    if spec.attachments.channel == AttachmentChannel::Option {
        for attachment in by_bytes(first) {
            plan.args.extend(spec.attachments.args.iter().map(|arg| with_path(arg, &attachment)));
        }
    }
    plan.args.extend(request.engine_args.iter().cloned());
    Ok(plan)
}

/// A UUID with its last digits, which are random, in front: the first ones of ours are the hour.
fn turned(session: &str) -> String {
    match uuid::Uuid::try_parse(session) {
        Ok(id) => uuid::Uuid::from_u128(id.as_u128().rotate_left(80)).to_string(),
        Err(_) => session.to_owned(),
    }
}

/// The message on its channel, last on the line.
pub(super) fn message(
    plan: &mut LaunchPlan,
    spec: &EngineSpec,
    request: &LaunchRequest,
    text: String,
) -> Result<(), PlanError> {
    match spec.one_shot.message {
        MessageChannel::Argument => {
            if text.len() > ARGUMENT_LIMIT {
                return Err(PlanError::TooLong {
                    engine: spec.name.clone(),
                    size: text.len(),
                    limit: ARGUMENT_LIMIT,
                    channel: "one argument",
                });
            }
            for arg in &spec.one_shot.message_args {
                plan.text_arg(arg.replace("{message}", &text), arg.clone());
            }
        }
        MessageChannel::MessageFile => {
            let file = plan.file(request.run_dir.join("message.md"), text);
            plan.args.extend(
                spec.one_shot
                    .message_args
                    .iter()
                    .map(|arg| arg.replace("{message_file}", &file.to_string_lossy()).into()),
            );
        }
        MessageChannel::Stdin
        | MessageChannel::Plugin
        | MessageChannel::StreamJson
        | MessageChannel::Acp => {
            let file = plan.file(request.run_dir.join("message.md"), text);
            plan.stdin = StdinPlan::File(file);
        }
    }
    Ok(())
}

/// The attachments that go as bytes.
pub(super) fn by_bytes(first: &FirstMessage) -> Vec<PathBuf> {
    first
        .auto()
        .attachments()
        .iter()
        .filter(|attachment| attachment.by_path.is_none())
        .map(|attachment| attachment.path.clone())
        .collect()
}

/// `{path}` replaced, byte for byte: a path need not be UTF-8.
pub(super) fn with_path(arg: &str, path: &Path) -> OsString {
    match arg.split_once("{path}") {
        None => arg.into(),
        Some((before, after)) => {
            let mut filled = OsString::from(before);
            filled.push(path);
            filled.push(after);
            filled
        }
    }
}

/// Whether the user's own arguments hold this option, as `--name VALUE` or `--name=VALUE`.
pub(super) fn has_option(args: &[OsString], names: &[&str]) -> bool {
    args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
        names.iter().any(|name| {
            arg == *name || arg.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
        })
    })
}

/// Whether the last value of this option asks for JSON in some form.
pub(super) fn wants_json(args: &[OsString], names: &[&str]) -> bool {
    take_option(args, names).0.is_some_and(|value| value.contains("json"))
}

/// Takes an option with its value out of the arguments: the value, and the rest.
pub(super) fn take_option(args: &[OsString], names: &[&str]) -> (Option<String>, Vec<OsString>) {
    let (mut value, mut rest, mut items) = (None, Vec::new(), args.iter());
    while let Some(item) = items.next() {
        let text = item.to_str().unwrap_or_default();
        let inline = names.iter().find_map(|name| text.strip_prefix(name)?.strip_prefix('='));
        if let Some(inline) = inline {
            value = Some(inline.to_owned());
        } else if names.contains(&text) {
            value = items.next().and_then(|v| v.to_str()).map(str::to_owned);
        } else {
            rest.push(item.clone());
        }
    }
    (value, rest)
}

/// Whether a text holds an `@reference` to a file that exists: engines that expand those would read
/// the file and change the text around it. Looks at `@` behind any character but `\`, since engines
/// differ in what may stand before it.
pub(super) fn expands(text: &str, cwd: &Path) -> bool {
    /// More references than this are taken as "yes" without asking the disk again.
    const MOST_LOOKUPS: usize = 2_000;
    let mut lookups = 0;
    for (at, _) in text.match_indices('@') {
        let rest = &text[at + 1..];
        let token = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split(['"', '\n']).next().unwrap_or_default(),
            None => rest.split([' ', '\t', '\n', '\r']).next().unwrap_or_default(),
        };
        // Engines stop a token at different signs; a name is tried whole and cut at each of them.
        let cut = token
            .split([
                ',', ';', '!', '?', '(', ')', '[', ']', '{', '}', '`', '"', '\'', '<', '>', ':',
                '#',
            ])
            .next();
        for name in [
            Some(token),
            cut,
            Some(token.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '`'])),
        ]
        .into_iter()
        .flatten()
        {
            if name.is_empty() || name.len() > 4096 || name.contains('\0') {
                continue;
            }
            lookups += 1;
            if lookups > MOST_LOOKUPS || cwd.join(name).symlink_metadata().is_ok() {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_seen_and_taken_in_both_forms() {
        let args: Vec<OsString> = ["--a", "1", "--output-format=json", "x"].map(Into::into).into();
        assert!(has_option(&args, &["--output-format"]) && !has_option(&args, &["--out"]));
        let (value, rest) = take_option(&args, &["--output-format"]);
        assert_eq!(value.as_deref(), Some("json"));
        assert_eq!(rest, ["--a", "1", "x"].map(OsString::from));
        let (value, rest) = take_option(&args, &["--a"]);
        assert_eq!((value.as_deref(), rest.len()), (Some("1"), 2));
    }

    #[test]
    fn a_turned_id_begins_with_the_random_digits() {
        let id = "01a22d7a-86e7-77ba-9b69-854275f57099";
        assert_eq!(turned(id), "854275f5-7099-01a2-2d7a-86e777ba9b69");
        assert_eq!(turned("no id"), "no id");
    }

    #[test]
    fn a_reference_counts_only_when_the_file_is_there() {
        let dir = tempfile::tempdir().expect("dir");
        std::fs::write(dir.path().join("a.md"), "x").expect("write");
        for (text, expected) in [
            ("see @a.md.", true),
            ("<x>@a.md", true),
            ("@\"a.md\" is", true),
            ("mail a@b.c, @scope/pkg", false),
            ("no reference", false),
        ] {
            assert_eq!(expands(text, dir.path()), expected, "{text}");
        }
    }
}
