//! A chat turn without a model: answers with the best passages, verbatim, and their sources.

use super::link_score::LinkScorer;
use crate::agent::{Agent, cut};
use crate::conclude::finish_failed;
use crate::prompt_words::search_query;
use crate::run::ParsedPage;
use crate::{AgentOutcome, BrainOutcome, Phase, Suggestion};
use std::sync::Arc;

/// Pages quoted in an answer, and characters quoted of each.
const MAX_QUOTED_PAGES: usize = 3;
const MAX_QUOTE_CHARACTERS: usize = 1_500;
const MAX_SUGGESTIONS: usize = 3;
/// Lines examined of one page.
const MAX_LINES: usize = 20_000;
/// Pages read in addition to the start pages.
const MAX_EXTRA_PAGES: usize = 3;

/// Answers the prompt from the pages read so far, and reads a few more when none of them answers it.
pub(crate) async fn answer_chat(lead: &Agent<'_>) -> BrainOutcome {
    let prompt = &lead.run.task.prompt;
    let scorer = LinkScorer::new(prompt, std::iter::once(prompt.as_str()));
    let mut quoted = passages(lead, prompt).await;
    if !answers(&quoted, prompt) && !lead.run.task.strict {
        for url in unread_links(lead, &scorer).into_iter().take(MAX_EXTRA_PAGES) {
            // The error is already in the trace; the next page may have the answer.
            let _ = lead.read_page(&url).await;
        }
        quoted = passages(lead, prompt).await;
    }
    if quoted.is_empty() {
        return finish_failed(lead, "no passage on the pages that were read answers this".to_owned()).await;
    }
    let message = quoted
        .iter()
        .map(|(parsed, text)| {
            let title = parsed.title.as_deref().unwrap_or(&parsed.url);
            format!("{text}\n\nSource: [{}]({})", cut(title.trim(), 120), parsed.url)
        })
        .collect::<Vec<_>>()
        .join("\n\n");
    lead.progress(Phase::Finalizing, format!("Answering with passages of {} pages", quoted.len())).await;
    lead.finish(AgentOutcome::Succeeded, None).await;
    BrainOutcome::Answered {
        data: None,
        message: Some(message),
        suggestions: suggestions(lead, &scorer),
        note: None,
    }
}

/// Whether a passage contains at least half of the words of the prompt.
fn answers(quoted: &[(Arc<ParsedPage>, String)], prompt: &str) -> bool {
    let words: Vec<String> = search_query(prompt).to_lowercase().split(' ').map(str::to_owned).collect();
    quoted.iter().any(|(_, text)| count_matches(text, &words) * 2 >= words.len())
}

/// Pages with passages for the prompt, those with more of its words first.
async fn passages(lead: &Agent<'_>, prompt: &str) -> Vec<(Arc<ParsedPage>, String)> {
    let (parsed_pages, prompt) = (lead.run.parsed_pages(), prompt.to_owned());
    lead.run.compute(move || find_passages(&parsed_pages, &prompt)).await.unwrap_or_default()
}

fn find_passages(parsed_pages: &[Arc<ParsedPage>], prompt: &str) -> Vec<(Arc<ParsedPage>, String)> {
    let words: Vec<String> = search_query(prompt).to_lowercase().split(' ').map(str::to_owned).collect();
    let mut found: Vec<(usize, Arc<ParsedPage>, String)> = parsed_pages
        .iter()
        .filter_map(|parsed| {
            let mut text = text::highlights::highlights(&parsed.markdown, prompt);
            if text.trim().is_empty() {
                text = best_lines(&parsed.markdown, &words);
            }
            let matches = count_matches(&text, &words);
            (matches > 0).then(|| (matches, Arc::clone(parsed), cut(text.trim(), MAX_QUOTE_CHARACTERS)))
        })
        .collect();
    found.sort_by_key(|(matches, parsed, _)| (std::cmp::Reverse(*matches), parsed.order));
    found.into_iter().take(MAX_QUOTED_PAGES).map(|(_, parsed, text)| (parsed, text)).collect()
}

/// How many of the words a text contains.
fn count_matches(text: &str, words: &[String]) -> usize {
    let text = text.to_lowercase();
    words.iter().filter(|word| text.contains(word.as_str())).count()
}

/// The lines with the most matching words, in page order; used where no passage answers the prompt.
fn best_lines(markdown: &str, words: &[String]) -> String {
    let lines: Vec<(usize, &str)> =
        markdown.lines().take(MAX_LINES).map(|line| (count_matches(line, words), line.trim())).collect();
    let most = lines.iter().map(|(matches, _)| *matches).max().unwrap_or(0);
    let best = lines.iter().filter(|(matches, line)| *matches == most && most > 0 && !line.starts_with('#'));
    best.map(|(_, line)| *line).take(3).collect::<Vec<_>>().join("\n")
}

fn unread_links(lead: &Agent<'_>, scorer: &LinkScorer) -> Vec<String> {
    let parsed_pages = lead.run.parsed_pages();
    let mut found: Vec<(f32, &str)> = parsed_pages.iter().flat_map(|parsed| scorer.links(parsed)).collect();
    found.retain(|(_, url)| !lead.run.was_requested(url));
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, url)| url.to_owned()).collect()
}

/// Suggested next prompts: unread pages about the same subject.
fn suggestions(lead: &Agent<'_>, scorer: &LinkScorer) -> Vec<Suggestion> {
    let parsed_pages = lead.run.parsed_pages();
    let mut suggested: Vec<Suggestion> = Vec::new();
    for url in unread_links(lead, scorer) {
        let text = parsed_pages.iter().flat_map(|parsed| &parsed.links).find(|link| link.url == url);
        let label = text.map(|link| cut(link.text.trim(), 60)).unwrap_or_default();
        if label.is_empty() || suggested.iter().any(|known| known.label == label) {
            continue;
        }
        suggested.push(Suggestion { prompt: format!("What does {url} say about this?"), label });
        if suggested.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    suggested
}
