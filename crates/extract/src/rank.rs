//! Ranks the passages of pages by how well they answer a prompt, and links by how likely they lead to missing
//! fields.

use crate::schema::Schema;
use crate::words::{NameWords, words_match};
use crate::{PageView, facts};
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use text::sentences::{SentenceRules, sentences};

/// Text and passages examined on one page.
const MAX_TEXT_BYTES: usize = 2 << 20;
const MAX_PASSAGES: usize = 20_000;
const MAX_PASSAGE_BYTES: usize = 600;
/// Words compared in about the time of one budget step.
const WORDS_PER_STEP: u64 = 4;
/// Links ranked on one page.
const MAX_LINKS: usize = 5_000;
/// What a word counts that names a column, in comparison with one in the row itself.
const OF_COLUMN: f32 = 0.6;
/// So many links of one URL pattern are a list of detail pages.
const MIN_DETAIL_LINKS: usize = 3;
/// Texts of links to the next page of a list.
const NEXT_PAGE_TEXTS: &[&str] = &[
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

/// A part of a page, verbatim but without markup.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedPassage {
    pub url: String,
    pub text: String,
    /// The heading above it; empty at the top of the page.
    pub heading: String,
    /// The header of its table as it is written; empty elsewhere.
    pub columns: Rc<str>,
    /// How well it answers, from 0 to 1.
    pub score: f32,
}

/// What a link leads to, as far as the page shows.
impl RankedPassage {
    /// The text for readers: a row of a table has the names of its columns before its cells.
    pub fn labelled(&self) -> String {
        let (names, cells) = (cells(&self.columns), cells(&self.text));
        if names.len() != cells.len() || names.iter().all(|name| name.is_empty()) {
            return self.text.clone();
        }
        let pairs = names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
        let pairs = pairs.map(|(name, cell)| match *name {
            "" => cell.to_owned(),
            name => format!("{name}: {cell}"),
        });
        pairs.collect::<Vec<_>>().join(", ")
    }
}

/// The cells of a row of a table in markdown.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    row.strip_suffix('|').unwrap_or(row).split('|').map(str::trim).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The next page of a list.
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

/// The words of the prompt and of the schema's fields.
fn query_words(prompt: &str, schema: Option<&Schema>) -> NameWords {
    let mut words = NameWords::from_text(prompt);
    for field in schema.into_iter().flat_map(|schema| &schema.shape().fields).take(200) {
        words = words.join(&NameWords::from_name(&field.name));
    }
    words
}

