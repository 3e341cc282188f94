//! Executes the tool calls of a model, within what the request allows.

use super::ModelSession;
use super::action::{Action, DelegatedPart, RecordEntry};
use super::conversation::ToolOutput;
use super::steps::{Brief, run_steps};
use crate::agent::{Acted, Agent, cut, shown};
use crate::artifact::ValueSource;
use crate::calculate::calculate;
use crate::evidence::{is_on_page, quote_has_value};
use crate::run::{AccessError, ParsedPage};
use crate::{AgentErrorSource, BrowserView, subagents};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Search results and mapped URLs shown to the model.
const MAX_HITS: usize = 20;
const MAX_MAPPED_URLS: usize = 40;
/// Links of a page shown to the model.
const MAX_LINKS: usize = 40;
/// Limit of call parameters in the trace.
const MAX_PARAMETER_CHARACTERS: usize = 2_000;

/// Executes one action; `Finish` is handled by the loop.
pub(super) async fn execute(
    agent: &Agent<'_>,
    session: &ModelSession<'_>,
    max_characters: usize,
    action: Action,
) -> ToolOutput {
    match action {
        Action::Search(arguments) => {
            let limit = arguments.limit.unwrap_or(10).clamp(1, MAX_HITS);
            match agent.search(&cut(&arguments.query, 400), limit).await {
                Ok(hits) if hits.is_empty() => ToolOutput::not_useful("nothing was found"),
                Ok(hits) => {
                    let lines =
                        hits.iter().map(|hit| format!("{}\n{}\n{}", hit.url, hit.title, hit.description));
                    let text = lines.collect::<Vec<_>>().join("\n\n");
                    ToolOutput::useful(format!("{} results, as data below", hits.len()))
                        .with("search results", text)
                }
                Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
            }
        }
        Action::Map(arguments) => {
            let words = arguments.search.map(|words| cut(&words, 200));
            match agent.map(&arguments.url, words.as_deref(), MAX_MAPPED_URLS).await {
                Ok(links) if links.is_empty() => ToolOutput::not_useful("no addresses were found"),
                Ok(links) => {
                    let lines = links.iter().map(|link| format!("{} {}", link.url, link.text));
                    let text = lines.collect::<Vec<_>>().join("\n");
                    ToolOutput::useful(format!("{} addresses, as data below", links.len()))
                        .with(&arguments.url, text)
                }
                Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
            }
        }
        Action::Scrape(arguments) => match agent.read_page(&arguments.url).await {
            Ok(parsed) => page_output(agent, &parsed, session, max_characters).await,
            Err(AccessError::AlreadyRead) => match agent.run.page_at(&arguments.url) {
                Some(parsed) => {
                    ToolOutput { useful: false, ..page_output(agent, &parsed, session, max_characters).await }
                }
                None => ToolOutput::not_useful("this page was requested before and could not be fetched"),
            },
            Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
        },
        Action::OpenBrowser(arguments) => match agent.open_browser(&arguments.url).await {
            Ok(view) => view_output("the page in the browser, as data below", true, &view, max_characters),
            Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
        },
        Action::BrowserCommand(arguments) => match agent.act_in_browser(&arguments.command).await {
            Ok(Acted { view, has_changed: true }) => {
                view_output("done; the page now, as data below", true, &view, max_characters)
            }
            Ok(Acted { view, .. }) => {
                view_output("done, but the page shows the same, as data below", false, &view, max_characters)
            }
            Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
        },
        Action::ReadBrowser => match agent.read_browser().await {
            Ok(parsed) => page_output(agent, &parsed, session, max_characters).await,
            Err(access_error) => ToolOutput::not_useful(access_error.to_string()),
        },
        Action::ReadPassages(arguments) => {
            let call = agent
                .begin_call(
                    "read_passages",
                    json!({ "url": shown(&arguments.url), "query": shown(&arguments.query) }),
                )
                .await;
            let Some(parsed) = agent.run.page_at(&arguments.url) else {
                agent.fail_call(&call, "this page was not read".to_owned()).await;
                return ToolOutput::not_useful("this page was not read; scrape it first");
            };
            let passages = passages(agent, &parsed, cut(&arguments.query, 500)).await;
            agent.end_call(&call, json!({ "characters": passages.len() })).await;
            if passages.is_empty() {
                return ToolOutput::not_useful("no passage of the page answers this");
            }
            ToolOutput::useful("passages, as data below").with(&parsed.url, passages)
        }
        Action::Calculate(arguments) => {
            let call =
                agent.begin_call("calculate", json!({ "expression": shown(&arguments.expression) })).await;
            let result = calculate(&arguments.expression);
            match result {
                Ok(value) => {
                    agent.end_call(&call, json!({ "result": value })).await;
                    ToolOutput::useful(format!("{} = {value}", arguments.expression))
                }
                Err(error) => {
                    agent.fail_call(&call, error.to_string()).await;
                    ToolOutput::not_useful(error.to_string())
                }
            }
        }
        Action::Record(entries) => record(agent, session, entries).await,
        Action::Delegate(parts) => delegate(agent, session, parts).await,
        Action::Finish(_) => ToolOutput::useful("the task ends"),
    }
}

/// Records a call that could not be parsed.
pub(super) async fn report_unreadable_call(
    agent: &Agent<'_>,
    name: &str,
    arguments: &str,
    reason: &str,
) -> ToolOutput {
    let call = agent
        .begin_call(&cut(name, 60), json!({ "arguments": cut(arguments, MAX_PARAMETER_CHARACTERS) }))
        .await;
    agent.fail_call(&call, shown(reason)).await;
    agent
        .report_error(
            AgentErrorSource::Agent,
            format!("the model's call was not understood: {}", shown(reason)),
            true,
        )
        .await;
    ToolOutput::not_useful(reason)
}

