//! `[ENGINE.gate]` of `engines.toml` as types: how the first message of an engine's terminal UI gets
//! its block. Data only; the machine that follows a recipe is in `launch::gate`.

use std::time::Duration;

use serde::Deserialize;

/// The recipe of one engine. Every field has a default; the default as a whole is "no recipe".
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct GateSpec {
    /// The way of the block.
    pub route: GateRoute,
    /// Used instead when the first way can't be taken (no bracketed paste, a draft whose text is
    /// not known).
    pub fallback: Option<GateRoute>,
    /// Keys that submit.
    pub submit: Vec<SubmitKey>,
    /// `\` and Enter make a new line.
    pub backslash_newline: bool,
    /// How the composer looks, and what else may be on the screen.
    pub screen: ScreenSpec,
    /// What begins a command.
    pub commands: CommandSpec,
    /// The route `editor`.
    pub editor: EditorSpec,
    /// The routes that paste.
    pub paste: PasteSpec,
    /// The times.
    pub timing: TimingSpec,
}

impl GateSpec {
    /// The editor helper has to stand in for the user's editor.
    pub fn needs_editor(&self) -> bool {
        self.route == GateRoute::Editor
            || self.fallback == Some(GateRoute::Editor)
            || self.editor.ctrl.is_some()
    }
}

/// The ways of a first message's block in a terminal UI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateRoute {
    /// None: the engine gets what the user types and nothing else.
    #[default]
    None,
    /// A request plugin puts it in on the wire; the gate only observes.
    Plugin,
    /// The engine's external-editor key hands us the composer's exact text and takes the new one.
    Editor,
    /// Keys that reach the very start of the composer, a bracketed paste, Enter.
    PasteAtStart,
    /// Backspaces until the composer is empty, a paste of everything, Enter.
    ClearAndPaste,
}

/// Keys that submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubmitKey {
    /// Enter without modifiers.
    Enter,
    /// Tab without modifiers.
    Tab,
}

/// How the composer is found on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct ScreenSpec {
    /// What surrounds it.
    pub frame: Frame,
    /// What its first row begins with when the text is a message.
    pub prompts: Vec<String>,
    /// What its first row begins with when the text is a shell command.
    pub shell_prompts: Vec<String>,
    /// In a rule above the composer: its first rows are scrolled away, its prompt with them.
    pub scrolled: Vec<String>,
    /// What an empty composer shows. Faint text in it counts as well.
    pub placeholders: Vec<String>,
    /// Any of these must be on the screen before the composer counts as ready; empty: the composer
    /// is enough.
    pub ready: Vec<String>,
    /// Any of these on the screen: a dialog, a picker or a question is open.
    pub dialogs: Vec<String>,
    /// A row next to the composer that begins with any of these: a completion list is open.
    pub popup_rows: Vec<String>,
    /// What a picked row of a list above the composer begins with. Where it is named, such a list takes
    /// Enter only with a picked row.
    pub list_pointer: String,
    /// Any of these on the screen: a completion list is open.
    pub popups: Vec<String>,
    /// While the draft ends in `@word`, a list below it that has the word is a completion list.
    pub at_completion: bool,
    /// Any of these on the screen: the engine works.
    pub busy: Vec<String>,
    /// The engine tells its state by OSC 7501; no message goes while it is another than these.
    pub idle_states: Vec<String>,
    /// States in which the engine works.
    pub busy_states: Vec<String>,
    /// What a folded paste in the composer begins with: the screen does not show the text behind it.
    pub chips: Vec<String>,
    /// What stands in the draft for an image whose path was pasted: it is sent so, not as typed.
    pub images: Vec<String>,
}

/// What surrounds the composer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frame {
    /// Nothing: the last row that begins with a prompt, up to a blank row.
    #[default]
    Open,
    /// The rows between the last two rules (`────`) of the screen.
    Rules,
    /// Rows that begin with a bar (`┃`): the text between a blank one and the row of the model.
    Bar,
}

/// What begins a command, and so is no message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct CommandSpec {
    /// `/word`: one word after the slash, without another slash in it.
    pub slash: bool,
    /// Texts that begin with one of these (`!`, `#`).
    pub prefixes: Vec<String>,
}

/// The editor round trip.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct EditorSpec {
    /// The letter that opens the editor with Control.
    pub ctrl: Option<char>,
}

/// How a paste is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct PasteSpec {
    /// A key, sent `start-times`, that goes towards the start of the composer.
    pub start_key: String,
    /// How often; more lines in the draft: more often.
    pub start_times: usize,
    /// Keys sent once after it.
    pub start_last: String,
    /// Milliseconds between the paste and Enter; 0: in one write.
    pub settle_ms: u64,
    /// The newline key, for text that is typed because the engine takes no bracketed paste; empty:
    /// then nothing is put in.
    pub typed_newline: String,
    /// The engine makes spaces of tabs.
    pub tabs_lost: bool,
}