/// The passages that answer best, best first.
pub fn rank_passages(
    prompt: &str,
    schema: Option<&Schema>,
    pages: &[PageView],
    max_passages: usize,
) -> Vec<RankedPassage> {
    let asked = query_words(prompt, schema);
    let mut found: Vec<(RankedPassage, NameWords)> = Vec::new();
    for view in pages {
        let mut heading = String::new();
        let mut columns: Rc<str> = "".into();
        let text = &view.markdown[..view.markdown.floor_char_boundary(MAX_TEXT_BYTES)];
        let mut lines = text.lines().peekable();
        // Whether a table of which no row was read yet has a line for its header that is empty.
        let mut lacks_header = false;
        while let Some(line) = lines.next() {
            let text = strip_markdown(line);
            match table_line(line, lines.peek().copied()) {
                TableLine::Header => {
                    // The names of columns answer nothing; what stands below them does.
                    lacks_header = cells(&text).iter().all(|cell| cell.is_empty());
                    columns = text[..text.floor_char_boundary(MAX_PASSAGE_BYTES)].into();
                    continue;
                }
                TableLine::Rule => continue,
                TableLine::Row if std::mem::take(&mut lacks_header) && has_bold_cells(line) => {
                    columns = text[..text.floor_char_boundary(MAX_PASSAGE_BYTES)].into();
                    continue;
                }
                TableLine::Row => {}
                TableLine::Other => (columns, lacks_header) = ("".into(), false),
            }
            if line.starts_with('#') {
                // Every passage under it gets a copy.
                text[..text.floor_char_boundary(MAX_PASSAGE_BYTES)].clone_into(&mut heading);
                continue;
            }
            for part in split_sentences(&text) {
                if found.len() == MAX_PASSAGES {
                    break;
                }
                let words = NameWords::from_text(part);
                let passage = RankedPassage {
                    url: view.url.to_owned(),
                    text: part.to_owned(),
                    heading: heading.clone(),
                    columns: columns.clone(),
                    score: 0.0,
                };
                found.push((passage, words));
            }
        }
    }
    // The words of each header, once for all rows below it.
    let mut headers: HashMap<Rc<str>, NameWords> = HashMap::new();
    for (passage, _) in &found {
        headers.entry(passage.columns.clone()).or_insert_with(|| NameWords::from_text(&passage.columns));
    }
    // A word that appears everywhere does not distinguish passages.
    let holds = |words: &NameWords, word: &String| {
        budget::spend(words.0.len() as u64 / WORDS_PER_STEP + 1);
        words.0.iter().any(|known| words_match(word, known))
    };
    let rarity: Vec<f32> = asked
        .0
        .iter()
        .map(|word| {
            let named: HashSet<&str> =
                headers.iter().filter(|(_, words)| holds(words, word)).map(|(header, _)| &**header).collect();
            let is_named = |passage: &RankedPassage| named.contains(&*passage.columns);
            let times =
                found.iter().filter(|(passage, words)| holds(words, word) || is_named(passage)).count();
            if times == 0 { 0.0 } else { (1.0 + found.len() as f32 / times as f32).ln() }
        })
        .collect();
    let whole: f32 = rarity.iter().sum();
    let mut seen = HashSet::new();
    let mut ranked: Vec<RankedPassage> = Vec::new();
    for (mut passage, words) in found {
        let under = NameWords::from_text(&passage.heading);
        let sum: f32 = asked
            .0
            .iter()
            .zip(&rarity)
            .map(|(word, rarity)| {
                if holds(&words, word) {
                    *rarity
                } else if headers.get(&passage.columns).is_some_and(|names| holds(names, word)) {
                    rarity * OF_COLUMN
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
    ranked.truncate(max_passages);
    ranked
}

/// What a line of markdown is to a table.
enum TableLine {
    Header,
    /// The line below the header.
    Rule,
    Row,
    Other,
}

fn table_line(line: &str, next: Option<&str>) -> TableLine {
    let cells = |line: &str| line.trim_start_matches(['>', ' ']).starts_with('|');
    let is_rule = |line: &str| {
        cells(line)
            && line.contains("---")
            && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'>'))
    };
    match () {
        () if !cells(line) => TableLine::Other,
        () if is_rule(line) => TableLine::Rule,
        () if next.is_some_and(is_rule) => TableLine::Header,
        () => TableLine::Row,
    }
}

/// Whether all cells of a row are set in bold, as headers are where they are not marked as such.
fn has_bold_cells(row: &str) -> bool {
    let mut filled = cells(row).into_iter().filter(|cell| !cell.is_empty()).peekable();
    filled.peek().is_some()
        && filled.all(|cell| cell.len() > 4 && cell.starts_with("**") && cell.ends_with("**"))
}

/// A line of markdown as plain text.
pub(crate) fn strip_markdown(line: &str) -> String {
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
    facts::text::collapse_whitespace(&text)
}

/// The sentences of a line; a table row counts as one.
pub(crate) fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    sentences(line, &SentenceRules::STATEMENTS)
        .filter(|part| part.chars().any(char::is_alphanumeric) && part.len() <= MAX_PASSAGE_BYTES * 4)
}

/// The links of a page by how likely they lead to what is wanted; `missing` are pointers of empty fields.
pub fn rank_links(
    prompt: &str,
    schema: Option<&Schema>,
    missing: &[String],
    view: &PageView,
) -> Vec<RankedLink> {
    let dom = view.page.dom();
    let asked = query_words(prompt, schema);
    let mut wanted = NameWords::default();
    for pointer in missing.iter().take(100) {
        wanted = wanted.join(&NameWords::from_name(pointer.rsplit('/').next().unwrap_or("")));
    }
    let weights = facts::position_weights(dom);
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
        let text = facts::text::collapse_whitespace(&dom.text_content(id));
        if url == view.url || !seen.insert(url.clone()) || found.len() == MAX_LINKS {
            continue;
        }
        let next = relation.split_ascii_whitespace().any(|word| word == "next")
            || NEXT_PAGE_TEXTS.contains(&text.to_lowercase().as_str())
            || is_page_number(dom, id, &text);
        let kind = if next { LinkKind::Next } else { LinkKind::Other };
        let path = url::Url::parse(&url).map(|url| url.path().to_owned()).unwrap_or_default();
        let words = NameWords::from_text(&text)
            .join(&NameWords::from_name(path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("")));
        let hits = |among: &NameWords| {
            words.0.iter().filter(|word| among.0.iter().any(|known| words_match(known, word))).count() as f32
        };
        let near = (hits(&asked) * 0.25).min(0.6) + (hits(&wanted) * 0.3).min(0.6);
        let place = f32::from(weights[id.index()]) / 100.0;
        let score = (near * (0.5 + 0.5 * place) + if next { 0.5 } else { 0.0 }).min(1.5);
        // The links of a list differ only in the last part of their path.
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
                && patterns.get(&pattern).is_some_and(|&times| times >= MIN_DETAIL_LINKS)
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

/// Whether a link is a page number of a pager.
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
