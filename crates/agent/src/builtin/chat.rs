//! A turn of a chat without a model: the passages that answer best, word for word, with where they stand.

use super::leads::Wanted;
use crate::answer::failed;
use crate::run::Reading;
use crate::wants::query;
use crate::worker::{Worker, cut};
use crate::{Ended, Outcome, Phase, Suggestion};
use std::sync::Arc;

/// Pages quoted, and characters of each.
const MOST_PAGES: usize = 3;
const LONGEST_QUOTE: usize = 1_500;
const MOST_SUGGESTIONS: usize = 3;
/// Lines of a page that are looked at.
const MOST_LINES: usize = 20_000;
/// Pages looked at beside those the turn began with.
const MORE_PAGES: usize = 3;

/// Answers the prompt from what was read, and from a few pages more when nothing answers it.
pub(crate) async fn converse(lead: &Worker<'_>) -> Ended {
    let prompt = &lead.run.task.prompt;
    let wanted = Wanted::new(prompt, std::iter::once(prompt.as_str()));
    let mut quoted = passages(lead, prompt).await;
    if !answers(&quoted, prompt) && !lead.run.task.strict {
        for url in leads(lead, &wanted).into_iter().take(MORE_PAGES) {
            // Told where it happened; the next one may do.
            let _ = lead.read(&url).await;
        }
        quoted = passages(lead, prompt).await;
    }
    if quoted.is_empty() {
        return failed(lead, "no passage of the pages that were read answers this".to_owned()).await;
    }
    let message = quoted
        .iter()
        .map(|(reading, text)| {
            let title = reading.title.as_deref().unwrap_or(&reading.url);
            format!("{text}\n\nSource: [{}]({})", cut(title.trim(), 120), reading.url)
        })
        .collect::<Vec<_>>()
        .join("\n\n");
    lead.progress(Phase::Finalizing, format!("Answering with passages of {} pages", quoted.len())).await;
    lead.finish(Outcome::Succeeded, None).await;
    Ended::Answered {
        data: None,
        message: Some(message),
        suggestions: suggestions(lead, &wanted),
        note: None,
    }
}

/// Whether what was found holds at least half of what the prompt is about.
fn answers(quoted: &[(Arc<Reading>, String)], prompt: &str) -> bool {
    let words: Vec<String> = query(prompt).to_lowercase().split(' ').map(str::to_owned).collect();
    quoted.iter().any(|(_, text)| held(text, &words) * 2 >= words.len())
}

/// The pages that have passages for the prompt, those that hold more of its words first.
async fn passages(lead: &Worker<'_>, prompt: &str) -> Vec<(Arc<Reading>, String)> {
    let (readings, prompt) = (lead.run.readings(), prompt.to_owned());
    lead.run.compute(move || passages_of(&readings, &prompt)).await.unwrap_or_default()
}

fn passages_of(readings: &[Arc<Reading>], prompt: &str) -> Vec<(Arc<Reading>, String)> {
    let words: Vec<String> = query(prompt).to_lowercase().split(' ').map(str::to_owned).collect();
    let mut found: Vec<(usize, Arc<Reading>, String)> = readings
        .iter()
        .filter_map(|reading| {
            let mut text = content::highlights::highlights(&reading.markdown, prompt);
            if text.trim().is_empty() {
                text = lines_with(&reading.markdown, &words);
            }
            let held = held(&text, &words);
            (held > 0).then(|| (held, Arc::clone(reading), cut(text.trim(), LONGEST_QUOTE)))
        })
        .collect();
    found.sort_by_key(|(held, reading, _)| (std::cmp::Reverse(*held), reading.place));
    found.into_iter().take(MOST_PAGES).map(|(_, reading, text)| (reading, text)).collect()
}

/// How many of the words a text holds.
fn held(text: &str, words: &[String]) -> usize {
    let text = text.to_lowercase();
    words.iter().filter(|word| text.contains(word.as_str())).count()
}

/// The lines of a page that hold most of the words, in the page's order: where no passage answers, the nearest there is.
fn lines_with(markdown: &str, words: &[String]) -> String {
    let lines: Vec<(usize, &str)> =
        markdown.lines().take(MOST_LINES).map(|line| (held(line, words), line.trim())).collect();
    let most = lines.iter().map(|(held, _)| *held).max().unwrap_or(0);
    let best = lines.iter().filter(|(held, line)| *held == most && most > 0 && !line.starts_with('#'));
    best.map(|(_, line)| *line).take(3).collect::<Vec<_>>().join("\n")
}

fn leads(lead: &Worker<'_>, wanted: &Wanted) -> Vec<String> {
    let readings = lead.run.readings();
    let mut found: Vec<(f32, &str)> = readings.iter().flat_map(|reading| wanted.links(reading)).collect();
    found.retain(|(_, url)| !lead.run.was_asked(url));
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, url)| url.to_owned()).collect()
}

/// What could be asked next: pages that speak of the same and were not read.
fn suggestions(lead: &Worker<'_>, wanted: &Wanted) -> Vec<Suggestion> {
    let readings = lead.run.readings();
    let mut suggested: Vec<Suggestion> = Vec::new();
    for url in leads(lead, wanted) {
        let text = readings.iter().flat_map(|reading| &reading.links).find(|link| link.url == url);
        let label = text.map(|link| cut(link.text.trim(), 60)).unwrap_or_default();
        if label.is_empty() || suggested.iter().any(|known| known.label == label) {
            continue;
        }
        suggested.push(Suggestion { prompt: format!("What does {url} say about this?"), label });
        if suggested.len() == MOST_SUGGESTIONS {
            break;
        }
    }
    suggested
}
