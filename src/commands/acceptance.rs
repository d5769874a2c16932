//! Whether the engine had taken a session's message before something died. A message that was taken
//! is never sent again, so "no" needs as much proof as "yes", and what lies between is said as it is.

use crate::engines::{Answer, Engine, Host, Query};
use crate::session::{Outcome, Role, SessionRow, Store, StoreError};

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrived {
    /// It was taken; how that is known.
    Yes(String),
    /// It was not; how that is known.
    No(String),
    /// It can't be told; why.
    Unknown(String),
    /// The session still runs.
    Running,
    /// There is no message: the row of an interface that was opened on an earlier conversation.
    NoMessage,
}

/// What the store says of a session, beside its row.
pub(super) struct Evidence {
    /// The message as it was typed.
    pub(super) text: Option<String>,
    answered: bool,
    verified: Option<String>,
}

impl Evidence {
    pub(super) fn read(store: &Store, row: &SessionRow) -> Result<Evidence, StoreError> {
        let messages = store.messages(row.id)?;
        let receipt = store.receipt(row.id)?.unwrap_or_default();
        let text = messages.iter().find(|m| m.role == Role::Operator).map(|m| m.text.clone());
        Ok(Evidence {
            text,
            answered: messages.iter().any(|m| m.role == Role::Engine),
            verified: receipt["verified"].as_str().map(str::to_owned),
        })
    }

    /// By the store alone; `None`: it does not tell.
    fn of_store(&self, row: &SessionRow) -> Option<Arrived> {
        let yes = |how: &str| Some(Arrived::Yes(how.to_owned()));
        if self.text.is_none() {
            return Some(Arrived::NoMessage);
        }
        match row.outcome {
            Outcome::Running if row.is_held() => return Some(Arrived::Running),
            Outcome::Running => {
                return Some(Arrived::Unknown(
                    "an older omni-run began it, and its row does not say whether it has ended"
                        .to_owned(),
                ));
            }
            Outcome::Ok => return yes("the engine ended well"),
            Outcome::NotStarted => {
                return Some(Arrived::No("the engine did not start".to_owned()));
            }
            Outcome::Failed | Outcome::TimedOut | Outcome::Crashed | Outcome::Lost => {}
        }
        if self.answered {
            return yes("the engine answered");
        }
        row.accepted.clone().or_else(|| self.verified.clone()).map(Arrived::Yes)
    }

