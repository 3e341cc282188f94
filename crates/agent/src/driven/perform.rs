//! Doing what a model asked for, within what the request allows, and telling it.

use super::Desk;
use super::action::{Action, Assignment, Entry};
use super::talk::Answer;
use super::think::{Brief, think};
use crate::artifact::Source;
use crate::calculate::calculate;
use crate::evidence::{holds, stands_on};
use crate::run::{Reading, Setback};
use crate::worker::{Worker, cut, shown};
use crate::{FaultSource, crew};
use serde_json::{Value, json};
use std::sync::Mutex;

/// Results of a search and addresses of a map that a model is shown.
const MOST_HITS: usize = 20;
const MOST_ADDRESSES: usize = 40;
/// Links of a page that a model is shown.
const MOST_LINKS: usize = 40;
/// Longest parameters in the trace.
const SHOWN_PARAMETERS: usize = 2_000;

/// Does what was asked; `Finish` is not done here.
pub(super) async fn perform(worker: &Worker<'_>, desk: &Desk<'_>, room: usize, action: Action) -> Answer {
    match action {
        Action::Search(asked) => {
            let limit = asked.limit.unwrap_or(10).clamp(1, MOST_HITS);
            match worker.search(&cut(&asked.query, 400), limit).await {
                Ok(hits) if hits.is_empty() => Answer::vain("nothing was found"),
                Ok(hits) => {
                    let lines =
                        hits.iter().map(|hit| format!("{}\n{}\n{}", hit.url, hit.title, hit.description));
                    let text = lines.collect::<Vec<_>>().join("\n\n");
                    Answer::useful(format!("{} results, as data below", hits.len()))
                        .with("search results", text)
                }
                Err(setback) => Answer::vain(setback.to_string()),
            }
        }
        Action::Map(asked) => {
            let words = asked.search.map(|words| cut(&words, 200));
            match worker.map(&asked.url, words.as_deref(), MOST_ADDRESSES).await {
                Ok(links) if links.is_empty() => Answer::vain("no addresses were found"),
                Ok(links) => {
                    let lines = links.iter().map(|link| format!("{} {}", link.url, link.text));
                    let text = lines.collect::<Vec<_>>().join("\n");
                    Answer::useful(format!("{} addresses, as data below", links.len())).with(&asked.url, text)
                }
                Err(setback) => Answer::vain(setback.to_string()),
            }
        }
        Action::Scrape(asked) => match worker.read(&asked.url).await {
            Ok(reading) => page(worker, &reading, desk, room).await,
            Err(Setback::Known) => match worker.run.reading(&asked.url) {
                Some(reading) => Answer { useful: false, ..page(worker, &reading, desk, room).await },
                None => Answer::vain("this page was asked for before and cannot be had"),
            },
            Err(setback) => Answer::vain(setback.to_string()),
        },
        Action::ReadPassages(asked) => {
            let call = worker
                .begin("read_passages", json!({ "url": shown(&asked.url), "query": shown(&asked.query) }))
                .await;
            let Some(reading) = worker.run.reading(&asked.url) else {
                worker.end(&call, json!({ "error": "this page was not read" })).await;
                return Answer::vain("this page was not read; scrape it first");
            };
            let passages = passages(worker, &reading, cut(&asked.query, 500)).await;
            worker.end(&call, json!({ "characters": passages.len() })).await;
            if passages.is_empty() {
                return Answer::vain("no passage of the page answers this");
            }
            Answer::useful("passages, as data below").with(&reading.url, passages)
        }
        Action::Calculate(asked) => {
            let call = worker.begin("calculate", json!({ "expression": shown(&asked.expression) })).await;
            let result = calculate(&asked.expression);
            let told = match &result {
                Ok(value) => json!({ "result": value }),
                Err(unclear) => json!({ "error": unclear.to_string() }),
            };
            worker.end(&call, told).await;
            match result {
                Ok(value) => Answer::useful(format!("{} = {value}", asked.expression)),
                Err(unclear) => Answer::vain(unclear.to_string()),
            }
        }
        Action::Record(entries) => record(worker, desk, entries).await,
        Action::Delegate(parts) => delegate(worker, desk, parts).await,
        Action::Finish(_) => Answer::useful("the task ends"),
    }
}

/// Tells a call that could not even be read.
pub(super) async fn misread(worker: &Worker<'_>, name: &str, arguments: &str, reason: &str) -> Answer {
    let call = worker.begin(&cut(name, 60), json!({ "arguments": cut(arguments, SHOWN_PARAMETERS) })).await;
    worker.end(&call, json!({ "error": shown(reason) })).await;
    worker
        .trouble(FaultSource::Agent, format!("the model's call was not understood: {}", shown(reason)), true)
        .await;
    Answer::vain(reason)
}

