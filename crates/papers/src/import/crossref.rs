//! Crossref: one work per line, or files of `{"items": […]}` as in its public data file.

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::{Batch, Sink, input_error, lines, read_whole, strip_tags};
use crate::error::Result;
use crate::ids::Identifier;
use crate::work::{Date, Reference, Work};

#[derive(Deserialize)]
struct CrossrefItem<'a> {
    #[serde(borrow, rename = "DOI")]
    doi: Cow<'a, str>,
    #[serde(default)]
    title: Vec<String>,
    #[serde(borrow, default, rename = "abstract")]
    abstract_text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    reference: Vec<CitedWork<'a>>,
    #[serde(default)]
    issued: Option<DateParts>,
    #[serde(borrow, default)]
    author: Vec<Author<'a>>,
    #[serde(default)]
    subject: Vec<String>,
    #[serde(borrow, default, rename = "update-to")]
    update_to: Vec<Update<'a>>,
}

#[derive(Deserialize)]
struct CitedWork<'a> {
    #[serde(borrow, default, rename = "DOI")]
    doi: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "article-title")]
    title: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct DateParts {
    #[serde(default, rename = "date-parts")]
    parts: Vec<Vec<Option<u32>>>,
}

#[derive(Deserialize)]
struct Author<'a> {
    #[serde(borrow, default)]
    given: Cow<'a, str>,
    #[serde(borrow, default)]
    family: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    items: Vec<CrossrefItem<'a>>,
}

pub fn import_file(path: &Path, mut input: Box<dyn BufRead + Send>, sink: Sink<'_>) -> Result<()> {
    let start = input.fill_buf().map_err(|error| input_error(path, 1, error.to_string()))?;
    let head: Vec<u8> = start.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(9).collect();
    if head != b"{\"items\":" {
        return lines::read_lines(path, input, parse, sink);
    }
    let bytes = read_whole(path, &mut input)?;
    let file: File<'_> = serde_json::from_slice(&bytes)
        .map_err(|error| input_error(path, error.line() as u64, error.to_string()))?;
    let mut batch = Batch { bytes: bytes.len() as u64, ..Batch::default() };
    for item in file.items {
        if let Some(work) = work(item) {
            batch.push(work);
        }
    }
    sink(batch)
}

fn parse(line: &[u8]) -> std::result::Result<Option<Work>, String> {
    let item: CrossrefItem<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    Ok(work(item))
}

fn work(item: CrossrefItem<'_>) -> Option<Work> {
    let id = Identifier::new("doi", &item.doi)?;
    // A notice about another work is not a work of its own.
    let is_notice = item
        .update_to
        .iter()
        .any(|update| matches!(update.kind.as_ref(), "retraction" | "correction" | "erratum" | "withdrawal"));
    let title = item.title.first().map(|title| strip_tags(title)).filter(|title| !title.is_empty())?;
    let created = item.issued.and_then(|issued| {
        let part = |place: usize| issued.parts.first().and_then(|parts| parts.get(place).copied().flatten());
        Date::new(part(0)?, part(1).unwrap_or(0), part(2).unwrap_or(0))
    });
    let cited = |cited: &CitedWork<'_>| {
        let ids: Vec<_> =
            cited.doi.as_deref().and_then(|doi| Identifier::new("doi", doi)).into_iter().collect();
        let title = cited.title.as_deref().map(strip_tags).unwrap_or_default();
        (!ids.is_empty() || !title.is_empty()).then_some(Reference { ids, title })
    };
    Some(Work {
        ids: vec![id],
        title,
        abstract_text: item.abstract_text.as_deref().map(strip_tags).unwrap_or_default(),
        authors: item
            .author
            .iter()
            .map(|author| {
                super::collapse_whitespace(&format!("{} {} {}", author.given, author.family, author.name))
            })
            .filter(|name| !name.is_empty())
            .collect(),
        categories: item.subject,
        created,
        references: if is_notice { Vec::new() } else { item.reference.iter().filter_map(cited).collect() },
        ..Work::default()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_item_is_read() {
        let line = br#"{"DOI":"10.1/A","title":["On <i>x</i>"],"abstract":"<jats:title>Abstract</jats:title><jats:p>One &lt; two.</jats:p>","type":"journal-article",
            "reference":[{"key":"1","DOI":"10.2/b"},{"key":"2","article-title":"A title long enough to be proof"},{"key":"3","unstructured":"x"}],
            "issued":{"date-parts":[[2019,null]]},"author":[{"given":"A","family":"B","sequence":"first"}]}"#;
        let work = super::parse(line).unwrap().unwrap();
        assert_eq!(work.title, "On x");
        assert_eq!(work.abstract_text, "Abstract One < two.");
        assert_eq!(work.references.len(), 2);
        assert_eq!(work.created.unwrap().year(), 2019);
        assert!(
            super::parse(br#"{"DOI":"10.1/a","title":[],"issued":{"date-parts":[[null]]}}"#)
                .unwrap()
                .is_none()
        );
    }
}
