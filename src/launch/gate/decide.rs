//! Is this submit the first message? Judged from the screen, the keys and the catalogue; in doubt
//! it is not, and goes on unchanged.

use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr;

use super::Effect;
use super::clear::NOTE_NOT_CLEARED;
use super::draft::squeeze;
use super::machine::{HOLD, Held, KeyGate, Phase, SLOW_TICK, STEP, TICK};
use crate::context::DisplayText;
use crate::engines::gate_spec::{GateRoute, SubmitKey};
use crate::engines::screen_state::{Composer, Reading};
use crate::launch::keys::{InputEvent, Key};

/// An engine paints a key within this; after it what the screen shows is taken as it is.
const ECHO_WAIT: Duration = Duration::from_millis(250);
/// The painting of one key is over after this.
const ECHO_QUIET: Duration = Duration::from_millis(15);
/// How long an empty composer is doubted when something was typed: a busy machine paints late.
const LAG_LIMIT: Duration = Duration::from_millis(1_500);
/// A start screen that stands still this long, with neither composer nor known dialog, is a dialog
/// that we do not know.
const START_QUIET: Duration = Duration::from_secs(1);

/// So many rows of a draft are no chance.
const SCROLLED: usize = 5;
/// The columns of a prompt and the margins beside it.
const EDGE: usize = 8;

const NOTE_UNKNOWN_DRAFT: &str =
    "the screen does not show the whole draft; the docs did not go with a message";
pub(super) const NOTE_INEXACT: &str =
    "the stored text of the first message was read from the screen and may differ in blanks";

impl KeyGate {
    /// Whether this key may submit.
    pub(super) fn submits(&self, event: &InputEvent) -> bool {
        self.spec.submit.iter().any(|key| match key {
            SubmitKey::Enter => {
                event.is_enter()
                    && !(self.spec.backslash_newline && self.draft.ends_with_backslash())
            }
            SubmitKey::Tab => {
                event.pressed().is_some_and(|press| press.key == Key::Tab && press.mods.is_none())
            }
        })
    }

    /// Holds a submit until it is judged.
    pub(super) fn hold(&mut self, submit: Vec<u8>, now: Instant) {
        let held = Held { submit, since: now, given: false };
        if self.is_echoed(now) {
            self.decide(held, now);
        } else {
            self.phase = Phase::Echo(held);
            self.set_timer(STEP, TICK);
        }
    }

    /// Whether the screen shows the keys that went before.
    pub(super) fn is_echoed(&self, now: Instant) -> bool {
        let Some(key_at) = self.key_at else { return true };
        let since_key = now.saturating_duration_since(key_at);
        let painted = self.output_at.is_some_and(|at| at > key_at);
        since_key >= self.spec.timing.key_gap()
            && ((painted && self.quiet(now) >= ECHO_QUIET) || since_key >= ECHO_WAIT)
    }

    /// Judges a held submit.
    pub(super) fn decide(&mut self, held: Held, now: Instant) {
        let reading = self.read();
        if reading.dialog {
            return self.release(&held, now);
        }
        if !self.seen_ready && !self.start_given_up {
            self.phase = Phase::BeforeStart(held);
            return self.set_timer(STEP, SLOW_TICK);
        }
        let Some(composer) = reading.composer.as_ref().filter(|_| reading.takes_message()) else {
            return self.release(&held, now);
        };
        let known = self.known_text(composer);
        let text = known.clone().unwrap_or_else(|| composer.text.clone());
        // A draft that the keys tell had no arrow key, which picks before it is painted.
        let list = reading.popup && !(reading.popup_lets_through && known.is_some());
        if list || self.spec.commands.matches(&text) {
            return self.release(&held, now);
        }
        if composer.text.is_empty() {
            self.standing = false;
            let typed = self.draft.text().is_some_and(|text| !text.trim().is_empty());
            if !typed {
                return self.pass_on(&held, now);
            }
            if now.saturating_duration_since(held.since) < LAG_LIMIT {
                self.phase = Phase::Echo(held);
                return self.set_timer(STEP, TICK);
            }
            if self.spec.route != GateRoute::Editor {
                return self.release(&held, now);
            }
        }
        self.set_timer(HOLD, self.spec.timing.max_hold());
        self.choose_route(held, known, composer, now);
    }