/// The passages of a page that answer a query; empty where the search for them takes too long.
async fn passages(agent: &Agent<'_>, parsed: &ParsedPage, query: String) -> String {
    let markdown = parsed.markdown.clone();
    agent.run.compute(move || text::highlights::highlights(&markdown, &query)).await.unwrap_or_default()
}

/// A page as data for the model, shortened to what fits.
async fn page_output(
    agent: &Agent<'_>,
    parsed: &ParsedPage,
    session: &ModelSession<'_>,
    max_characters: usize,
) -> ToolOutput {
    let links = list_links(parsed, max_characters / 4);
    let max_characters = max_characters.saturating_sub(links.len() + 100);
    let whole = parsed.markdown.chars().count() <= max_characters;
    let text = if whole {
        parsed.markdown.to_string()
    } else {
        let start = cut(&parsed.markdown, max_characters / 2);
        let passages = cut(&passages(agent, parsed, session.query.clone()).await, max_characters / 2);
        format!("{start}\n\n(passages that fit the task)\n{passages}")
    };
    let remark = if whole {
        "the page, as data below"
    } else {
        "parts of a long page, as data below; read_passages brings more"
    };
    let title = parsed.title.as_deref().unwrap_or_default();
    ToolOutput::useful(remark).with(&parsed.url, format!("{title}\n\n{text}\n\nLinks:\n{links}"))
}

/// What a browser shows, as data for the model.
fn view_output(text: &str, useful: bool, view: &BrowserView, max_characters: usize) -> ToolOutput {
    let output = ToolOutput { useful, ..ToolOutput::useful(text) };
    output.with(&view.url, cut(&view.text, max_characters))
}

fn list_links(parsed: &ParsedPage, max_characters: usize) -> String {
    let mut text = String::new();
    for link in parsed.links.iter().take(MAX_LINKS) {
        let line = format!("{} {}\n", link.url, cut(&link.text, 80));
        if text.len() + line.len() > max_characters {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// Puts values into the result. A value is refused unless the page it names was read and contains the quoted
/// words.
async fn record(agent: &Agent<'_>, session: &ModelSession<'_>, entries: Vec<RecordEntry>) -> ToolOutput {
    let shown_entries: Vec<Value> = entries
        .iter()
        .take(20)
        .map(|entry| {
            json!({ "field": shown(&entry.field), "value": shown(&entry.value.to_string()),
            "url": shown(&entry.url), "quote": shown(&entry.quote) })
        })
        .collect();
    let call = agent.begin_call("record", json!({ "fields": shown_entries })).await;
    let mut artifact = session.artifact.lock().await;
    let (mut recorded, mut refused, mut flagged) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let field = shown(&entry.field);
        let readings = agent.run.pages_at(&entry.url);
        let Some(parsed) = readings.iter().find(|parsed| is_on_page(&entry.quote, parsed)) else {
            let why = if readings.is_empty() {
                "the page was not read"
            } else {
                "the quote was not found on the page"
            };
            refused.push(json!({ "field": field, "why": why }));
            continue;
        };
        let held = quote_has_value(&entry.quote, &entry.value);
        let source =
            ValueSource { url: parsed.url.clone(), quote: cut(&entry.quote, 1_000), doubtful: false };
        let mut tried = artifact.clone();
        let placed = tried.set(&entry.field, entry.value, Some(source)).map_err(|error| error.to_string());
        match placed.and_then(|pointer| session.check_fits_schema(tried.value(), &pointer).map(|()| pointer))
        {
            Ok(pointer) => {
                *artifact = tried;
                if !held {
                    flagged.push(json!({ "field": pointer, "why": "the quote does not contain the value" }));
                }
                recorded.push(json!(pointer));
            }
            Err(why) => refused.push(json!({ "field": field, "why": shown(&why) })),
        }
    }
    let useful = !recorded.is_empty();
    let result = json!({ "recorded": recorded, "refused": refused, "flagged": flagged });
    agent.end_call(&call, result.clone()).await;
    if let Some(event) = artifact.take_change_event(Some(call.id)) {
        agent.record_event(event).await;
    }
    let text = result.to_string();
    if useful { ToolOutput::useful(text) } else { ToolOutput::not_useful(text) }
}

/// Lets sub-agents work on parts of the task.
async fn delegate(agent: &Agent<'_>, session: &ModelSession<'_>, parts: Vec<DelegatedPart>) -> ToolOutput {
    let tasks: Vec<Value> =
        parts.iter().map(|part| json!({ "task": shown(&part.task), "urls": part.urls.len() })).collect();
    let call = agent.begin_call("delegate", json!({ "parts": tasks })).await;
    let reports: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
    let numbered: Vec<(usize, DelegatedPart)> = parts.into_iter().enumerate().collect();
    let count = numbered.len();
    subagents::run_parts(
        agent,
        "Researcher",
        numbered,
        &|subagent, (number, part): (usize, DelegatedPart)| {
            let reports = &reports;
            Box::pin(async move {
                let outcome = run_steps(subagent, session, Brief::part(session, &part)).await;
                let report = outcome.report();
                reports.lock().push((number, report));
                outcome.access_error().map_or(Ok(()), Err)
            })
        },
        &|| false,
    )
    .await;
    let mut reports = reports.into_inner();
    reports.sort();
    let value = session.artifact.lock().await.value().clone();
    agent.end_call(&call, json!({ "parts": count, "reported": reports.len() })).await;
    let mut output =
        ToolOutput::useful(format!("{} of {count} parts reported, as data below", reports.len()));
    for (number, report) in reports {
        output = output.with(&format!("report of part {}", number + 1), cut(&report, 2_000));
    }
    output.with("the result so far", cut(&value.to_string(), 4_000))
}
