//! How high the expected page ranks.

use super::pages::ReadPage;
use super::plain_tantivy::PlainTantivy;
use super::rules::{self, Rule};
use anyhow::Result;
use index::{Document, Index, IndexEntry, Options, Query, Weights};
use std::path::Path;
use tempfile::TempDir;
use uuid::Uuid;

/// Results that are looked at; a page further down counts as not found.
const MAX_RESULTS: usize = 100;

/// Means over queries.
#[derive(Debug, Default, Clone, Copy)]
pub struct Quality {
    pub reciprocal: f64,
    pub recall1: f64,
    pub recall5: f64,
    pub recall10: f64,
    pub queries: f64,
}

impl Quality {
    pub fn add(&mut self, place: Option<usize>) {
        self.queries += 1.0;
        self.reciprocal += place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0));
        let within = |count: usize| f64::from(u8::from(place.is_some_and(|place| place < count)));
        self.recall1 += within(1);
        self.recall5 += within(5);
        self.recall10 += within(10);
    }

    pub fn mean(self) -> Self {
        let count = self.queries.max(1.0);
        Self {
            reciprocal: self.reciprocal / count,
            recall1: self.recall1 / count,
            recall5: self.recall5 / count,
            recall10: self.recall10 / count,
            queries: self.queries,
        }
    }
}

/// Which queries: weights are learnt on one half and judged on the other. Halves are made by page, not by
/// query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Learnt,
    Judged,
}

impl Half {
    pub fn holds(self, page: usize) -> bool {
        // A multiplicative hash: neighbours in the file, often of one site, fall into both halves alike.
        let odd = (page as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
        odd == (self == Self::Judged)
    }
}

pub fn report(pages: &[ReadPage]) -> Result<()> {
    println!("{} pages; weights learnt on half of the queries, these are the others", pages.len());
    println!(
        "{:<13} {:<9} {:>7} {:>10} {:>10} {:>8} {:>10} {:>10}",
        "rule", "address", "queries", "plain MRR", "ours MRR", "ratio", "plain R@10", "ours R@10"
    );
    let mut sums = [(0.0, 0.0); 2];
    let rules = rules::all(pages);
    for rule in &rules {
        let plain = judge_plain(rule, Half::Judged)?;
        for (at, address) in [true, false].into_iter().enumerate() {
            let ours = judge(
                &OwnIndex::build(rule, address)?,
                rule,
                &Weights::default(),
                Half::Judged,
                MAX_RESULTS,
            )?;
            println!(
                "{:<13} {:<9} {:>7} {:>10.4} {:>10.4} {:>8.3} {:>10.4} {:>10.4}",
                rule.name,
                if address { "given" } else { "withheld" },
                plain.queries,
                plain.reciprocal,
                ours.reciprocal,
                ours.reciprocal / plain.reciprocal,
                plain.recall10,
                ours.recall10
            );
            sums[at].0 += plain.reciprocal * plain.queries;
            sums[at].1 += ours.reciprocal * ours.queries;
        }
    }
    println!(
        "all queries: {:.3} × plain tantivy's MRR, {:.3} × with addresses withheld",
        sums[0].1 / sums[0].0,
        sums[1].1 / sums[1].0
    );
    Ok(())
}

fn judge_plain(rule: &Rule, half: Half) -> Result<Quality> {
    let folder = tempfile::tempdir()?;
    let plain = PlainTantivy::build(folder.path(), &rule.documents)?;
    let mut quality = Quality::default();
    for (query, page) in rule.queries.iter().filter(|(_, page)| half.holds(*page)) {
        quality.add(plain.search(query, MAX_RESULTS)?.iter().position(|found| found == page));
    }
    Ok(quality.mean())
}

/// Our index of a rule's pages; URLs can be withheld too.
pub struct OwnIndex {
    folder: TempDir,
}

impl OwnIndex {
    pub fn build(rule: &Rule, address: bool) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let index = Index::open(folder.path(), Options { threads: 1, ..Options::default() })?;
        let entries =
            rule.documents.iter().enumerate().map(|(number, document)| entry(number, document, address));
        index.feed(entries.collect())?;
        index.commit()?;
        Ok(Self { folder })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn entry(number: usize, document: &Document, address: bool) -> IndexEntry {
    let mut document = document.clone();
    // The number of a page is stored in an attribute, which has no influence on ranking.
    document.attributes.insert("number".to_owned(), number.to_string());
    if !address {
        // Still different for each page.
        document.url = format!("https://x{number}x.invalid/");
    }
    IndexEntry {
        seq: number as i64 + 1,
        key: (number as u128).to_be_bytes(),
        team: Uuid::nil(),
        collection: "web".to_owned(),
        seen_at: 0,
        document: Some(document),
    }
}

pub fn judge(ours: &OwnIndex, rule: &Rule, weights: &Weights, half: Half, deep: usize) -> Result<Quality> {
    let index =
        Index::open_read_only(ours.folder(), Options { weights: weights.clone(), ..Options::default() })?;
    let mut quality = Quality::default();
    for (text, page) in rule.queries.iter().filter(|(_, page)| half.holds(*page)) {
        let query =
            Query { collection: "web".to_owned(), text: text.clone(), limit: deep, ..Query::default() };
        let page = page.to_string();
        let found = index.search(&query)?;
        quality.add(found.hits.iter().position(|hit| hit.document.attributes.get("number") == Some(&page)));
    }
    Ok(quality.mean())
}

pub fn misses(pages: &[ReadPage], name: &str) -> Result<()> {
    for rule in rules::all(pages).iter().filter(|rule| rule.name == name) {
        let ours = OwnIndex::build(rule, true)?;
        let index = Index::open_read_only(ours.folder(), Options::default())?;
        for (text, page) in rule.queries.iter().filter(|(_, page)| Half::Learnt.holds(*page)) {
            let query = Query {
                collection: "web".to_owned(),
                text: text.clone(),
                limit: MAX_RESULTS,
                ..Query::default()
            };
            let hits = index.search(&query)?.hits;
            let url = &rule.documents[*page].url;
            let place = hits.iter().position(|hit| hit.document.url == *url);
            if place != Some(0) {
                println!("{text}\n  {} {url}", place.map_or("-".to_owned(), |place| (place + 1).to_string()));
                println!("  1 {}", hits.first().map_or("-", |hit| hit.document.url.as_str()));
            }
        }
    }
    Ok(())
}
