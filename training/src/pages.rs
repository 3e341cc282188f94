//! The annotated pages: reading them, their blocks, their labels and their folds.
//!
//! A page has its main text marked, or snippets that must and must not appear. Marked text labels every block;
//! snippets label the blocks they are in, and the rest of the page teaches nothing.
//!
//! A fold never shares a registrable domain with another, so a model is always judged on sites it has not seen.

use crate::align::align;
use crate::boost::threads;
use content::select::declared::Declared;
use content::select::outline::Outline;
use html::dom::{Attr, Dom, Limits, NodeId, Tag};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Folds of the cross-validation.
pub const FOLDS: usize = 5;

/// What a block that a wanted snippet names weighs: as much as a paragraph of a short article.
const WANTED_WEIGHT: f32 = 0.35;
/// What a block that an unwanted snippet names weighs. More than a wanted one: the text of an article is learnt
/// from the other pages too, what stands around it in other languages from these alone.
const UNWANTED_WEIGHT: f32 = 0.9;
/// An unwanted snippet of few words in a block of so many more says nothing about the block.
const MAX_UNWANTED_BLOCK_WORDS: usize = 40;

#[derive(Debug, Deserialize)]
pub struct Annotated {
    pub id: String,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub gold: Option<String>,
    /// Snippets that must appear, and that must not.
    #[serde(default, rename = "with")]
    pub wanted: Option<Vec<String>>,
    #[serde(default, rename = "without")]
    pub unwanted: Option<Vec<String>>,
    pub html: String,
}

/// A page ready for training: its outline and, for each block, how many of its words are gold.
#[derive(Debug)]
pub struct Page {
    /// The number of its file.
    pub set: usize,
    pub kind: String,
    pub domain: String,
    pub fold: usize,
    pub outline: Outline,
    pub declared: Declared,
    /// Whether its main text is marked.
    pub has_gold: bool,
    /// What each block's label weighs; 0 where it has none.
    pub weights: Vec<f32>,
    /// Words as the scorer counts them, per block.
    pub tokens: Vec<u32>,
    /// Of those, the ones matched with gold.
    pub matched: Vec<u32>,
    /// The words themselves, numbered: all blocks one after the other, and the gold text.
    pub words: Vec<u32>,
    pub gold: Vec<u32>,
}

/// Rows prepared at a time: enough for every thread, few enough to hold in memory.
const BATCH: usize = 128;

/// The rows of a file that are not blank.
pub fn open_rows(path: &PathBuf) -> Result<impl Iterator<Item = std::io::Result<String>>, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(BufReader::new(file).lines().filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty())))
}

/// Reads all rows of all files, keeping outlines only.
pub fn read_pages(files: &[PathBuf]) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    for (set, file) in files.iter().enumerate() {
        let mut lines = open_rows(file)?;
        loop {
            let batch: Vec<String> = lines
                .by_ref()
                .take(BATCH)
                .collect::<Result<_, _>>()
                .map_err(|error| format!("cannot read the pages: {error}"))?;
            if batch.is_empty() {
                break;
            }
            let first = pages.len();
            pages.extend(on_all_threads(&batch, prepare)?);
            for page in &mut pages[first..] {
                page.set = set;
            }
        }
    }
    eprintln!("{} pages read", pages.len());
    assign_folds(&mut pages);
    Ok(pages)
}

/// Works on rows on all threads; the results come in the order of the rows.
pub fn on_all_threads<T: Send>(
    lines: &[String],
    work: impl Fn(&Annotated) -> T + Sync,
) -> Result<Vec<T>, String> {
    let per = lines.len().div_ceil(threads());
    let part = |lines: &[String]| -> Result<Vec<T>, String> {
        let row = |line: &String| {
            serde_json::from_str::<Annotated>(line).map_err(|error| format!("not a page row: {error}"))
        };
        lines.iter().map(|line| Ok(work(&row(line)?))).collect()
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = lines.chunks(per).map(|lines| scope.spawn(|| part(lines))).collect();
        let mut results = Vec::new();
        for part in parts {
            results.extend(part.join().map_err(|_| "a page could not be read")??);
        }
        Ok(results)
    })
}

