//! `fake-cursor-agent`: the stand-in for Cursor's CLI, which is in no package registry.
//!
//! Built from what documents and other people's runs say of the versions 2026.06 to 2026.09. It
//! shows that the adapter keeps to those rules; it can not show that the rules are right. No
//! model is called: it answers with a fixed text. The tests steer it by variables:
//!
//! - `FAKE_CURSOR_LOG`: a file that gets one JSON line per prompt (or refused run)
//! - `FAKE_CURSOR_REPLY`: the answer, else `MOCK-REPLY-OK`
//! - `FAKE_CURSOR_TRUSTED=0`: the workspace is not trusted; `FAKE_CURSOR_TRUST_EXIT`: the exit
//!   code of that refusal, which was 1 in most versions and 0 in some
//! - `FAKE_CURSOR_AUTH=0`: nobody is logged in
//! - `FAKE_CURSOR_POPULATE=1`: a prompt in argv fills the composer and is not sent
//! - `FAKE_CURSOR_SLEEP`: seconds that an answer takes
//! - `FAKE_CURSOR_CHATS=1`: leaves a chat in `$HOME/.cursor` as the real one does

mod acp;
mod chats;
mod composer;
mod journal;
mod options;
mod print;
mod tui;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use options::{Command, Options};

const VERSION: &str = "2026.09.18-9a7762b";
const MODELS: [(&str, &str); 2] =
    [("auto", "Auto (current, default)"), ("composer-2.5", "Composer 2.5")];
const NOT_LOGGED_IN: &str = "Authentication required. Run `agent login`, pass `--api-key`, or set CURSOR_API_KEY to authenticate.";

const HELP: &str = "\
Usage: agent [options] [command] [prompt...]

Start the Cursor Agent (this is a stand-in for tests)

Options:
  -v, --version              Output the version number
  --api-key <key>            API key
  --auth-token <token>       Authentication token
  -e, --endpoint <url>       API endpoint
  -H, --header <header>      Header of all requests, repeatable
  -p, --print                Print the answer and end
  --output-format <format>   text | json | stream-json
  --stream-partial-output    Text deltas in stream-json
  -c, --cloud                Cloud mode
  --mode <mode>              plan | ask
  --plan                     Same as --mode plan
  --resume [chatId]          Resume a chat
  --continue                 Resume the last chat
  --model <model>            Model to use
  --list-models              List the models
  -f, --force                Allow commands unless denied
  --yolo                     Same as --force
  --auto-review              Review commands automatically
  --sandbox <mode>           enabled | disabled
  --approve-mcps             Approve all MCP servers
  --trust                    Trust the workspace
  --workspace <path>         Workspace folder
  --add-dir <path>           Further folder, repeatable
  --plugin-dir <path>        Plugin folder, repeatable
  -w, --worktree[=name]      Work in a git worktree
  -h, --help                 Display help

Commands:
  status|whoami              View the authentication status
  models                     List the models
  create-chat                Create an empty chat and print its id
  acp                        Agent Client Protocol on stdio
";

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            say_error(&format!("error: {message}"));
            return ExitCode::FAILURE;
        }
    };
    match options.command {
        Command::Version => say(VERSION),
        Command::Help => say(HELP.trim_end()),
        Command::Status { json } => say(&status(json)),
        Command::Models => say(&models()),
        Command::CreateChat => say(&chats::new_id()),
        Command::Acp => return acp::run(&options),
        Command::Agent if is_print(&options) => return print::run(&options),
        Command::Agent => return tui::run(&options),
    }
    ExitCode::SUCCESS
}

fn is_print(options: &Options) -> bool {
    options.print || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal()
}

fn status(json: bool) -> String {
    match (json, is_logged_in()) {
        (true, true) => serde_json::json!({
            "status": "authenticated", "isAuthenticated": true, "message": "Logged in",
        })
        .to_string(),
        (true, false) => serde_json::json!({
            "status": "unauthenticated", "isAuthenticated": false, "message": "Not logged in",
        })
        .to_string(),
        (false, true) => " ✓ Logged in as user@example.com".to_owned(),
        (false, false) => " Not logged in".to_owned(),
    }
}

fn models() -> String {
    let list: Vec<_> = MODELS.iter().map(|(id, label)| format!("{id} - {label}")).collect();
    format!(
        "Available models\n\n{}\n\nTip: use --model <id> (or /model <id> in interactive mode) to switch.",
        list.join("\n")
    )
}

fn is_logged_in() -> bool {
    !is_set_to("FAKE_CURSOR_AUTH", "0")
}

fn is_trusted() -> bool {
    !is_set_to("FAKE_CURSOR_TRUSTED", "0")
}

fn is_set_to(variable: &str, value: &str) -> bool {
    std::env::var(variable).is_ok_and(|found| found == value)
}

fn reply() -> String {
    std::env::var("FAKE_CURSOR_REPLY").unwrap_or_else(|_| "MOCK-REPLY-OK".to_owned())
}

/// How long an answer takes; the only place where this program lets time pass.
fn thinking_time() -> Duration {
    let seconds = std::env::var("FAKE_CURSOR_SLEEP").ok().and_then(|text| text.parse().ok());
    Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default()
}

/// One line on stdout. Nobody may be there to read it, which is no reason to fail.
fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

fn say_error(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
