//! An adapter that says nothing of its first message.
use omni_run::context::FirstMessage;
use omni_run::engines::{Dialogue, Engine, EngineId, EngineSpec};
use omni_run::launch::plan::{LaunchPlan, PlanError};
use omni_run::launch::request::LaunchRequest;

struct Mine;

impl Engine for Mine {
    fn id(&self) -> &EngineId {
        loop {}
    }
    fn catalogue(&self) -> &EngineSpec {
        loop {}
    }
    fn plan(&self, _: &LaunchRequest, _: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        loop {}
    }
    fn dialogue(&self, _: &LaunchPlan, _: &FirstMessage) -> Box<dyn Dialogue> {
        loop {}
    }
}

fn main() {}
