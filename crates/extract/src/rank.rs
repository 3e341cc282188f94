//! What to read next: the passages of pages that answer a prompt, and the links that lead to what is missing.

use crate::schema::Schema;
use crate::words::{Words, akin};
use crate::{PageView, facts};
use content::budget;
use content::dom::{Attr, Dom, NodeId, Tag};
use std::collections::{HashMap, HashSet};

/// Text and passages looked at on one page.
const MOST_TEXT: usize = 2 << 20;
const MOST_PASSAGES: usize = 20_000;
const LONGEST_PASSAGE: usize = 600;
/// Words that are compared in about the time of one step.
const WORDS_PER_STEP: u64 = 4;
/// Links ranked on one page.
const MOST_LINKS: usize = 5_000;
/// Links of one pattern that make it a list of details.
const LIST_OF_DETAILS: usize = 3;
/// Words of links that lead to the next part of a list.
const NEXT: &[&str] = &[
    "next",
    "next page",
    "older",
    "older posts",
    "more",
    "load more",
    "show more",
    "weiter",
    "nächste",
    "nächste seite",
    "suivant",
    "page suivante",
    "siguiente",
    "successiva",
    "successivo",
    "avanti",
    "próxima",
    "proxima",
    "seguinte",
    "volgende",
    "nästa",
    "neste",
    "næste",
    "次へ",
    "次のページ",
    "下一页",
    "다음",
    "»",
    "›",
    "→",
    ">",
    ">>",
    "next »",
    "next ›",
    "next →",
    "next >",
];

/// A part of a page, word for word but without markup.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    pub url: String,
    pub text: String,
    /// The heading it stands under; empty at the top.
    pub heading: String,
    /// How well it answers, from 0 to 1.
    pub score: f32,
}

/// What a link leads to, as far as its page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The next part of a list.
    Next,
    /// A page about one of the things that this page lists.
    Detail,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RankedLink {
    pub url: String,
    pub text: String,
    pub kind: LinkKind,
    pub score: f32,
}

/// What is asked, as words: those of the prompt, and of the schema's fields.
fn asked(prompt: &str, schema: Option<&Schema>) -> Words {
    let mut words = Words::of_text(prompt);
    for field in schema.into_iter().flat_map(|schema| &schema.shape().fields).take(200) {
        words = words.join(&Words::of(&field.name));
    }
    words
}

/// The passages that answer best, best first.
pub fn passages(prompt: &str, schema: Option<&Schema>, pages: &[PageView], most: usize) -> Vec<Passage> {
    let asked = asked(prompt, schema);
    let mut found: Vec<(Passage, Words)> = Vec::new();
    for view in pages {
        let mut heading = String::new();
        for line in view.markdown[..view.markdown.floor_char_boundary(MOST_TEXT)].lines() {
            let text = plain_line(line);
            if line.starts_with('#') {
                // Each passage under it has its own copy.
                text[..text.floor_char_boundary(LONGEST_PASSAGE)].clone_into(&mut heading);
                continue;
            }
            for part in sentences(&text) {
                if found.len() == MOST_PASSAGES {
                    break;
                }
                let words = Words::of_text(part);
                let passage = Passage {
                    url: view.url.to_owned(),
                    text: part.to_owned(),
                    heading: heading.clone(),
                    score: 0.0,
                };
                found.push((passage, words));
            }
        }
    }
    // A word that stands everywhere tells nothing apart.
    let holds = |words: &Words, word: &String| {
        budget::spend(words.0.len() as u64 / WORDS_PER_STEP + 1);
        words.0.iter().any(|known| akin(word, known))
    };
    let rarity: Vec<f32> = asked
        .0
        .iter()
        .map(|word| {
            let times = found.iter().filter(|(_, words)| holds(words, word)).count();
            if times == 0 { 0.0 } else { (1.0 + found.len() as f32 / times as f32).ln() }
        })
        .collect();
    let whole: f32 = rarity.iter().sum();
    let mut seen = HashSet::new();
    let mut ranked: Vec<Passage> = Vec::new();
    for (mut passage, words) in found {
        let under = Words::of_text(&passage.heading);
        let sum: f32 = asked
            .0
            .iter()
            .zip(&rarity)
            .map(|(word, rarity)| {
                if holds(&words, word) {
                    *rarity
                } else if holds(&under, word) {
                    rarity * 0.4
                } else {
                    0.0
                }
            })
            .sum();
        passage.score = if whole > 0.0 { (sum / whole).min(1.0) } else { 0.0 };
        if passage.score > 0.1 && seen.insert(passage.text.clone()) {
            ranked.push(passage);
        }
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    let best = ranked.first().map_or(0.0, |first| first.score);
    ranked.retain(|passage| passage.score >= best * 0.35);
    ranked.truncate(most);
    ranked
}

/// A line of markdown as its reader sees it.
pub(crate) fn plain_line(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.trim().trim_start_matches(['#', '>', ' ']);
    rest = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")).unwrap_or(rest);
    while let Some(at) = rest.find(['[', ']', '*', '`', '\\', '!']) {
        text.push_str(&rest[..at]);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b']' if rest.starts_with('(') => rest = rest.find(')').map_or("", |end| &rest[end + 1..]),
            b'\\' => {
                let next = rest.chars().next();
                text.extend(next);
                rest = &rest[next.map_or(0, char::len_utf8)..];
            }
            b'!' if !rest.starts_with('[') => text.push('!'),
            _ => {}
        }
    }
    text.push_str(rest);
    facts::text::one_line(&text)
}

