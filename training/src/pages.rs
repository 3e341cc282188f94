//! The annotated pages: reading them, their blocks, their labels and their folds.
//!
//! A fold never shares a registrable domain with another, so a model is always judged on sites it has not seen.

use crate::align::align;
use crate::boost::threads;
use content::select::outline::Outline;
use content::select::title::Title;
use html::dom::{Attr, Dom, Limits, NodeId, Tag};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// Folds of the cross-validation.
pub const FOLDS: usize = 5;

#[derive(Debug, Deserialize)]
pub struct Annotated {
    pub id: String,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub gold: Option<String>,
    pub html: String,
}

/// A page ready for training: its outline and, for each block, how many of its words are gold.
#[derive(Debug)]
pub struct Page {
    pub kind: String,
    pub domain: String,
    pub fold: usize,
    pub outline: Outline,
    pub title: Title,
    /// Words as the scorer counts them, per block.
    pub tokens: Vec<u32>,
    /// Of those, the ones matched with gold.
    pub matched: Vec<u32>,
    pub gold_tokens: u32,
    /// The words themselves, numbered: all blocks one after the other, and the gold text.
    pub words: Vec<u32>,
    pub gold: Vec<u32>,
}

/// Rows prepared at a time: enough for every thread, few enough to hold in memory.
const BATCH: usize = 128;

/// Reads all rows, keeping outlines only.
pub fn read_pages(input: impl BufRead) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    let mut lines = input.lines().filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
    loop {
        let batch: Vec<String> = lines
            .by_ref()
            .take(BATCH)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("cannot read the pages: {error}"))?;
        if batch.is_empty() {
            break;
        }
        pages.extend(prepare_all(&batch)?);
    }
    eprintln!("{} pages read", pages.len());
    assign_folds(&mut pages);
    Ok(pages)
}

/// Prepares rows on all threads; the pages come in the order of the rows.
fn prepare_all(lines: &[String]) -> Result<Vec<Page>, String> {
    let per = lines.len().div_ceil(threads());
    let work = |lines: &[String]| -> Result<Vec<Page>, String> {
        let row =
            |line: &String| serde_json::from_str(line).map_err(|error| format!("not a page row: {error}"));
        lines.iter().map(|line| Ok(prepare(&row(line)?))).collect()
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = lines.chunks(per).map(|part| scope.spawn(move || work(part))).collect();
        let mut pages = Vec::new();
        for part in parts {
            pages.extend(part.join().map_err(|_| "a page could not be read")??);
        }
        Ok(pages)
    })
}

fn prepare(row: &Annotated) -> Page {
    let dom = Dom::parse(&row.html, &Limits::default());
    let outline = Outline::from_dom(&dom);
    let title = Title::from_dom(&dom);
    let mut words = Words::default();
    let gold = words.ids(row.gold.as_deref().unwrap_or(""));
    let (mut page_tokens, mut tokens) = (Vec::new(), Vec::new());
    for block in &outline.blocks {
        let nodes = &outline.texts[block.first_text as usize..block.end_text as usize];
        let found = words.ids(&block_text(&dom, nodes));
        tokens.push(u32::try_from(found.len()).unwrap_or(u32::MAX));
        page_tokens.extend(found);
    }
    let links = align(&page_tokens, &gold);
    let mut start = 0;
    let matched = tokens
        .iter()
        .map(|&count| {
            let end = start + count as usize;
            let found = links[start..end].iter().filter(|&&gold| gold != u32::MAX).count();
            start = end;
            u32::try_from(found).unwrap_or(u32::MAX)
        })
        .collect();
    Page {
        kind: row.kind.clone(),
        domain: domain(row, &dom),
        fold: 0,
        outline,
        title,
        tokens,
        matched,
        gold_tokens: u32::try_from(gold.len()).unwrap_or(u32::MAX),
        words: page_tokens,
        gold,
    }
}

