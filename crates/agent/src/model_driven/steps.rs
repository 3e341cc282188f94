//! The loop that asks the model for its next step until it finishes or further requests are pointless. Steps,
//! fruitless steps in a row, failed calls in a row and credits are all bounded.

use super::ModelSession;
use super::action::{Action, DelegatedPart, FinishArguments, Toolbox, find_call, find_json_object};
use super::conversation::{Conversation, ToolOutput};
use super::execute::{execute, report_unreadable_call};
use crate::agent::{Agent, cut};
use crate::run::AccessError;
use crate::{AgentErrorSource, AgentEvent, TaskMode};
use futures_util::future::BoxFuture;
use model::chat::{ChatError, ChatResponse, Finish, ToolCall};
use serde_json::json;
use std::collections::HashSet;

/// Steps in a row without progress, and model calls in a row that may fail.
const MAX_FRUITLESS_STEPS: usize = 3;
const MAX_FAILED_CALLS: usize = 2;
/// Steps left to the model after it learns that nothing more can be read.
const FINAL_STEPS: usize = 2;
/// Tool calls executed from one reply.
const MAX_TOOL_CALLS: usize = 8;
/// How often a result that does not fit the schema is returned to the model.
const MAX_REPAIRS: usize = 2;
/// Limit of the text around tool calls that the trace shows.
const MAX_REASONING_CHARACTERS: usize = 600;

/// The instructions for one agent.
#[derive(Debug, Clone)]
pub(super) struct Brief {
    pub system: String,
    /// Earlier findings, passed as data.
    pub background: Vec<(String, String)>,
    pub user: String,
    pub steps: usize,
    /// The orchestrator: may delegate, and its result is the answer of the run.
    pub leads: bool,
}

impl Brief {
    pub fn part(session: &ModelSession<'_>, part: &DelegatedPart) -> Self {
        let mut user = cut(&part.task, 4_000);
        if !part.urls.is_empty() {
            user += "\n\nBegin at:";
            for url in part.urls.iter().take(10) {
                user += "\n";
                user += &cut(url, 500);
            }
        }
        Self {
            system: session.rules(false),
            background: Vec::new(),
            user,
            steps: session.steps.div_ceil(3).max(4),
            leads: false,
        }
    }
}

/// How the loop ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LoopOutcome {
    Finished(FinishArguments),
    /// The model declined.
    Refused(String),
    /// Credits for exploring are used up, and the final steps brought no result.
    OutOfCredits,
    /// Further requests to the model were pointless.
    GaveUp(String),
}

impl LoopOutcome {
    /// What a sub-agent reports to the orchestrator.
    pub fn report(&self) -> String {
        match self {
            Self::Finished(finish) => match (&finish.message, &finish.data) {
                (Some(message), _) => message.clone(),
                (None, Some(data)) => data.to_string(),
                (None, None) => "done".to_owned(),
            },
            Self::Refused(why) => format!("declined: {why}"),
            Self::OutOfCredits => "the credits were used up".to_owned(),
            Self::GaveUp(why) => format!("given up: {why}"),
        }
    }

    pub fn access_error(&self) -> Option<AccessError> {
        (*self == Self::OutOfCredits).then_some(AccessError::CreditLimit)
    }
}

/// Counters of one loop.
#[derive(Debug, Default)]
struct LoopState {
    fruitless: usize,
    failed_calls: usize,
    repairs: usize,
    /// Earlier calls, to detect repetition.
    calls_made: HashSet<(String, String)>,
    /// No more pages can be read: the model may only use what it has.
    finishing: bool,
}

pub(super) fn run_steps<'p>(
    agent: &'p Agent<'_>,
    session: &'p ModelSession<'_>,
    brief: Brief,
) -> BoxFuture<'p, LoopOutcome> {
    Box::pin(async move {
        let outcome = ask_until_done(agent, session, brief).await;
        agent.close_browser().await;
        outcome
    })
}

async fn ask_until_done(agent: &Agent<'_>, session: &ModelSession<'_>, brief: Brief) -> LoopOutcome {
    let mut conversation = Conversation::new(&brief, session.chat.abilities());
    let mut state = LoopState::default();
    let mut left = brief.steps;
    while left > 0 && session.can_pay(agent) {
        left -= 1;
        if !state.finishing && (left < FINAL_STEPS || agent.run.ledger.is_spent()) {
            state.finishing = true;
            left = left.min(FINAL_STEPS);
            conversation.add_remark(
                &ChatResponse::default(),
                "Nothing more can be read. Record what you know and call finish now.",
            );
        }
        let toolbox = Toolbox {
            explore: !agent.run.task.strict,
            delegate: brief.leads && !state.finishing,
            read: !state.finishing,
            browser: agent.run.web.has_browser(),
        };
        let reply = match session.ask(agent, &conversation.build_request(toolbox)).await {
            Ok(reply) => reply,
            Err(error) => {
                state.failed_calls += 1;
                agent.report_error(AgentErrorSource::Agent, error.to_string(), is_retryable(&error)).await;
                if state.failed_calls >= MAX_FAILED_CALLS || !is_retryable(&error) {
                    return LoopOutcome::GaveUp(error.to_string());
                }
                continue;
            }
        };
        state.failed_calls = 0;
        if let Some(outcome) =
            handle_reply(agent, session, &brief, &mut conversation, &mut state, toolbox, reply).await
        {
            return outcome;
        }
        if state.fruitless >= MAX_FRUITLESS_STEPS {
            return LoopOutcome::GaveUp(format!(
                "the model made no progress in {MAX_FRUITLESS_STEPS} answers"
            ));
        }
    }
    if agent.run.ledger.is_spent() {
        LoopOutcome::OutOfCredits
    } else {
        LoopOutcome::GaveUp("the model did not finish".to_owned())
    }
}

