//! The session's deadlines: the gate's timers, the next resize, the steps of an escalation, looks at
//! the plugin's file. At most one of a kind; none while an idle session waits for a key.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::launch::gate::TimerId;

/// One frame at 60 Hz: a drag sends hundreds of sizes, and no interface paints faster.
pub(super) const RESIZE_PACE: Duration = Duration::from_millis(16);
/// After a forwarded SIGHUP or SIGTERM: SIGTERM after this (for SIGHUP), for an engine that ignores
/// the hang-up, …
const TO_TERM: Duration = Duration::from_millis(1_500);
/// … and SIGKILL after this: D17 allows 5 s, the slowest engine needs about 3 s to end well.
const TO_KILL: Duration = Duration::from_millis(4_200);
/// How soon a plugin's report is seen.
const PLUGIN_PACE: Duration = Duration::from_millis(25);
/// How long after the last sign of life a report can still come: the slowest engine acts within 2 s.
const PLUGIN_TAIL: Duration = Duration::from_secs(4);
/// An engine stopped by SIGTSTP from outside tidies up and stops by itself within this.
const TO_STOP: Duration = Duration::from_millis(300);

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Gate(TimerId),
    Resize,
    /// A signal for the engine's group.
    Signal(Signal),
    Plugin,
    /// A second look at something that is held.
    Again,
}

#[derive(Debug, Default)]
pub(super) struct Clock {
    gate: BTreeMap<TimerId, Instant>,
    resize: Option<Instant>,
    signals: VecDeque<(Instant, Signal)>,
    plugin: Option<Instant>,
    plugin_until: Option<Instant>,
    again: Option<Instant>,
}

impl Clock {
    pub(super) fn next(&self) -> Option<Instant> {
        let gate = self.gate.values().min().copied();
        let signal = self.signals.front().map(|(at, _)| *at);
        [gate, self.resize, signal, self.plugin, self.again].into_iter().flatten().min()
    }

    /// Takes one thing that is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        let is_due = |at: &Instant| *at <= now;
        if self.signals.front().is_some_and(|(at, _)| is_due(at)) {
            return self.signals.pop_front().map(|(_, signal)| Due::Signal(signal));
        }
        if self.resize.take_if(|at| is_due(at)).is_some() {
            return Some(Due::Resize);
        }
        if self.again.take_if(|at| is_due(at)).is_some() {
            return Some(Due::Again);
        }
        if self.plugin.take_if(|at| is_due(at)).is_some() {
            if self.plugin_until.is_some_and(|until| now < until) {
                self.plugin = Some(now + PLUGIN_PACE);
            }
            return Some(Due::Plugin);
        }
        // In the order of their times: a gate may count on it.
        let (id, _) = self.gate.iter().filter(|(_, at)| is_due(at)).min_by_key(|(_, at)| **at)?;
        let id = *id;
        self.gate.remove(&id);
        Some(Due::Gate(id))
    }

    pub(super) fn set_gate(&mut self, id: TimerId, at: Instant) {
        self.gate.insert(id, at);
    }

    pub(super) fn cancel_gate(&mut self, id: TimerId) {
        self.gate.remove(&id);
    }

    pub(super) fn gate_is_done(&mut self) {
        self.gate.clear();
        (self.plugin, self.plugin_until) = (None, None);
    }

    pub(super) fn resize_at(&mut self, at: Instant) {
        self.resize.get_or_insert(at);
    }

    pub(super) fn again_at(&mut self, at: Instant) {
        self.again.get_or_insert(at);
    }

    /// Something happened after which the plugin may report.
    pub(super) fn expect_plugin(&mut self, now: Instant) {
        self.plugin.get_or_insert(now + PLUGIN_PACE);
        self.plugin_until = Some(now + PLUGIN_TAIL);
    }

    /// The signals that follow one that is to end the engine. SIGINT and SIGQUIT are not followed
    /// up: an interface may take them for "cancel" and live on, as it would without us.
    pub(super) fn escalate(&mut self, after: Signal, now: Instant) {
        if !self.signals.is_empty() {
            return;
        }
        if after == Signal::SIGHUP {
            self.signals.push_back((now + TO_TERM, Signal::SIGTERM));
        }
        if matches!(after, Signal::SIGHUP | Signal::SIGTERM) {
            self.signals.push_back((now + TO_KILL, Signal::SIGKILL));
        }
    }

    /// The engine was asked to stop; if it does not, it is made to.
    pub(super) fn expect_stop(&mut self, now: Instant) {
        if self.signals.is_empty() {
            self.signals.push_back((now + TO_STOP, Signal::SIGSTOP));
        }
    }

    /// It has stopped by itself.
    pub(super) fn has_stopped(&mut self) {
        self.signals.retain(|(_, signal)| *signal != Signal::SIGSTOP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hang_up_ends_in_a_kill_within_five_seconds() {
        let (mut clock, now) = (Clock::default(), Instant::now());
        clock.escalate(Signal::SIGHUP, now);
        clock.escalate(Signal::SIGTERM, now + TO_TERM);
        assert_eq!(clock.due(now + TO_TERM), Some(Due::Signal(Signal::SIGTERM)));
        assert_eq!(clock.due(now + Duration::from_secs(5)), Some(Due::Signal(Signal::SIGKILL)));
        assert_eq!(clock.next(), None);
    }

    #[test]
    fn gate_timers_come_in_the_order_of_their_times() {
        let (mut clock, now) = (Clock::default(), Instant::now());
        clock.set_gate(TimerId(1), now + Duration::from_millis(9));
        clock.set_gate(TimerId(2), now + Duration::from_millis(5));
        assert_eq!(clock.due(now), None);
        let late = now + Duration::from_secs(1);
        assert_eq!(clock.due(late), Some(Due::Gate(TimerId(2))));
        clock.cancel_gate(TimerId(1));
        assert_eq!(clock.due(late), None);
    }
}
