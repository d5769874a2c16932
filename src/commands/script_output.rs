//! `--output json` and `stream-json`: what a script gets on stdout. The shape is documented in the
//! README ("Scripts and cron") and numbered; a key is added without a new number, never taken away
//! or given another meaning.
//!
//! A script that asked for JSON gets its object whatever happens: an error of omni-run itself is one
//! too, with the same keys. The error stands on stderr as well.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::start::Start;
use crate::cli::Output;
use crate::error::{ExitKind, Failure};
use crate::launch::one_shot::Outcome;
use crate::launch::receipt::Receipt;
use crate::session::SessionId;
use crate::ui::Ui;

/// The number of the shape.
const VERSION: u32 = 1;

/// What a script has been told so far.
pub(super) struct Told {
    /// The shape that was asked for.
    pub(super) output: Output,
    ui: Ui,
    /// What is known of the run, for an object that says why there is none.
    facts: Value,
    /// Its last object is out, or cannot be written.
    ended: bool,
}

/// Runs `work`; if it fails and JSON was asked for, its object says so.
pub(super) fn answering(
    output: Output,
    ui: Ui,
    work: impl FnOnce(&mut Told) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let mut told = Told::new(output, ui);
    let result = work(&mut told);
    if let Err(failure) = &result {
        told.failed(failure);
    }
    result
}

/// The object for a command line that can't be understood.
pub(super) fn usage_error(output: Output, message: &str, ui: Ui) {
    Told::new(output, ui).failed(&Failure::new(ExitKind::Usage, message));
}

impl Told {
    fn new(output: Output, ui: Ui) -> Told {
        let facts = json!({ "session": null, "engine": null, "model": null, "project": null });
        Told { output, ui, facts, ended: false }
    }

    /// For a launch whose stdout is nobody's.
    pub(super) fn nothing() -> Told {
        Told::new(Output::Text, Ui::default())
    }

    /// The engine, its model and the project are known.
    pub(super) fn gathered(&mut self, start: &Start) {
        let project = start.project.as_ref();
        let folder = project.and_then(|p| p.root.as_ref()).map(|root| root.to_string_lossy());
        let id = project.and_then(|p| p.id.clone());
        self.facts["engine"] = start.engine.id().as_str().into();
        self.facts["model"] = json!(start.model);
        self.facts["project"] = json!(id.or(folder.map(Into::into)));
    }

    /// The session is recorded and its engine about to start.
    pub(super) fn started(&mut self, session: SessionId, start: &Start) -> Result<(), Failure> {
        self.facts["session"] = session.to_string().into();
        if self.output != Output::StreamJson {
            return Ok(());
        }
        let mut event = self.object("start");
        event["engine_version"] = json!(start.version);
        event["cwd"] = start.cwd.to_string_lossy().into();
        self.print_line(&event)
    }

    /// A try failed and another follows.
    pub(super) fn again(&mut self, number: u32, code: u8, pause: u64) {
        if self.output != Output::StreamJson {
            return;
        }
        let event =
            json!({ "type": "retry", "try": number, "exit_code": code, "pause_seconds": pause });
        // A stdout that takes nothing is a failure at the end, not now.
        let _ = self.print_line(&event);
    }

    /// The engine has ended.
    pub(super) fn ended(
        &mut self,
        code: u8,
        outcome: &Outcome,
        tries: u32,
        receipt: &Receipt,
    ) -> Result<(), Failure> {
        if self.output == Output::Text {
            return Ok(());
        }
        let mut object = self.object("end");
        object["exit_code"] = code.into();
        object["timed_out"] = outcome.timed_out.into();
        object["tries"] = tries.into();
        object["text"] = outcome.verdict.reply.as_str().into();
        object["text_complete"] = (!outcome.reply_cut).into();
        object["failure"] = json!(outcome.verdict.failure);
        object["error"] = Value::Null;
        object["receipt"] = receipt.to_json();
        self.print_line(&object)
    }

    fn failed(&mut self, failure: &Failure) {
        if self.output == Output::Text || self.ended {
            return;
        }
        let mut object = self.object("end");
        object["exit_code"] = failure.kind.code().into();
        object["timed_out"] = false.into();
        object["tries"] = 0.into();
        object["text"] = "".into();
        object["text_complete"] = true.into();
        object["failure"] = Value::Null;
        object["error"] = json!({
            "kind": failure.kind.word(),
            "message": failure.message,
            "hints": failure.hints,
        });
        object["receipt"] = Value::Null;
        // Where stdout takes nothing the failure still stands on stderr.
        let _ = self.print_line(&object);
    }

    /// A new object with the version and what is known.
    fn object(&self, kind: &str) -> Value {
        let mut object = json!({ "type": kind, "version": VERSION });
        if self.output == Output::Json {
            object["type"] = "result".into();
        }
        if let (Some(object), Some(facts)) = (object.as_object_mut(), self.facts.as_object()) {
            object.extend(facts.clone());
        }
        object
    }

    /// One object on a line of stdout. A reader that has left is no failure.
    fn print_line(&mut self, object: &Value) -> Result<(), Failure> {
        self.ended |= matches!(object["type"].as_str(), Some("end" | "result"));
        let line = format!("{object}\n");
        match self.ui.data(line.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                self.ended = true;
                Err(Failure::new(ExitKind::CannotCreate, format!("standard output: {error}")))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
