//! The brain without a model: it reads, ranks and fills by rules, cites what it gives, and says what it could not find.

mod chat;

mod explore;
mod leads;
#[cfg(test)]
mod tests;

pub(crate) use chat::converse;
pub(crate) use explore::Explorer;

use crate::answer::{conclude, failed, out_of_credits};
use crate::artifact::Artifact;
use crate::run::Run;
use crate::worker::{Worker, cut};
use crate::{Brain, Ended, Journal, Mode, Phase, Task, Web};
use extract::Schema;
use serde_json::Value;

/// Thinks without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

#[async_trait::async_trait]
impl Brain for BuiltIn {
    async fn run(&self, task: &Task, resume: Option<Value>, web: &dyn Web, journal: &dyn Journal) -> Ended {
        let run = Run::new(task, web, journal, 0);
        let lead = Worker::lead(&run).await;
        lead.progress(Phase::Planning, plan_in_words(task)).await;
        let schema = match task.schema.as_ref().map(Schema::read).transpose() {
            Ok(schema) => schema,
            Err(error) => return failed(&lead, format!("Invalid JSON schema: {error}")).await,
        };
        work(&lead, schema, resume).await
    }
}

/// Explores and answers for a worker that leads, whatever it did before.
pub(crate) async fn work(lead: &Worker<'_>, schema: Option<Schema>, resume: Option<Value>) -> Ended {
    let mut explorer = Explorer::new(lead, schema.clone());
    if !explorer.begin().await {
        if lead.run.ledger.stopped() {
            out_of_credits(lead).await;
            return Ended::OutOfCredits { partial: resume };
        }
        return failed(lead, "no page could be read to begin with".to_owned()).await;
    }
    if lead.run.task.mode == Mode::Chat {
        return converse(lead).await;
    }
    let mut artifact = Artifact::new(resume);
    explorer.explore(&mut artifact).await;
    conclude(lead, schema.as_ref(), &mut artifact, None).await
}

/// What will be done, in a line.
fn plan_in_words(task: &Task) -> String {
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
