//! Hermes: placeholder until the plugin recipes land.

use super::*;

adapter!(
    /// Hermes.
    Hermes
);

impl Engine for Hermes {
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
        let mut plan = generic::base(&self.spec, request, first)?;
        generic::message(&mut plan, &self.spec, request, first, first.sent().to_text())?;
        Ok(plan)
    }

    fn dialogue(&self, _plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        Box::new(dialogue::Plain::new(self.spec.one_shot.empty_is_failure))
    }
}
