//! The loop of a model: asked, answered, asked again, until it finishes or there is no use in asking. Every way out is bounded: steps,
//! fruitless steps in a row, failed calls in a row, credits.

use super::Desk;
use super::action::{Action, Assignment, FinishArguments, Toolbox, call_in_text, object_in_text};
use super::perform::{misread, perform};
use super::talk::{Answer, Talk};
use crate::run::Setback;
use crate::worker::{Worker, cut};
use crate::{FaultSource, Mode, Told};
use futures_util::future::BoxFuture;
use model::chat::{ChatError, Finish, Reply, ToolCall};
use serde_json::json;
use std::collections::HashSet;

/// Steps in a row that may lead nowhere, and calls of the model in a row that may fail.
const PATIENCE: usize = 3;
const MOST_FAILURES: usize = 2;
/// Times the model is asked after it was told that nothing more can be read.
const LAST_WORDS: usize = 2;
/// Calls that are done of one answer.
const MOST_CALLS: usize = 8;
/// Times that an answer which does not fit the schema is given back.
const MOST_REPAIRS: usize = 2;
/// What a model says beside its calls, in the trace.
const SHOWN_REASONING: usize = 600;

/// What a worker is to think about.
#[derive(Debug, Clone)]
pub(super) struct Brief {
    pub system: String,
    /// What was found before, as data.
    pub background: Vec<(String, String)>,
    pub user: String,
    pub steps: usize,
    /// Not a sub-agent: may delegate, and its end is the answer.
    pub leads: bool,
}

impl Brief {
    pub fn part(desk: &Desk<'_>, part: &Assignment) -> Self {
        let mut user = cut(&part.task, 4_000);
        if !part.urls.is_empty() {
            user += "\n\nBegin at:";
            for url in part.urls.iter().take(10) {
                user += "\n";
                user += &cut(url, 500);
            }
        }
        Self {
            system: desk.rules(false),
            background: Vec::new(),
            user,
            steps: desk.steps.div_ceil(3).max(4),
            leads: false,
        }
    }
}

/// How thinking ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thought {
    Finished(FinishArguments),
    /// The model declined.
    Refused(String),
    /// Credits for exploring are used up, and the last word brought nothing.
    Credits,
    /// There was no use in asking further.
    GaveUp(String),
}

impl Thought {
    /// What a sub-agent says to the one that hired it.
    pub fn report(&self) -> String {
        match self {
            Self::Finished(finish) => match (&finish.message, &finish.data) {
                (Some(message), _) => message.clone(),
                (None, Some(data)) => data.to_string(),
                (None, None) => "done".to_owned(),
            },
            Self::Refused(why) => format!("declined: {why}"),
            Self::Credits => "the credits were used up".to_owned(),
            Self::GaveUp(why) => format!("given up: {why}"),
        }
    }

    pub fn setback(&self) -> Option<Setback> {
        (*self == Self::Credits).then_some(Setback::Credits)
    }
}

/// Where a talk stands.
#[derive(Debug, Default)]
struct Standing {
    fruitless: usize,
    failures: usize,
    repairs: usize,
    /// Calls that were made, to see when one is repeated.
    made: HashSet<(String, String)>,
    /// The credits for exploring are used up: only what was read can be used now.
    last_word: bool,
}

pub(super) fn think<'p>(worker: &'p Worker<'_>, desk: &'p Desk<'_>, brief: Brief) -> BoxFuture<'p, Thought> {
    Box::pin(async move {
        let mut talk = Talk::new(&brief, desk.chat.abilities());
        let mut standing = Standing::default();
        let mut left = brief.steps;
        while left > 0 && desk.may_ask(worker) {
            left -= 1;
            if !standing.last_word && (left < LAST_WORDS || worker.run.ledger.is_spent()) {
                standing.last_word = true;
                left = left.min(LAST_WORDS);
                talk.remark(
                    &Reply::default(),
                    "Nothing more can be read. Record what you know and call finish now.",
                );
            }
            let toolbox = Toolbox {
                explore: !worker.run.task.strict,
                delegate: brief.leads && !standing.last_word,
                read: !standing.last_word,
            };
            let reply = match desk.ask(worker, &talk.ask(toolbox)).await {
                Ok(reply) => reply,
                Err(error) => {
                    standing.failures += 1;
                    worker.trouble(FaultSource::Agent, error.to_string(), may_pass(&error)).await;
                    if standing.failures >= MOST_FAILURES || !may_pass(&error) {
                        return Thought::GaveUp(error.to_string());
                    }
                    continue;
                }
            };
            standing.failures = 0;
            if let Some(thought) = turn(worker, desk, &brief, &mut talk, &mut standing, toolbox, reply).await
            {
                return thought;
            }
            if standing.fruitless >= PATIENCE {
                return Thought::GaveUp(format!("the model made no progress in {PATIENCE} answers"));
            }
        }
        if worker.run.ledger.is_spent() {
            Thought::Credits
        } else {
            Thought::GaveUp("the model did not finish".to_owned())
        }
    })
}

/// Whether asking once more can help.
fn may_pass(error: &ChatError) -> bool {
    !matches!(error, ChatError::Refused(_))
}

