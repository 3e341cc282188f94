//! Queries with a known result, made from pages by four rules. The text that a query was made from is removed
//! from the page it must find, in our index and in the baseline.
//!
//! - `title`: the page's `<title>` without the name of the site. The page loses its title, and every heading and
//!   line with the same text.
//! - `description`: the first sentence of its description. The page loses its description, and keeps title and
//!   text.
//! - `heading`: the middle heading of three words or more. The page loses that heading, and the line.
//! - `anchor`: the text of links on other pages of the collection. The page loses nothing: the text is on
//!   another page.

use super::pages::ReadPage;
use index::{Document, address_number};
use std::collections::HashMap;

/// Fewest words of a query: shorter ones name no single page.
const MIN_QUERY_WORDS: usize = 3;
/// Longest query in characters, as the service accepts them.
const MAX_QUERY_CHARACTERS: usize = 200;

/// Queries of one rule, and the pages as this rule leaves them.
pub struct Rule {
    pub name: &'static str,
    pub documents: Vec<Document>,
    /// The query, and the number of the expected page.
    pub queries: Vec<(String, usize)>,
}

pub fn all(pages: &[ReadPage]) -> Vec<Rule> {
    vec![
        made("title", pages, title),
        made("description", pages, description),
        made("heading", pages, heading),
        anchors(pages),
    ]
}

/// A rule that takes a query out of each page.
fn made(name: &'static str, pages: &[ReadPage], take: fn(&mut Document) -> String) -> Rule {
    let mut documents: Vec<Document> = pages.iter().map(|page| page.document.clone()).collect();
    let queries = documents.iter_mut().enumerate().filter_map(|(at, document)| {
        let query = asked(&take(document))?;
        Some((query, at))
    });
    let queries = queries.collect();
    Rule { name, documents, queries }
}

fn title(document: &mut Document) -> String {
    let title = std::mem::take(&mut document.title);
    let query = without_site(&title).to_owned();
    forget(document, &query);
    forget(document, &title);
    query
}

fn description(document: &mut Document) -> String {
    let description = std::mem::take(&mut document.description);
    let end = description.find(". ").map_or(description.len(), |at| at + 1);
    description[..end].to_owned()
}

/// Nothing where there is none.
fn heading(document: &mut Document) -> String {
    let below: Vec<&String> =
        document.headings.iter().skip(1).filter(|heading| words(heading) >= MIN_QUERY_WORDS).collect();
    let query = below.get(below.len() / 2).map(|heading| (*heading).clone()).unwrap_or_default();
    forget(document, &query);
    query
}

/// Texts of links from other pages; texts that are used for several pages name none.
fn anchors(pages: &[ReadPage]) -> Rule {
    let documents: Vec<Document> = pages.iter().map(|page| page.document.clone()).collect();
    let numbers: HashMap<u64, usize> = documents
        .iter()
        .enumerate()
        .filter_map(|(at, document)| Some((address_number(&document.url)?, at)))
        .collect();
    let mut targets: HashMap<String, Vec<usize>> = HashMap::new();
    for (from, page) in pages.iter().enumerate() {
        for (text, url) in &page.links {
            let target = address_number(url).and_then(|number| numbers.get(&number));
            if let (Some(&target), Some(query)) = (target.filter(|target| **target != from), asked(text)) {
                targets.entry(query).or_default().push(target);
            }
        }
    }
    let single =
        targets.into_iter().filter(|(_, targets)| targets.iter().all(|target| *target == targets[0]));
    let mut queries: Vec<(String, usize)> = single.map(|(query, targets)| (query, targets[0])).collect();
    queries.sort_unstable();
    Rule { name: "anchor", documents, queries }
}

/// A text as a query: one line, of bounded length; none where it is too short to name a page.
fn asked(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = &line[..line.floor_char_boundary(MAX_QUERY_CHARACTERS)];
    (words(line) >= MIN_QUERY_WORDS).then(|| line.to_owned())
}

fn words(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
}

/// A title without the name of the site: the longest of the parts between its separators.
fn without_site(title: &str) -> &str {
    let parts = [" | ", " - ", " – ", " — ", " · ", " :: ", " » "]
        .iter()
        .fold(vec![title], |parts, sign| parts.into_iter().flat_map(|part| part.split(*sign)).collect());
    parts.into_iter().map(str::trim).rev().max_by_key(|part| part.len()).unwrap_or(title)
}

/// Removes every heading and every line with a text.
fn forget(document: &mut Document, text: &str) {
    let said = letters(text);
    if said.is_empty() {
        return;
    }
    document.headings.retain(|heading| letters(heading) != said);
    document.body = document.body.lines().filter(|line| letters(line) != said).collect::<Vec<_>>().join("\n");
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
