//! PubMed XML: `PubmedArticle` and `DeleteCitation` records, streamed.

use std::io::BufRead;
use std::path::Path;

use super::xml::{Tree, for_each_record};
use super::{Batch, Sink, input_error};
use crate::error::Result;
use crate::ids::Identifier;
use crate::work::{Date, Reference, Work};

const BATCH_WORKS: u64 = 500;

pub fn import_file(path: &Path, input: Box<dyn BufRead + Send>, sink: Sink<'_>) -> Result<()> {
    let mut batch = Batch::default();
    let mut before = 0;
    let found = for_each_record(path, input, &["PubmedArticle", "DeleteCitation"], |tree, position| {
        if tree.name(0) == "PubmedArticle" {
            batch.push(article(tree));
        } else {
            for gone in tree.descendants(0, "PMID") {
                batch.push(Work {
                    ids: Identifier::new("pmid", &tree.text(gone)).into_iter().collect(),
                    withdrawn: true,
                    ..Work::default()
                });
            }
        }
        batch.bytes += position - before;
        before = position;
        if batch.works >= BATCH_WORKS { sink(std::mem::take(&mut batch)) } else { Ok(()) }
    })?;
    if !found {
        return Err(input_error(path, 1, "the file contains no PubmedArticle"));
    }
    sink(batch)
}

fn article(tree: &Tree) -> Work {
    let mut work = Work::default();
    let text = |node: Option<usize>| node.map(|node| tree.text(node)).unwrap_or_default();
    let citation = tree.child(0, "MedlineCitation");
    let article = citation.and_then(|citation| tree.child(citation, "Article"));
    if let Some(pmid) = citation.and_then(|citation| tree.child(citation, "PMID")) {
        work.ids.extend(Identifier::new("pmid", &tree.text(pmid)));
    }
    if let Some(article) = article {
        text(tree.child(article, "ArticleTitle")).trim_end_matches('.').clone_into(&mut work.title);
        let sections: Vec<String> = tree
            .child(article, "Abstract")
            .map(|parent| {
                let parts = tree.children(parent).filter(|node| tree.name(*node) == "AbstractText");
                parts
                    .map(|node| match tree.attribute(node, "Label") {
                        Some(label) => format!("{label}: {}", tree.text(node)),
                        None => tree.text(node),
                    })
                    .collect()
            })
            .unwrap_or_default();
        work.abstract_text = sections.join(" ");
        work.authors = tree
            .descendants(article, "Author")
            .map(|author| author_name(tree, author))
            .filter(|name| !name.is_empty())
            .collect();
        let published = tree.path(article, &["Journal", "JournalIssue", "PubDate"]);
        work.created = tree
            .child(article, "ArticleDate")
            .and_then(|node| date(tree, node))
            .or_else(|| date(tree, published?));
        work.retracted = tree
            .descendants(article, "PublicationType")
            .any(|node| tree.text(node) == "Retracted Publication");
    }
    if let Some(citation) = citation {
        work.categories = tree.descendants(citation, "DescriptorName").map(|node| tree.text(node)).collect();
        work.updated = tree.child(citation, "DateRevised").and_then(|node| date(tree, node));
    }
    if let Some(data) = tree.child(0, "PubmedData") {
        if let Some(list) = tree.child(data, "ArticleIdList") {
            work.ids.extend(article_ids(tree, list));
        }
        work.references = tree
            .descendants(data, "Reference")
            .map(|reference| {
                let ids = tree
                    .child(reference, "ArticleIdList")
                    .map(|list| article_ids(tree, list))
                    .unwrap_or_default();
                Reference { ids, title: String::new() }
            })
            .filter(|reference| !reference.ids.is_empty())
            .collect();
    }
    work
}

fn article_ids(tree: &Tree, list: usize) -> Vec<Identifier> {
    let known = |node: usize| {
        let namespace = match tree.attribute(node, "IdType")? {
            "pubmed" => "pmid",
            "pmc" => "pmcid",
            "doi" => "doi",
            _ => return None,
        };
        Identifier::new(namespace, &tree.text(node))
    };
    tree.children(list).filter_map(known).collect()
}

fn author_name(tree: &Tree, author: usize) -> String {
    let part = |name| tree.child(author, name).map(|node| tree.text(node)).unwrap_or_default();
    let whole = format!("{} {}", part("ForeName"), part("LastName"));
    let name = whole.trim();
    if name.is_empty() { part("CollectiveName") } else { name.to_owned() }
}

fn date(tree: &Tree, node: usize) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let part = |name| tree.child(node, name).map(|node| tree.text(node));
    if let Some(free) = part("MedlineDate") {
        return Date::parse(free.get(..4)?);
    }
    let month = part("Month").and_then(|month| {
        let named = month
            .get(..3)
            .and_then(|name| MONTHS.iter().position(|known| *known == name.to_ascii_lowercase()));
        named.map(|place| place as u32 + 1).or_else(|| month.parse().ok())
    });
    let day = part("Day").and_then(|day| day.parse().ok());
    Date::new(part("Year")?.parse().ok()?, month.unwrap_or(0), day.unwrap_or(0))
}