/// The times of a gate, in milliseconds. 0: the common value, which is named beside each getter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct TimingSpec {
    /// Quiet output before the composer's keys are taken again, after the editor returned.
    pub quiet_ms: u64,
    /// Between a typed key and a key of ours.
    pub key_gap_ms: u64,
    /// For the editor to be called.
    pub editor_wait_ms: u64,
    /// For the composer to empty after Enter.
    pub confirm_ms: u64,
    /// For one held submit in all.
    pub max_hold_ms: u64,
    /// For a submit that was typed before the engine showed a composer or a dialog.
    pub start_hold_ms: u64,
}

/// Seen with two engines: their editors are back and painted within this.
const QUIET_MS: u64 = 350;
/// One engine takes an Enter within 30 ms of a key, another within 40 ms of a paste, for a newline.
const KEY_GAP_MS: u64 = 60;
/// The helper is called within 20 to 75 ms of the key on an idle machine.
const EDITOR_WAIT_MS: u64 = 300;
/// The slowest engine paints the sent message 1.7 s after Enter.
const CONFIRM_MS: u64 = 2_500;
/// The editor round trip of 500 KB takes up to 11 s in one engine.
const MAX_HOLD_MS: u64 = 15_000;
/// Only while nothing is painted at all: over 8 s were seen at a load of seven times the cores.
const START_HOLD_MS: u64 = 30_000;

impl TimingSpec {
    /// See [`TimingSpec::quiet_ms`].
    pub fn quiet(&self) -> Duration {
        or(self.quiet_ms, QUIET_MS)
    }

    /// See [`TimingSpec::key_gap_ms`].
    pub fn key_gap(&self) -> Duration {
        or(self.key_gap_ms, KEY_GAP_MS)
    }

    /// See [`TimingSpec::editor_wait_ms`].
    pub fn editor_wait(&self) -> Duration {
        or(self.editor_wait_ms, EDITOR_WAIT_MS)
    }

    /// See [`TimingSpec::confirm_ms`].
    pub fn confirm(&self) -> Duration {
        or(self.confirm_ms, CONFIRM_MS)
    }

    /// See [`TimingSpec::max_hold_ms`].
    pub fn max_hold(&self) -> Duration {
        or(self.max_hold_ms, MAX_HOLD_MS)
    }

    /// See [`TimingSpec::start_hold_ms`].
    pub fn start_hold(&self) -> Duration {
        or(self.start_hold_ms, START_HOLD_MS)
    }
}

fn or(value: u64, common: u64) -> Duration {
    Duration::from_millis(if value == 0 { common } else { value })
}

impl CommandSpec {
    /// Whether the engine takes this text for a command of its own.
    pub fn matches(&self, text: &str) -> bool {
        let slash_word = self.slash
            && text.strip_prefix('/').is_some_and(|rest| {
                // `/etc/hosts what is this` is a message everywhere, and so are `//` and `/*`.
                let word = rest.split_whitespace().next().unwrap_or_default();
                !rest.starts_with([' ', '*']) && !word.contains('/')
            });
        slash_word || self.prefixes.iter().any(|prefix| text.starts_with(prefix.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages() {
        let spec = CommandSpec { slash: true, prefixes: vec!["!".to_owned()] };
        for command in ["/", "/help", "/mod", "/review 12", "/plugin:do it", "!ls", "!"] {
            assert!(spec.matches(command), "{command}");
        }
        for message in ["", " /help", "/etc/hosts what", "//x", "/* c */", "hi /help", "a!b"] {
            assert!(!spec.matches(message), "{message}");
        }
    }

    #[test]
    fn the_built_in_recipes_are_whole() {
        let catalogue = crate::engines::Catalogue::from_layers(None).expect("engines.toml");
        for (id, spec) in catalogue.iter() {
            let gate = &spec.gate;
            if gate.route == GateRoute::None {
                continue;
            }
            assert!(!gate.submit.is_empty(), "{id}");
            // The built-in engine has none.
            assert!(!gate.screen.dialogs.is_empty() || spec.adapter == "echo", "{id}");
            let found = !gate.screen.prompts.is_empty() || gate.screen.frame != Frame::Open;
            assert!(found, "{id}: nothing shows the composer");
            let by_editor = [Some(gate.route), gate.fallback].contains(&Some(GateRoute::Editor));
            assert_eq!(by_editor, gate.editor.ctrl.is_some(), "{id}");
            let at_start = gate.route == GateRoute::PasteAtStart;
            assert_eq!(at_start, !gate.paste.start_key.is_empty(), "{id}");
            // In one write there must be no folding of the paste into the Enter.
            assert!(at_start || gate.paste.settle_ms > 0, "{id}");
        }
    }
}