    fn choose_route(
        &mut self,
        held: Held,
        known: Option<String>,
        composer: &Composer,
        now: Instant,
    ) {
        if self.prefix.is_empty() {
            return match known {
                Some(text) => {
                    self.record(&text);
                    self.send(held, false, now);
                }
                None if self.has_editor() => self.ask_editor(held, now),
                None => self.send_from_screen(held, composer, now),
            };
        }
        match self.spec.route {
            GateRoute::Editor => self.ask_editor(held, now),
            GateRoute::PasteAtStart | GateRoute::ClearAndPaste if self.standing => {
                // The user may have added to it.
                if self.has_editor() {
                    return self.ask_editor(held, now);
                }
                match known {
                    Some(text) => self.record(&text),
                    None => self.note(NOTE_INEXACT),
                }
                self.send(held, true, now);
            }
            GateRoute::PasteAtStart => match known {
                Some(text) if self.can_put_in() => {
                    let lines = self.draft.lines_in(&composer.text, &self.spec.screen.chips);
                    self.paste_at_start(held, &text, lines, now);
                }
                _ if self.has_editor() => self.ask_editor(held, now),
                Some(_) => self.cannot_put_in(&held, now),
                None if self.can_put_in() && !composer.text.is_empty() => {
                    self.note(NOTE_INEXACT);
                    let text = self.earlier.cut(&composer.text).to_owned();
                    self.paste_at_start(held, &text, text.lines().count(), now);
                }
                None => self.cannot_put_in(&held, now),
            },
            GateRoute::ClearAndPaste if self.no_backspace => {
                self.note(NOTE_NOT_CLEARED);
                self.release(&held, now);
            }
            GateRoute::ClearAndPaste => match known {
                Some(text) if self.can_put_in() => self.clear(held, text, composer, now),
                None if self.can_put_in() && self.shows_all(composer) => {
                    self.note(NOTE_INEXACT);
                    self.clear(held, composer.text.clone(), composer, now);
                }
                // What is not known can't be put back: not one key of ours.
                None if self.can_put_in() => {
                    self.note(NOTE_UNKNOWN_DRAFT);
                    self.release(&held, now);
                }
                _ => self.cannot_put_in(&held, now),
            },
            GateRoute::None | GateRoute::Plugin => self.release(&held, now),
        }
    }

    /// Nothing goes in front, and only the screen knows the text.
    fn send_from_screen(&mut self, held: Held, composer: &Composer, now: Instant) {
        self.note(NOTE_INEXACT);
        let text = self.earlier.cut(&composer.text).to_owned();
        self.record(&text);
        self.send(held, false, now);
    }

    /// The text of the composer, where keys and screen agree on it.
    fn known_text(&self, composer: &Composer) -> Option<String> {
        let text = self.draft.text().filter(|_| !composer.images)?;
        let (typed, shown) = (squeeze(text), squeeze(&composer.text));
        // A long draft scrolls: the screen has only its end.
        let scrolled = composer.text.lines().count() >= SCROLLED && typed.ends_with(&shown);
        // A frame without a lower edge ends, for us, at the first blank line.
        let paragraph = squeeze(text.split("\n\n").next().unwrap_or_default()) == shown;
        // An editor would tell it exactly.
        let part = !self.has_editor() && self.is_part(&composer.text, text);
        let agree = typed == shown || paragraph || scrolled || composer.chips || part;
        agree.then(|| text.to_owned())
    }

