//! The brain without a model: it reads, ranks and fills by rules, cites its sources, and names what it could
//! not find.

mod chat;
mod expand;
mod explore;
mod link_score;
#[cfg(test)]
mod tests;

pub(crate) use chat::answer_chat;
pub(crate) use explore::Explorer;

use crate::agent::{Agent, cut};
use crate::artifact::Artifact;
use crate::conclude::{conclude, finish_failed, finish_out_of_credits};
use crate::run::RunContext;
use crate::{Brain, BrainOutcome, Journal, Phase, Task, TaskMode, Web};
use extract::Schema;
use serde_json::Value;

/// Works by rules, without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

#[async_trait::async_trait]
impl Brain for BuiltIn {
    async fn run(
        &self,
        task: &Task,
        resume: Option<Value>,
        web: &dyn Web,
        journal: &dyn Journal,
    ) -> BrainOutcome {
        let run = RunContext::new(task, web, journal, 0);
        let lead = Agent::start_lead(&run).await;
        lead.progress(Phase::Planning, describe_plan(task)).await;
        let schema = match task.schema.as_ref().map(Schema::parse).transpose() {
            Ok(schema) => schema,
            Err(error) => return finish_failed(&lead, format!("Invalid JSON schema: {error}")).await,
        };
        explore_and_answer(&lead, schema, resume).await
    }
}

/// Explores and answers for an orchestrator, whatever it did before.
pub(crate) async fn explore_and_answer(
    lead: &Agent<'_>,
    schema: Option<Schema>,
    resume: Option<Value>,
) -> BrainOutcome {
    let mut explorer = Explorer::new(lead, schema.clone());
    if !explorer.begin().await {
        if lead.run.ledger.exhausted() {
            finish_out_of_credits(lead).await;
            return BrainOutcome::OutOfCredits { partial: resume };
        }
        return finish_failed(lead, "none of the start pages could be read".to_owned()).await;
    }
    if lead.run.task.mode == TaskMode::Chat {
        return answer_chat(lead).await;
    }
    let mut artifact = Artifact::new(resume);
    let unmentioned = explorer.explore(&mut artifact).await;
    let is_partial = !unmentioned.is_empty() && !artifact.is_empty();
    let what = if schema.is_none() { "The answer does" } else { "The pages that the values are from do" };
    let remark = is_partial.then(|| format!("{what} not mention: {}.", unmentioned.join(", ")));
    conclude(lead, schema.as_ref(), &mut artifact, remark).await
}

/// A one-line description of the plan for the trace.
fn describe_plan(task: &Task) -> String {
    let wanted = task.schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
    let wanted = match wanted {
        Some(fields) if !fields.is_empty() => fields.keys().take(8).cloned().collect::<Vec<_>>().join(", "),
        _ => cut(task.prompt.trim(), 120),
    };
    match task.urls.as_slice() {
        [] => format!("Looking for: {wanted}"),
        [one] => format!("Looking for: {wanted}; beginning at {}", cut(one, 200)),
        [one, ..] => {
            format!("Looking for: {wanted}; beginning at {} and {} more", cut(one, 200), task.urls.len() - 1)
        }
    }
}