/// What comes of one answer of the model; `Some` when it was the last.
async fn turn(
    worker: &Worker<'_>,
    desk: &Desk<'_>,
    brief: &Brief,
    talk: &mut Talk,
    standing: &mut Standing,
    toolbox: Toolbox,
    reply: Reply,
) -> Option<Thought> {
    if reply.finish == Finish::Refused {
        return Some(Thought::Refused(cut(reply.text.trim(), 500)));
    }
    let calls = calls_of(&reply);
    if calls.is_empty() {
        return without_calls(worker, desk, brief, talk, standing, &reply).await;
    }
    if !reply.calls.is_empty() && !reply.text.trim().is_empty() {
        worker.tell(Told::Reasoning { text: cut(reply.text.trim(), SHOWN_REASONING) }).await;
    }
    let mut answers: Vec<(ToolCall, Answer)> = Vec::new();
    let mut ended = None;
    for (number, call) in calls.into_iter().enumerate() {
        let answer = if ended.is_some() {
            Answer::vain("the task has ended")
        } else if number >= MOST_CALLS {
            Answer::vain(format!("only {MOST_CALLS} calls are done at once; ask again"))
        } else {
            match toolbox.action(&call.name, &call.arguments) {
                Err(_) if reply.finish == Finish::Length => {
                    let reason = "your answer was cut at the token limit; make a shorter call";
                    misread(worker, &call.name, &call.arguments, reason).await
                }
                Err(reason) => misread(worker, &call.name, &call.arguments, &reason).await,
                Ok(Action::Finish(finish)) => match finishing(worker, desk, brief, standing, finish).await {
                    Ok(thought) => {
                        ended = Some(thought);
                        Answer::useful("the task ends")
                    }
                    Err(reason) => Answer::vain(reason),
                },
                Ok(action) => {
                    let again = !standing.made.insert((call.name.clone(), call.arguments.clone()));
                    if again {
                        Answer::vain("you made this very call before; its answer has not changed")
                    } else {
                        perform(worker, desk, talk.data_room(), action).await
                    }
                }
            }
        };
        answers.push((call, answer));
    }
    let useful = answers.iter().any(|(_, answer)| answer.useful);
    standing.fruitless = if useful { 0 } else { standing.fruitless + 1 };
    talk.exchange(&reply, answers);
    ended
}

/// The calls of an answer: as the server gives them, or written into the text.
fn calls_of(reply: &Reply) -> Vec<ToolCall> {
    if !reply.calls.is_empty() {
        return reply.calls.clone();
    }
    let written = call_in_text(&reply.text);
    written
        .map(|(name, arguments)| ToolCall { id: "written".to_owned(), name, arguments })
        .into_iter()
        .collect()
}

/// An answer in words alone: the end of a chat, perhaps the result itself, else a reason to remind the model.
async fn without_calls(
    worker: &Worker<'_>,
    desk: &Desk<'_>,
    brief: &Brief,
    talk: &mut Talk,
    standing: &mut Standing,
    reply: &Reply,
) -> Option<Thought> {
    let text = reply.text.trim();
    if reply.finish == Finish::Length {
        standing.fruitless += 1;
        worker.trouble(FaultSource::Agent, "the model's answer was cut at its token limit", true).await;
        talk.remark(reply, "Your answer was cut at the token limit. Be shorter: make one small tool call.");
        return None;
    }
    let chat = worker.run.task.mode == Mode::Chat;
    if !text.is_empty() && (chat || !brief.leads) {
        let finish = FinishArguments { message: Some(text.to_owned()), ..FinishArguments::default() };
        return Some(Thought::Finished(finish));
    }
    let result = object_in_text(text)
        .filter(|data| desk.schema.as_ref().is_none_or(|schema| schema.validate(data).is_ok()));
    if let Some(data) = result {
        let finish = FinishArguments { data: Some(data), ..FinishArguments::default() };
        if let Ok(thought) = finishing(worker, desk, brief, standing, finish).await {
            return Some(thought);
        }
    }
    standing.fruitless += 1;
    talk.remark(reply, "Call a tool. When the result is recorded, call finish.");
    None
}

/// Whether a model may finish as it wants to; the reason why not is written for it, a bounded number of times.
async fn finishing(
    worker: &Worker<'_>,
    desk: &Desk<'_>,
    brief: &Brief,
    standing: &mut Standing,
    finish: FinishArguments,
) -> Result<Thought, String> {
    let call = worker
        .begin("finish", json!({ "data": finish.data.is_some(), "message": finish.message.as_deref().map(crate::worker::shown) }))
        .await;
    let problem = if brief.leads { desk.problem_with(worker, &finish).await } else { None };
    match problem {
        Some(problem) if standing.repairs < MOST_REPAIRS => {
            standing.repairs += 1;
            worker.end(&call, json!({ "error": crate::worker::shown(&problem) })).await;
            Err(problem)
        }
        _ => {
            worker.end(&call, json!({ "accepted": problem.is_none() })).await;
            Ok(Thought::Finished(finish))
        }
    }
}