/// The passages of a page that answer a query; none where looking for them takes too long.
async fn passages(worker: &Worker<'_>, reading: &Reading, query: String) -> String {
    let markdown = reading.markdown.clone();
    worker.run.compute(move || content::highlights::highlights(&markdown, &query)).await.unwrap_or_default()
}

/// A page as a model sees it: as data, what fits of it.
async fn page(worker: &Worker<'_>, reading: &Reading, desk: &Desk<'_>, room: usize) -> Answer {
    let links = links_of(reading, room / 4);
    let room = room.saturating_sub(links.len() + 100);
    let whole = reading.markdown.chars().count() <= room;
    let text = if whole {
        reading.markdown.to_string()
    } else {
        let start = cut(&reading.markdown, room / 2);
        let passages = cut(&passages(worker, reading, desk.query.clone()).await, room / 2);
        format!("{start}\n\n(passages that fit the task)\n{passages}")
    };
    let remark = if whole {
        "the page, as data below"
    } else {
        "parts of a long page, as data below; read_passages brings more"
    };
    let title = reading.title.as_deref().unwrap_or_default();
    Answer::useful(remark).with(&reading.url, format!("{title}\n\n{text}\n\nLinks:\n{links}"))
}

fn links_of(reading: &Reading, room: usize) -> String {
    let mut text = String::new();
    for link in reading.links.iter().take(MOST_LINKS) {
        let line = format!("{} {}\n", link.url, cut(&link.text, 80));
        if text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// Puts values into the result, each only where the page it names was read and has the words it quotes.
async fn record(worker: &Worker<'_>, desk: &Desk<'_>, entries: Vec<Entry>) -> Answer {
    let shown_entries: Vec<Value> = entries
        .iter()
        .take(20)
        .map(|entry| {
            json!({ "field": shown(&entry.field), "value": shown(&entry.value.to_string()),
            "url": shown(&entry.url), "quote": shown(&entry.quote) })
        })
        .collect();
    let call = worker.begin("record", json!({ "fields": shown_entries })).await;
    let mut artifact = desk.artifact.lock().await;
    let (mut recorded, mut refused, mut flagged) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let field = shown(&entry.field);
        let Some(reading) = worker.run.reading(&entry.url) else {
            refused.push(json!({ "field": field, "why": "the page was not read" }));
            continue;
        };
        if !stands_on(&entry.quote, &reading) {
            refused.push(json!({ "field": field, "why": "the quote does not stand on the page" }));
            continue;
        }
        let held = holds(&entry.quote, &entry.value);
        let source = Source { url: reading.url.clone(), quote: cut(&entry.quote, 1_000) };
        let mut tried = artifact.clone();
        let placed =
            tried.set(&entry.field, entry.value, Some(source)).map_err(|misplaced| misplaced.to_string());
        match placed.and_then(|pointer| desk.fits(tried.value(), &pointer).map(|()| pointer)) {
            Ok(pointer) => {
                *artifact = tried;
                if !held {
                    flagged.push(json!({ "field": pointer, "why": "the quote does not hold the value" }));
                }
                recorded.push(json!(pointer));
            }
            Err(why) => refused.push(json!({ "field": field, "why": shown(&why) })),
        }
    }
    let useful = !recorded.is_empty();
    let result = json!({ "recorded": recorded, "refused": refused, "flagged": flagged });
    worker.end(&call, result.clone()).await;
    if let Some(told) = artifact.changes(Some(call.id)) {
        worker.tell(told).await;
    }
    let text = result.to_string();
    if useful { Answer::useful(text) } else { Answer::vain(text) }
}

/// Shares parts of the task out among sub-agents.
async fn delegate(worker: &Worker<'_>, desk: &Desk<'_>, parts: Vec<Assignment>) -> Answer {
    let tasks: Vec<Value> =
        parts.iter().map(|part| json!({ "task": shown(&part.task), "urls": part.urls.len() })).collect();
    let call = worker.begin("delegate", json!({ "parts": tasks })).await;
    let reports: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
    let numbered: Vec<(usize, Assignment)> = parts.into_iter().enumerate().collect();
    let count = numbered.len();
    crew::share_out(
        worker,
        "Researcher",
        numbered,
        &|hand, (number, part): (usize, Assignment)| {
            let reports = &reports;
            Box::pin(async move {
                let thought = think(hand, desk, Brief::part(desk, &part)).await;
                let report = thought.report();
                reports.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((number, report));
                thought.setback().map_or(Ok(()), Err)
            })
        },
        &|| false,
    )
    .await;
    let mut reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    reports.sort();
    let value = desk.artifact.lock().await.value().clone();
    worker.end(&call, json!({ "parts": count, "reported": reports.len() })).await;
    let mut answer = Answer::useful(format!("{} of {count} parts reported, as data below", reports.len()));
    for (number, report) in reports {
        answer = answer.with(&format!("report of part {}", number + 1), cut(&report, 2_000));
    }
    answer.with("the result so far", cut(&value.to_string(), 4_000))
}
