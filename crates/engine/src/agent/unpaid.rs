//! What is shown of a run that was not paid for. The contract bills no run that failed, was cancelled or
//! reached its limit; so that nobody takes the rows and cancels before the bill, results of a run whose plan
//! has a limit on credits are shown once the run has succeeded, and was charged for with that, and not
//! before: no partial result, no snapshots, no values in the trace. How the run goes (its events, what is
//! read, what went wrong) is shown all along. Where the plan has no limit there is no bill, and everything is
//! shown at once.

use super::order::Order;
use serde_json::{Value, json};
use std::borrow::Cow;
use store::agents::{Run, RunState};
use stored_data::stored_json;
use wire::agent::{ToolCallResult, TraceBody, TraceFact};

/// Tools whose parameters say what is looked for, and nothing of what was found.
const TOOLS_SHOWN: [&str; 7] =
    ["search", "map", "scrape", "open_browser", "read_browser", "read_passages", "delegate"];
const WITHHELD: &str = "shown when the run has succeeded";

/// Whether results of the run are not shown now.
pub fn withholds(order: &Order, run: &Run) -> bool {
    order.results_when_paid && run.state != RunState::Succeeded
}

/// What went into a tool, without values that were found.
pub fn shown_input(tool: &str, input: Value) -> Value {
    if TOOLS_SHOWN.contains(&tool) { input } else { withheld() }
}

/// The body of an event without values that were found.
pub fn shown_event(body: &str) -> Cow<'_, str> {
    let Ok(mut event) = serde_json::from_str::<TraceBody>(body) else { return Cow::Borrowed(body) };
    match &mut event.fact {
        TraceFact::ToolCallStarted { tool_name, parameters, .. } => {
            *parameters = shown_input(tool_name, parameters.take());
        }
        // An error is shown: it has no values of pages.
        TraceFact::ToolCallFinished { result: ToolCallResult::Output(output), .. } => *output = withheld(),
        TraceFact::ReasoningSummary { text } => WITHHELD.clone_into(text),
        _ => return Cow::Borrowed(body),
    }
    let shown = stored_json::or_log(stored_json::to_text("an event of an agent run", &event));
    Cow::Owned(shown.unwrap_or_else(|| withheld().to_string()))
}

fn withheld() -> Value {
    json!({ "withheld": WITHHELD })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::trace_event;
    use agent::AgentEvent;
    use agent::ToolCallResult::{Error, Output};
    use uuid::Uuid;

    fn body(told: &AgentEvent) -> String {
        trace_event::new_event(
            &trace_event::system_actor(Uuid::nil()),
            trace_event::to_fact(told, Uuid::nil()),
        )
        .body
    }

    #[test]
    fn values_are_withheld_and_the_way_to_them_is_not() {
        let (call, secret) = (Uuid::nil(), json!({ "fields": [{ "value": "Oak 12.50" }] }));
        let started =
            |tool: &str| AgentEvent::ToolStarted { call, tool: tool.to_owned(), parameters: secret.clone() };
        let finished = |result| AgentEvent::ToolFinished { call, tool: "record".to_owned(), result };
        for told in [
            started("record"),
            started("calculate"),
            finished(Output(secret.clone())),
            AgentEvent::Reasoning { text: "Oak 12.50".to_owned() },
        ] {
            let body = body(&told);
            let shown = shown_event(&body);
            assert!(body.contains("Oak") && !shown.contains("Oak"), "{shown}");
            serde_json::from_str::<TraceBody>(&shown).expect("still an event");
        }
        for told in [started("scrape"), finished(Error("Oak 12.50".to_owned())), AgentEvent::AgentStarted] {
            let body = body(&told);
            assert_eq!(shown_event(&body), body);
        }
    }
}