    /// By the store, else by the engine's own record. `host`: the machine as the engine sees it.
    pub(super) fn judge(&self, row: &SessionRow, engine: &dyn Engine, host: &Host) -> Arrived {
        if let Some(told) = self.of_store(row) {
            return told;
        }
        let (name, spec) = (&engine.catalogue().name, engine.catalogue());
        let kept = row.options.kept_in.as_ref().map(|kept| kept.0.clone());
        if kept.is_some() && kept != engine.kept_in(host) {
            return Arrived::Unknown(format!(
                "{name} keeps its conversations in another place now than it did then: HOME or a \
                 variable has changed"
            ));
        }
        let text = self.text.as_deref().unwrap_or_default();
        let query = Query {
            id: row.engine_session_id.as_deref(),
            cwd: &row.cwd,
            since: row.started_at,
            text,
        };
        let untried =
            row.options.engine_version.as_deref().map(|v| spec.tried(v)) == Some(Some(false));
        let late = format!("{name} writes a message down with its answer only");
        match engine.look_up(host, &query) {
            Answer::There { has_message: Some(true), .. } | Answer::Several(_) => {
                Arrived::Yes(format!("it stands in {name}'s own record"))
            }
            Answer::There { has_message: None, .. } => Arrived::Unknown(late),
            Answer::Absent | Answer::There { .. } if spec.resume.written_late => {
                Arrived::Unknown(late)
            }
            Answer::Absent | Answer::There { has_message: Some(false), .. }
                if row.outcome == Outcome::Lost =>
            {
                Arrived::Unknown(format!(
                    "{name}'s own record does not have it, but what was written last is lost with \
                     the power"
                ))
            }
            Answer::Absent | Answer::There { has_message: Some(false), .. } if untried => {
                Arrived::Unknown(format!(
                    "{name}'s own record does not have it, but its version is one that omni-run was \
                     not tried with"
                ))
            }
            Answer::Absent | Answer::There { has_message: Some(false), .. } => {
                Arrived::No(format!("{name}'s own record does not have it"))
            }
            Answer::Unknown => Arrived::Unknown(match engine.kept_in(host) {
                Some(folder) => format!(
                    "{name} has no record that could tell in {}",
                    crate::context::names::shown_path(&folder)
                ),
                None => format!("{name} has no record of its own that could tell"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{AutoContext, ContextSnapshot, Delivery, FirstMessage};
    use crate::engines::{Catalogue, Dialogue, EngineId, EngineSpec};
    use crate::launch::owner::Owner;
    use crate::launch::plan::{LaunchPlan, PlanError};
    use crate::launch::request::LaunchRequest;
    use crate::session::{LaunchOptions, SessionId, SessionMode};

    /// An engine whose record gives one answer.
    struct Record(EngineId, EngineSpec, Answer);

    impl Engine for Record {
        fn id(&self) -> &EngineId {
            &self.0
        }
        fn catalogue(&self) -> &EngineSpec {
            &self.1
        }
        fn first_message_auto_context(&self, _: &ContextSnapshot, _: &Delivery) -> AutoContext {
            unreachable!("nothing is sent here")
        }
        fn plan(&self, _: &LaunchRequest, _: &FirstMessage) -> Result<LaunchPlan, PlanError> {
            unreachable!("nothing is started here")
        }
        fn dialogue(&self, _: &LaunchPlan, _: &FirstMessage) -> Box<dyn Dialogue> {
            unreachable!("nothing is started here")
        }
        fn look_up(&self, _: &Host, _: &Query<'_>) -> Answer {
            self.2.clone()
        }
    }

    fn row(outcome: Outcome) -> SessionRow {
        SessionRow {
            id: SessionId::generate(),
            engine: "x".into(),
            model: None,
            project: None,
            project_root: None,
            cwd: "/p".into(),
            mode: SessionMode::OneShot,
            engine_session_id: None,
            argv: Vec::new(),
            started_at: 0,
            ended_at: None,
            exit_code: None,
            signal: None,
            outcome,
            first_words: String::new(),
            resumes: None,
            options: LaunchOptions::default(),
            accepted: None,
            attempts: 1,
            owner: None,
        }
    }

    fn judge(row: &SessionRow, evidence: Evidence, answer: Answer) -> Arrived {
        let catalogue = Catalogue::from_layers(None).expect("catalogue");
        let spec = catalogue.get("echo").expect("echo").clone();
        evidence.judge(row, &Record(EngineId::new("x"), spec, answer), &Host::default())
    }

    fn bare() -> Evidence {
        Evidence { text: Some("hi".into()), answered: false, verified: None }
    }

    #[test]
    fn each_piece_of_evidence_alone_proves_it() {
        let dead = row(Outcome::Crashed);
        let is_yes = |arrived| matches!(arrived, Arrived::Yes(_));
        let absent = || Answer::Absent;
        assert!(is_yes(judge(&dead, Evidence { answered: true, ..bare() }, absent())));
        let verified = Evidence { verified: Some("seen".into()), ..bare() };
        assert!(is_yes(judge(&dead, verified, absent())));
        let noticed = SessionRow { accepted: Some("seen".into()), ..row(Outcome::Lost) };
        assert!(is_yes(judge(&noticed, bare(), absent())));
        assert!(is_yes(judge(&row(Outcome::Ok), bare(), absent())));
        let there = |has| Answer::There { id: "t".into(), has_message: has };
        assert!(is_yes(judge(&dead, bare(), there(Some(true)))));
        assert!(is_yes(judge(&dead, bare(), Answer::Several(vec!["a".into(), "b".into()]))));
        assert!(matches!(judge(&dead, bare(), there(Some(false))), Arrived::No(_)));
        assert!(matches!(judge(&dead, bare(), there(None)), Arrived::Unknown(_)));
        assert!(matches!(judge(&dead, bare(), absent()), Arrived::No(_)));
        assert!(matches!(judge(&dead, bare(), Answer::Unknown), Arrived::Unknown(_)));
    }

    #[test]
    fn a_record_that_is_written_with_the_answer_proves_only_that_it_arrived() {
        let catalogue = Catalogue::from_layers(None).expect("catalogue");
        let mut spec = catalogue.get("echo").expect("echo").clone();
        spec.resume.written_late = true;
        let judge = |answer| {
            let engine = Record(EngineId::new("x"), spec.clone(), answer);
            bare().judge(&row(Outcome::Crashed), &engine, &Host::default())
        };
        let there = |has| Answer::There { id: "t".into(), has_message: Some(has) };
        assert!(matches!(judge(Answer::Absent), Arrived::Unknown(_)));
        assert!(matches!(judge(there(false)), Arrived::Unknown(_)));
        assert!(matches!(judge(there(true)), Arrived::Yes(_)));
    }

    #[test]
    fn after_a_power_cut_a_silent_record_proves_nothing() {
        let lost = row(Outcome::Lost);
        assert!(matches!(judge(&lost, bare(), Answer::Absent), Arrived::Unknown(_)));
        let there = Answer::There { id: "t".into(), has_message: Some(false) };
        assert!(matches!(judge(&lost, bare(), there), Arrived::Unknown(_)));
        let has = Answer::There { id: "t".into(), has_message: Some(true) };
        assert!(matches!(judge(&lost, bare(), has), Arrived::Yes(_)));
    }

    #[test]
    fn a_record_in_another_place_or_of_an_untried_version_proves_nothing() {
        let mut moved = row(Outcome::Crashed);
        moved.options.kept_in = Some(std::path::PathBuf::from("/then").into());
        assert!(matches!(judge(&moved, bare(), Answer::Absent), Arrived::Unknown(_)));
        let mut untried = row(Outcome::Crashed);
        untried.options.engine_version = Some("99.0".into());
        let catalogue = Catalogue::from_layers(None).expect("catalogue");
        let mut spec = catalogue.get("echo").expect("echo").clone();
        spec.tried.to = "1.0".into();
        let engine = Record(EngineId::new("x"), spec, Answer::Absent);
        let arrived = bare().judge(&untried, &engine, &Host::default());
        assert!(matches!(arrived, Arrived::Unknown(_)), "{arrived:?}");
    }

    #[test]
    fn what_runs_and_what_has_no_message_is_no_candidate() {
        let running = SessionRow { owner: Some(Owner::this_process()), ..row(Outcome::Running) };
        assert_eq!(judge(&running, bare(), Answer::Absent), Arrived::Running);
        let older = row(Outcome::Running);
        assert!(matches!(judge(&older, bare(), Answer::Absent), Arrived::Unknown(_)));
        let none = Evidence { text: None, ..bare() };
        assert_eq!(judge(&row(Outcome::Crashed), none, Answer::Absent), Arrived::NoMessage);
        let not_started = judge(&row(Outcome::NotStarted), bare(), Answer::Unknown);
        assert!(matches!(not_started, Arrived::No(_)));
    }
}