/// Whether another request may succeed.
fn is_retryable(error: &ChatError) -> bool {
    !matches!(error, ChatError::Refused(_))
}

/// Executes the calls of one reply; `Some` when the loop ends with it.
async fn handle_reply(
    agent: &Agent<'_>,
    session: &ModelSession<'_>,
    brief: &Brief,
    conversation: &mut Conversation,
    state: &mut LoopState,
    toolbox: Toolbox,
    reply: ChatResponse,
) -> Option<LoopOutcome> {
    if reply.finish == Finish::Refused {
        return Some(LoopOutcome::Refused(cut(reply.text.trim(), 500)));
    }
    let calls = tool_calls(&reply);
    if calls.is_empty() {
        return handle_text_reply(agent, session, brief, conversation, state, &reply).await;
    }
    if !reply.calls.is_empty() && !reply.text.trim().is_empty() {
        agent
            .record_event(AgentEvent::Reasoning { text: cut(reply.text.trim(), MAX_REASONING_CHARACTERS) })
            .await;
    }
    let mut outputs: Vec<(ToolCall, ToolOutput)> = Vec::new();
    let mut ended = None;
    for (number, call) in calls.into_iter().enumerate() {
        let output = if ended.is_some() {
            ToolOutput::not_useful("the task has ended")
        } else if number >= MAX_TOOL_CALLS {
            ToolOutput::not_useful(format!("only {MAX_TOOL_CALLS} calls are done at once; ask again"))
        } else {
            match toolbox.parse_call(&call.name, &call.arguments) {
                Err(_) if reply.finish == Finish::Length => {
                    let reason = "your answer was cut at the token limit; make a shorter call";
                    report_unreadable_call(agent, &call.name, &call.arguments, reason).await
                }
                Err(reason) => report_unreadable_call(agent, &call.name, &call.arguments, &reason).await,
                Ok(Action::Finish(finish)) => match try_finish(agent, session, brief, state, finish).await {
                    Ok(outcome) => {
                        ended = Some(outcome);
                        ToolOutput::useful("the task ends")
                    }
                    Err(reason) => ToolOutput::not_useful(reason),
                },
                Ok(action) => {
                    let is_new = state.calls_made.insert((call.name.clone(), call.arguments.clone()));
                    let again = !is_new && !action.is_repeatable();
                    if again {
                        ToolOutput::not_useful("you made this very call before; its answer has not changed")
                    } else {
                        execute(agent, session, conversation.max_data_characters(), action).await
                    }
                }
            }
        };
        outputs.push((call, output));
    }
    let useful = outputs.iter().any(|(_, output)| output.useful);
    state.fruitless = if useful { 0 } else { state.fruitless + 1 };
    conversation.add_exchange(&reply, outputs);
    ended
}

/// The tool calls of a reply: native ones, or one written as text.
fn tool_calls(reply: &ChatResponse) -> Vec<ToolCall> {
    if !reply.calls.is_empty() {
        return reply.calls.clone();
    }
    let written = find_call(&reply.text);
    written
        .map(|(name, arguments)| ToolCall { id: "written".to_owned(), name, arguments })
        .into_iter()
        .collect()
}

/// Handles a reply without tool calls: the end of a chat, the result itself as JSON, or else a reason to
/// remind the model.
async fn handle_text_reply(
    agent: &Agent<'_>,
    session: &ModelSession<'_>,
    brief: &Brief,
    conversation: &mut Conversation,
    state: &mut LoopState,
    reply: &ChatResponse,
) -> Option<LoopOutcome> {
    let text = reply.text.trim();
    if reply.finish == Finish::Length {
        state.fruitless += 1;
        agent
            .report_error(AgentErrorSource::Agent, "the model's reply was cut off at its token limit", true)
            .await;
        conversation.add_remark(
            reply,
            "Your answer was cut at the token limit. Be shorter: make one small tool call.",
        );
        return None;
    }
    let chat = agent.run.task.mode == TaskMode::Chat;
    if !text.is_empty() && (chat || !brief.leads) {
        let finish = FinishArguments { message: Some(text.to_owned()), ..FinishArguments::default() };
        return Some(LoopOutcome::Finished(finish));
    }
    let result = find_json_object(text)
        .filter(|data| session.schema.as_ref().is_none_or(|schema| schema.validate(data).is_ok()));
    if let Some(data) = result {
        let finish = FinishArguments { data: Some(data), ..FinishArguments::default() };
        if let Ok(outcome) = try_finish(agent, session, brief, state, finish).await {
            return Some(outcome);
        }
    }
    state.fruitless += 1;
    conversation.add_remark(reply, "Call a tool. When the result is recorded, call finish.");
    None
}

/// Accepts the model's `finish`, or returns the reason against it, a bounded number of times.
async fn try_finish(
    agent: &Agent<'_>,
    session: &ModelSession<'_>,
    brief: &Brief,
    state: &mut LoopState,
    finish: FinishArguments,
) -> Result<LoopOutcome, String> {
    let call = agent
        .begin_call("finish", json!({ "data": finish.data.is_some(), "message": finish.message.as_deref().map(crate::agent::shown) }))
        .await;
    let error = if brief.leads { session.finish_error(agent, &finish).await } else { None };
    match error {
        Some(error) if state.repairs < MAX_REPAIRS => {
            state.repairs += 1;
            agent.fail_call(&call, crate::agent::shown(&error)).await;
            Err(error)
        }
        _ => {
            agent.end_call(&call, json!({ "accepted": error.is_none() })).await;
            Ok(LoopOutcome::Finished(finish))
        }
    }
}