/// Sentences of a line; a table's row is one.
pub(crate) fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = line.as_bytes();
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let ends = matches!(c, '.' | '!' | '?') && bytes.get(end).is_none_or(|next| *next == b' ')
            && line[end..].trim_start().chars().next().is_none_or(|next| !next.is_lowercase())
            // "Dr. Rae", "No. 5"
            && line[start..at].rsplit(' ').next().is_none_or(|word| word.chars().count() > 3 || word.bytes().all(|byte| byte.is_ascii_digit()));
        if ends || c == '。' {
            found.push(line[start..end].trim());
            start = end;
        }
    }
    found.push(line[start..].trim());
    found.retain(|part| part.chars().any(char::is_alphanumeric) && part.len() <= LONGEST_PASSAGE * 4);
    found
}

/// The links of a page by how likely they lead to what is asked; `missing` are pointers of fields that nothing was found for.
pub fn links(prompt: &str, schema: Option<&Schema>, missing: &[String], view: &PageView) -> Vec<RankedLink> {
    let dom = view.page.dom();
    let asked = asked(prompt, schema);
    let mut wanted = Words::default();
    for pointer in missing.iter().take(100) {
        wanted = wanted.join(&Words::of(pointer.rsplit('/').next().unwrap_or("")));
    }
    let places = facts::places(dom);
    let mut seen = HashSet::new();
    let mut found: Vec<(RankedLink, String)> = Vec::new();
    let mut patterns: HashMap<String, usize> = HashMap::new();
    for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::A) {
        let Some(href) = dom.attr(id, Attr::Href).filter(|href| !href.starts_with('#')) else { continue };
        let Some(url) = view.page.base().resolve(href).filter(|url| url.starts_with("http")) else {
            continue;
        };
        let url = url.split('#').next().unwrap_or("").to_owned();
        let relation = dom.attr(id, Attr::Rel).unwrap_or("");
        let text = facts::text::one_line(&dom.text_content(id));
        if url == view.url || !seen.insert(url.clone()) || found.len() == MOST_LINKS {
            continue;
        }
        let next = relation.split_ascii_whitespace().any(|word| word == "next")
            || NEXT.contains(&text.to_lowercase().as_str())
            || is_page_number(dom, id, &text);
        let kind = if next { LinkKind::Next } else { LinkKind::Other };
        let path = url::Url::parse(&url).map(|url| url.path().to_owned()).unwrap_or_default();
        let words = Words::of_text(&text)
            .join(&Words::of(path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("")));
        let hits = |among: &Words| {
            words.0.iter().filter(|word| among.0.iter().any(|known| akin(known, word))).count() as f32
        };
        let near = (hits(&asked) * 0.25).min(0.6) + (hits(&wanted) * 0.3).min(0.6);
        let place = f32::from(places[id.index()]) / 100.0;
        let score = (near * (0.5 + 0.5 * place) + if next { 0.5 } else { 0.0 }).min(1.5);
        // Lists lead to addresses that differ in their last part alone.
        let pattern = path
            .trim_end_matches('/')
            .rsplit_once('/')
            .map_or(String::new(), |(folder, _)| format!("{folder}/*"));
        if place > 0.6 && !next {
            *patterns.entry(pattern.clone()).or_default() += 1;
        }
        found
            .push((RankedLink { url, text, kind, score }, if place > 0.6 { pattern } else { String::new() }));
    }
    let mut ranked: Vec<RankedLink> = found
        .into_iter()
        .map(|(mut link, pattern)| {
            if link.kind == LinkKind::Other
                && patterns.get(&pattern).is_some_and(|&times| times >= LIST_OF_DETAILS)
            {
                link.kind = LinkKind::Detail;
                link.score += 0.15;
            }
            link
        })
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// A number among others that stand in a pager.
fn is_page_number(dom: &Dom, id: NodeId, text: &str) -> bool {
    let number = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    number
        && dom.ancestors(id).take(4).any(|above| {
            dom.attr(above, Attr::Class).or_else(|| dom.attr(above, Attr::Id)).is_some_and(|names| {
                let names = names.to_ascii_lowercase();
                ["pag", "page"].iter().any(|word| names.contains(word))
            })
        })
}
