//! What the plans of the engines' own interfaces share: the catalogue's `tui` table laid over the
//! one-shot's, and the ways of a given first message. An adapter adds what TOML can't say.

use super::*;
use crate::launch::plan::StdinPlan;

/// The catalogue entry with the arguments of terminal use.
pub(super) fn spec(spec: &EngineSpec) -> EngineSpec {
    let mut spec = spec.clone();
    let tui = spec.tui.clone();
    spec.one_shot.args = tui.args;
    if let Some(args) = tui.session_args {
        spec.one_shot.session_args = args;
    }
    if let Some(args) = tui.resume_args {
        spec.one_shot.resume_args = args;
    }
    // Options for files are added with a given message, see `message`.
    if spec.attachments.channel == AttachmentChannel::Option {
        spec.attachments.channel = AttachmentChannel::ByPath;
    }
    if tui.instructions_in_block {
        spec.one_shot.instructions = InstructionChannel::HeadOfBlock;
    }
    spec
}

/// The first message: in the plan where the engine takes it at its start and it fits, else the
/// gate's. `prefix`: all that stands in front of the display text, see [`prefix`].
pub(super) fn message(
    plan: &mut LaunchPlan,
    spec: &EngineSpec,
    request: &LaunchRequest,
    first: &FirstMessage,
    mode: LaunchMode,
    prefix: String,
) {
    let display = first.display().as_str();
    let mut text = format!("{prefix}{display}");
    plan.channels.message = MessageChannel::Argument;
    plan.gate_prefix = prefix;
    match mode {
        LaunchMode::OneShot | LaunchMode::Wrapped => {}
        LaunchMode::Prompted if spec.tui.prompt_by_stdin => {
            if text.starts_with('/') {
                // Without a block a `/word` would be a command; a newline in front makes it text.
                text.insert(0, '\n');
            }
            let file = plan.file(request.run_dir.join("message.md"), text);
            plan.stdin = StdinPlan::File(file);
            plan.channels.message = MessageChannel::Stdin;
            plan.carries_message = true;
        }
        LaunchMode::Prompted => {
            // `!` and `/` as the first character of an argument run as commands in some engines.
            let safe = !text.starts_with(['!', '/']) && text.len() <= ARGUMENT_LIMIT;
            if safe && !spec.tui.prompt_args.is_empty() {
                if spec.tui.attach_with_prompt {
                    for path in generic::by_bytes(first) {
                        for arg in &spec.attachments.args {
                            plan.arg(generic::with_path(arg, &path));
                        }
                    }
                }
                for arg in &spec.tui.prompt_args {
                    plan.text_arg(arg.replace("{message}", &text), arg.clone());
                }
                plan.carries_message = true;
            }
        }
    }
}

/// Where a plugin puts the block in: a given message goes alone, in the plan or by the gate.
pub(super) fn plugin_message(
    plan: &mut LaunchPlan,
    spec: &EngineSpec,
    first: &FirstMessage,
    mode: LaunchMode,
) {
    plan.channels.message = MessageChannel::Plugin;
    let display = first.display().as_str();
    // A first `-` would be an option, `@` a file, `/` and `!` commands: those are typed.
    let safe = !display.starts_with(['-', '@', '/', '!']) && display.len() <= ARGUMENT_LIMIT;
    if mode == LaunchMode::Prompted && safe && !spec.tui.prompt_args.is_empty() {
        for arg in &spec.tui.prompt_args {
            plan.text_arg(arg.replace("{message}", display), arg.clone());
        }
        plan.carries_message = true;
    }
}

/// Header, block and blank line, with the files that the engine attaches by their path in the text, named in its way.
pub(super) fn prefix(spec: &EngineSpec, first: &FirstMessage) -> String {
    let prefix = first.sent().prefix();
    let files = generic::by_bytes(first);
    if spec.tui.path_in_text.is_empty() || files.is_empty() {
        return prefix.to_owned();
    }
    let lines: String = files
        .iter()
        .map(|path| {
            format!("{}\n", spec.tui.path_in_text.replace("{path}", &path.to_string_lossy()))
        })
        .collect();
    match first.auto().header() {
        Some(header) => {
            let rest = prefix.strip_prefix(header).unwrap_or(prefix);
            format!("{header}\n{}{rest}", lines.trim_end())
        }
        None => format!("Please examine the following file(s):\n{lines}\n{prefix}"),
    }
}