    /// Whether the screen shows a part of this draft: its head (the rest is not painted yet, or finds no
    /// room), or rows of it that are cut at the edge.
    fn is_part(&self, shown: &str, text: &str) -> bool {
        let (head, all) = (squeeze(shown), squeeze(text));
        if head.is_empty() || all.starts_with(&head) {
            return !head.is_empty();
        }
        if !shown.contains('\n') && self.reaches_edge(shown) && all.ends_with(&head) {
            return true;
        }
        let (rows, lines): (Vec<&str>, Vec<&str>) =
            (shown.lines().collect(), text.lines().collect());
        let fit = |lines: &[&str]| {
            rows.iter().zip(lines).all(|(row, line)| {
                let (cut, whole) = (squeeze(row), squeeze(line));
                cut == whole || (self.reaches_edge(row) && whole.starts_with(&cut))
            })
        };
        let from_end = lines.len().checked_sub(rows.len());
        from_end.is_some_and(|at| fit(&lines) || (rows.len() >= SCROLLED && fit(&lines[at..])))
    }

    /// Whether there may be more of a row than the screen has room for. A prompt and a margin take some.
    fn reaches_edge(&self, row: &str) -> bool {
        row.width() + EDGE >= usize::from(self.columns)
    }

    /// Whether the screen alone tells the draft. Not a folded paste or an image, of more lines it may
    /// not show all, and a long one may be cut. Where the keys say something else neither is to be trusted.
    fn shows_all(&self, composer: &Composer) -> bool {
        let line = !composer.chips && !composer.text.contains('\n');
        let by_keys = self.draft.text().is_some_and(|text| !text.trim().is_empty());
        line && !by_keys && !self.reaches_edge(&composer.text)
    }

    /// Passes the submit on as it came; the gate stays armed.
    pub(super) fn release(&mut self, held: &Held, now: Instant) {
        self.send_bytes(&held.submit, now);
        // It sent, ran, chose or completed something: the next look at an empty composer tells.
        self.draft.forget();
        self.rearm(now);
    }

    /// The same on a composer that shows nothing, and stays as it is: a blank line in it is not seen.
    fn pass_on(&mut self, held: &Held, now: Instant) {
        self.send_bytes(&held.submit, now);
        self.draft.enter_on_nothing();
        self.rearm(now);
    }

    pub(super) fn record(&mut self, text: &str) {
        // The engines drop blanks at the end of a message.
        let text = text.trim_end();
        if self.recorded.as_deref() != Some(text) {
            self.recorded = Some(text.to_owned());
            self.effect(Effect::Record(DisplayText::new(text)));
        }
    }

    /// The start: neither a composer nor a dialog was shown yet.
    pub(super) fn look_at_start(&mut self, held: Held, now: Instant) {
        let reading = self.read();
        if reading.dialog {
            return self.set_timer(STEP, SLOW_TICK);
        }
        if self.seen_ready {
            return if self.is_echoed(now) {
                self.decide(held, now);
            } else {
                self.phase = Phase::Echo(held);
                self.set_timer(STEP, TICK);
            };
        }
        if self.start_is_over(&held, &reading, now) {
            self.start_given_up = true;
            return self.release(&held, now);
        }
        self.set_timer(STEP, SLOW_TICK);
    }

    fn start_is_over(&self, held: &Held, reading: &Reading, now: Instant) -> bool {
        let still = self.output_at.is_some() && self.quiet(now) >= START_QUIET && !reading.busy;
        still && self.shows_anything()
            || now.saturating_duration_since(held.since) >= self.spec.timing.start_hold()
    }

    /// Whether something is painted beside what was typed: a terminal that no engine has taken over
    /// yet echoes the keys by itself.
    fn shows_anything(&self) -> bool {
        let shown: String =
            self.screen.snapshot().rows.iter().map(|row| squeeze(row.text())).collect();
        let typed = squeeze(self.draft.text().unwrap_or_default());
        !typed.starts_with(&shown)
    }
}