fn prepare(row: &Annotated) -> Page {
    let dom = Dom::parse(&row.html, &Limits::default());
    let outline = Outline::from_dom(&dom);
    let declared = Declared::from_dom(&dom);
    let mut words = Words::default();
    let gold = words.ids(row.gold.as_deref().unwrap_or(""));
    let (mut page_tokens, mut tokens) = (Vec::new(), Vec::new());
    for block in &outline.blocks {
        let nodes = &outline.texts[block.first_text as usize..block.end_text as usize];
        let found = words.ids(&block_text(&dom, nodes));
        tokens.push(u32::try_from(found.len()).unwrap_or(u32::MAX));
        page_tokens.extend(found);
    }
    let (matched, weights) = if row.gold.is_some() {
        label_by_text(&row.kind, &page_tokens, &tokens, &gold)
    } else {
        let mut snippets = |texts: Option<&[String]>| -> Vec<Vec<u32>> {
            texts.unwrap_or_default().iter().map(|text| words.ids(text)).collect()
        };
        let (wanted, unwanted) = (snippets(row.wanted.as_deref()), snippets(row.unwanted.as_deref()));
        label_by_snippets(&page_tokens, &tokens, &wanted, &unwanted)
    };
    Page {
        set: 0,
        kind: row.kind.clone(),
        domain: domain(row, &dom),
        fold: 0,
        outline,
        declared,
        has_gold: row.gold.is_some(),
        weights,
        tokens,
        matched,
        words: page_tokens,
        gold,
    }
}

/// How far the marked text of a kind of page is trusted: what another program found is a weak label.
fn trust(kind: &str) -> f32 {
    if kind == "readability" { 0.6 } else { 1.0 }
}

/// What a block's error costs its page: its words against the words of the gold text, damped, so that neither
/// short blocks nor pages with long texts drop out of sight.
fn weight(tokens: u32, gold: usize) -> f32 {
    let gold = (gold as f32).max(50.0);
    (tokens.max(1) as f32 / gold).sqrt().min(0.7)
}

fn label_by_text(kind: &str, page: &[u32], tokens: &[u32], gold: &[u32]) -> (Vec<u32>, Vec<f32>) {
    let links = align(page, gold);
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
    (matched, tokens.iter().map(|&tokens| trust(kind) * weight(tokens, gold.len())).collect())
}

/// A wanted snippet labels the longest block that has it, since it may also stand in a menu; an unwanted one
/// every block that has it.
fn label_by_snippets(
    page: &[u32],
    tokens: &[u32],
    wanted: &[Vec<u32>],
    unwanted: &[Vec<u32>],
) -> (Vec<u32>, Vec<f32>) {
    let (mut matched, mut weights) = (vec![0; tokens.len()], vec![0.0; tokens.len()]);
    let mut starts = vec![0usize];
    for &count in tokens {
        starts.push(starts[starts.len() - 1] + count as usize);
    }
    // The blocks in which, or from which on, a snippet is found.
    let places = |snippet: &[u32]| -> Vec<usize> {
        if snippet.is_empty() || snippet.len() > page.len() {
            return Vec::new();
        }
        let found = page.windows(snippet.len()).enumerate().filter(|(_, window)| *window == snippet);
        found.map(|(at, _)| starts.partition_point(|start| *start <= at) - 1).collect()
    };
    for snippet in unwanted {
        for block in places(snippet) {
            let words = tokens[block] as usize;
            if words <= MAX_UNWANTED_BLOCK_WORDS.max(4 * snippet.len()) {
                weights[block] = UNWANTED_WEIGHT;
            }
        }
    }
    for snippet in wanted {
        if let Some(block) =
            places(snippet).into_iter().max_by_key(|&block| (tokens[block], usize::MAX - block))
        {
            (matched[block], weights[block]) = (tokens[block], WANTED_WEIGHT);
        }
    }
    (matched, weights)
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
    // A host without a dot was made up for a page whose address is not known.
    let named = |url: &String| url.split('/').nth(2).is_some_and(|host| host.contains('.'));
    let address = row.url.clone().filter(named).or_else(|| stated_address(dom));
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
            wanted: None,
            unwanted: None,
            html: "<nav><a>The sea</a></nav><p>The gannet dives from <b>thirty</b> metres into the sea.</p>"
                .into(),
        };
        let page = prepare(&row);
        assert_eq!(page.tokens, [2, 9]);
        assert_eq!(page.matched, [0, 9]);
        assert_eq!(page.domain, "example.com");
    }

    #[test]
    fn snippets_label_the_blocks_they_are_in_and_no_others() {
        let row = Annotated {
            id: "2".into(),
            url: Some("http://made-up/2".into()),
            kind: "snippets".into(),
            gold: None,
            wanted: Some(vec!["dives from".into()]),
            unwanted: Some(vec!["Read more".into(), "not on the page".into()]),
            html:
                "<p>Dives from</p><p>The gannet dives from thirty metres.</p><p>And more.</p><a>Read more</a>"
                    .into(),
        };
        let page = prepare(&row);
        assert_eq!(page.matched, [0, 6, 0, 0]);
        let labelled: Vec<bool> = page.weights.iter().map(|weight| *weight > 0.0).collect();
        assert_eq!(labelled, [false, true, false, true]);
        assert_eq!(page.domain, "page 2");
    }
}