/// The text of a block as a writer would put it: inline markup does not part words, links and breaks do.
pub fn block_text(dom: &Dom, nodes: &[NodeId]) -> String {
    let mut text = String::new();
    let mut last: Option<NodeId> = None;
    for &node in nodes {
        if let Some(last) = last {
            let parted = (last.0..node.0)
                .any(|id| matches!(dom.tag(NodeId(id)), Tag::Br | Tag::Td | Tag::Th))
                || dom.closest(last, Tag::A) != dom.closest(node, Tag::A);
            if parted {
                text.push(' ');
            }
        }
        text.push_str(dom.text(node));
        last = Some(node);
    }
    text
}

/// Numbers words as the scorer splits them: runs of letters, digits and underscores, in lower case.
#[derive(Default)]
struct Words {
    known: HashMap<String, u32>,
}

impl Words {
    fn ids(&mut self, text: &str) -> Vec<u32> {
        let lower = text.to_lowercase();
        lower
            .split(|found: char| !found.is_alphanumeric() && found != '_')
            .filter(|word| !word.is_empty())
            .map(|word| {
                let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
                *self.known.entry(word.to_owned()).or_insert(next)
            })
            .collect()
    }
}

fn domain(row: &Annotated, dom: &Dom) -> String {
    let address = row.url.clone().filter(|url| !url.is_empty()).or_else(|| stated_address(dom));
    let Some(address) = address else { return format!("page {}", row.id) };
    let host = address.split("://").nth(1).unwrap_or(&address);
    let host = host.split(['/', '?', '#', ':']).next().unwrap_or(host).to_ascii_lowercase();
    registrable(&host)
}

/// The address the page claims for itself, for rows that lack one.
fn stated_address(dom: &Dom) -> Option<String> {
    (0..dom.len())
        .filter_map(|at| u32::try_from(at).ok().map(NodeId))
        .find_map(|node| match dom.tag(node) {
            Tag::Link if dom.attr(node, Attr::Rel) == Some("canonical") => dom.attr(node, Attr::Href),
            Tag::Meta if dom.attr(node, Attr::Property) == Some("og:url") => dom.attr(node, Attr::Content),
            _ => None,
        })
        .filter(|address| address.contains("://"))
        .map(str::to_owned)
}

/// The last two labels, or three where the second-last is a registry's own (`co.uk`).
fn registrable(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    let count = labels.len();
    if count <= 2 {
        return host.to_owned();
    }
    let registry = labels[count - 1].len() == 2
        && matches!(
            labels[count - 2],
            "co" | "com" | "org" | "net" | "gov" | "ac" | "edu" | "or" | "ne" | "go"
        );
    labels[count - if registry { 3 } else { 2 }..].join(".")
}

/// Deals the domains of each page kind round the folds, in an order that depends on their names alone.
fn assign_folds(pages: &mut [Page]) {
    let mut kinds: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        if seen.insert(page.domain.clone(), 0).is_none() {
            let key = page.domain.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            kinds.entry(page.kind.clone()).or_default().push((key, page.domain.clone()));
        }
    }
    for domains in kinds.values_mut() {
        domains.sort();
        for (at, (_, domain)) in domains.iter().enumerate() {
            seen.insert(domain.clone(), at % FOLDS);
        }
    }
    for page in pages {
        page.fold = seen[&page.domain];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domains() {
        assert_eq!(registrable("www.example.com"), "example.com");
        assert_eq!(registrable("shop.example.co.uk"), "example.co.uk");
        assert_eq!(registrable("example.org"), "example.org");
    }

    #[test]
    fn labels_follow_the_gold_text() {
        let row = Annotated {
            id: "1".into(),
            url: Some("https://a.example.com/x".into()),
            kind: "article".into(),
            gold: Some("The gannet dives from thirty metres into the sea.".into()),
            html: "<nav><a>The sea</a></nav><p>The gannet dives from <b>thirty</b> metres into the sea.</p>"
                .into(),
        };
        let page = prepare(&row);
        assert_eq!(page.tokens, [2, 9]);
        assert_eq!(page.matched, [0, 9]);
        assert_eq!(page.domain, "example.com");
    }
}
