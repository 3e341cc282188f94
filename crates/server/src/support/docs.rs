//! The documentation that is part of this binary, and which of its sections fit a question.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Characters of a section that are shown.
const MAX_SHOWN_CHARS: usize = 1200;
/// Words of a question that count.
const MAX_WORDS: usize = 64;
/// A word of a heading says more than one of the text.
const HEADING_WEIGHT: f64 = 3.0;

macro_rules! documents {
    ($($name:literal),+ $(,)?) => {
        const DOCUMENTS: &[(&str, &str)] =
            &[$((concat!("docs/", $name), include_str!(concat!("../../../../docs/", $name)))),+];
    };
}

documents!(
    "agent.md",
    "api.md",
    "content.md",
    "crawl.md",
    "egress.md",
    "extract.md",
    "install.md",
    "integrations.md",
    "interact.md",
    "map.md",
    "mcp.md",
    "models.md",
    "monitor.md",
    "notifications.md",
    "ocr.md",
    "operate.md",
    "page-facts.md",
    "parse.md",
    "research.md",
    "scale.md",
    "scrape.md",
    "search.md",
    "structured-data.md",
    "upgrade.md",
    "v1.md",
    "webhooks.md",
);

/// A part of a document, from a heading to the next.
#[derive(Debug)]
pub struct Section {
    /// `docs/scrape.md#formats`
    pub place: String,
    pub heading: &'static str,
    pub text: &'static str,
    words: HashMap<String, f64>,
    length: f64,
}

impl Section {
    /// The beginning of its text.
    pub fn shown(&self) -> &'static str {
        let text = self.text.trim();
        let end = text.char_indices().nth(MAX_SHOWN_CHARS).map_or(text.len(), |(index, _)| index);
        let cut = if end < text.len() { text[..end].rfind('\n').unwrap_or(end) } else { end };
        text[..cut].trim_end()
    }
}

struct Sections {
    all: Vec<Section>,
    /// In how many sections a word is.
    spread: HashMap<String, f64>,
    mean_length: f64,
}

static SECTIONS: LazyLock<Sections> = LazyLock::new(|| {
    let all: Vec<_> = DOCUMENTS.iter().flat_map(|(path, text)| sections(path, text)).collect();
    let mut spread = HashMap::new();
    for word in all.iter().flat_map(|section| section.words.keys()) {
        *spread.entry(word.clone()).or_insert(0.0) += 1.0;
    }
    let mean_length = all.iter().map(|section| section.length).sum::<f64>() / all.len().max(1) as f64;
    Sections { all, spread, mean_length }
});

/// The sections that fit best, best first (BM25).
pub fn find_sections(question: &str, most: usize) -> Vec<&'static Section> {
    let sections = &*SECTIONS;
    let asked: HashSet<_> = words(question).take(MAX_WORDS).collect();
    let count = sections.all.len() as f64;
    let score = |section: &Section| -> f64 {
        let scores = asked.iter().filter_map(|word| {
            let (times, spread) = (section.words.get(word)?, sections.spread.get(word)?);
            let rarity = ((count - spread + 0.5) / (spread + 0.5) + 1.0).ln();
            let length = 0.25 + 0.75 * section.length / sections.mean_length;
            Some(rarity * times * 2.2 / (times + 1.2 * length))
        });
        scores.sum()
    };
    let mut found: Vec<_> = sections.all.iter().map(|section| (score(section), section)).collect();
    found.retain(|(score, _)| *score > 0.0);
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.into_iter().take(most).map(|(_, section)| section).collect()
}

fn sections(path: &str, document: &'static str) -> Vec<Section> {
    let (mut found, mut start, mut heading, mut in_code) = (Vec::new(), 0, "", false);
    let mut at = 0;
    for line in document.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if line.starts_with('#') && !in_code {
            found.push((heading, &document[start..at]));
            heading = line.trim_start_matches('#').trim();
            start = at + line.len();
        }
        at += line.len();
    }
    found.push((heading, &document[start..]));
    let full = found.into_iter().filter(|(_, text)| !text.trim().is_empty());
    full.map(|(heading, text)| {
        let mut counted = HashMap::new();
        for word in words(text) {
            *counted.entry(word).or_insert(0.0) += 1.0;
        }
        let length = counted.values().sum::<f64>();
        for word in words(heading) {
            *counted.entry(word).or_insert(0.0) += HEADING_WEIGHT;
        }
        Section { place: format!("{path}#{}", anchor(heading)), heading, text, words: counted, length }
    })
    .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Words that say something, without the endings of plurals.
fn words(text: &str) -> impl Iterator<Item = String> {
    const EMPTY: [&str; 40] = [
        "the", "and", "for", "with", "that", "this", "are", "was", "did", "does", "how", "what", "why",
        "when", "which", "who", "can", "you", "your", "our", "its", "not", "but", "from", "into", "has",
        "have", "had", "will", "would", "should", "could", "there", "their", "they", "then", "than", "them",
        "any", "all",
    ];
    let all = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    let said = all.filter(|word| word.len() > 2 && word.len() < 60 && !EMPTY.contains(&word.as_str()));
    said.map(|word| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_find_the_section_that_answers_them() {
        for (question, place) in [
            ("How do I verify the signature of a webhook?", "docs/webhooks.md"),
            ("Which settings are there for proxies and egress to private addresses?", "docs/"),
            ("monitor a page for changes with a schedule", "docs/monitor.md"),
        ] {
            let found = find_sections(question, 3);
            assert!(found.iter().any(|section| section.place.starts_with(place)), "{question}: {found:?}");
        }
        assert!(find_sections("zzqx", 3).is_empty() && find_sections("", 3).is_empty());
    }
}
