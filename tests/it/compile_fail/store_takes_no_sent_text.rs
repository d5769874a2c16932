//! The store takes display text only.
use omni_run::context::SentText;
use omni_run::session::NewSession;

fn record(sent: SentText, session: NewSession) -> NewSession {
    NewSession { display: sent, ..session }
}

fn main() {}
