//! Semantic Scholar datasets: the tables `papers`, `abstracts` and `citations`, recognised line by line. They
//! are joined by corpus number when the index is built.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::ids::Identifier;
use crate::work::{Date, Reference, Work};

#[derive(Deserialize)]
struct SemanticScholarRecord<'a> {
    #[serde(default)]
    corpusid: Option<u64>,
    #[serde(default)]
    citingcorpusid: Option<u64>,
    #[serde(default)]
    citedcorpusid: Option<u64>,
    #[serde(borrow, default)]
    externalids: Option<BTreeMap<Cow<'a, str>, Option<Cow<'a, str>>>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "abstract")]
    abstract_text: Option<Cow<'a, str>>,
    #[serde(default)]
    year: Option<u32>,
    #[serde(borrow, default)]
    publicationdate: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    updated: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    authors: Option<Vec<Author<'a>>>,
    #[serde(borrow, default)]
    s2fieldsofstudy: Option<Vec<FieldOfStudy<'a>>>,
}

#[derive(Deserialize)]
struct Author<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct FieldOfStudy<'a> {
    #[serde(borrow, default)]
    category: Option<Cow<'a, str>>,
}

pub fn parse(line: &[u8]) -> Result<Option<Work>, String> {
    let line: SemanticScholarRecord<'_> = super::lines::json(line)?;
    let corpus = |number: u64| Identifier::new("s2", &number.to_string());
    if let Some(citing) = line.citingcorpusid {
        // A citation without a recognised work.
        let Some(cited) = line.citedcorpusid else { return Ok(None) };
        let references = vec![Reference { ids: corpus(cited).into_iter().collect(), title: String::new() }];
        return Ok(Some(Work { ids: corpus(citing).into_iter().collect(), references, ..Work::default() }));
    }
    let number = line.corpusid.ok_or("corpusid and citingcorpusid are missing")?;
    let mut ids: Vec<_> = corpus(number).into_iter().collect();
    for (name, value) in line.externalids.iter().flatten() {
        let namespace = match name.as_ref() {
            "DOI" | "ArXiv" | "PubMed" | "PubMedCentral" | "ACL" | "DBLP" | "MAG" => name,
            _ => continue,
        };
        ids.extend(value.as_deref().and_then(|value| Identifier::new(namespace, value)));
    }
    let mut categories: Vec<String> = line
        .s2fieldsofstudy
        .into_iter()
        .flatten()
        .filter_map(|field| field.category)
        .map(Cow::into_owned)
        .collect();
    categories.sort_unstable();
    categories.dedup();
    Ok(Some(Work {
        ids,
        title: super::collapse_whitespace(&line.title.unwrap_or_default()),
        abstract_text: line.abstract_text.map(Cow::into_owned).unwrap_or_default(),
        authors: line
            .authors
            .into_iter()
            .flatten()
            .filter_map(|author| author.name)
            .map(Cow::into_owned)
            .collect(),
        categories,
        created: line
            .publicationdate
            .as_deref()
            .and_then(Date::parse)
            .or_else(|| Date::new(line.year?, 0, 0)),
        updated: line.updated.as_deref().and_then(Date::parse),
        ..Work::default()
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn three_tables() {
        let paper = super::parse(br#"{"corpusid":7,"externalids":{"ACL":null,"DOI":"10.1/X","ArXiv":"2101.00001","CorpusId":"7"},"title":"T","year":2020,"authors":[{"authorId":"1","name":"A B"}]}"#);
        let paper = paper.unwrap().unwrap();
        assert_eq!(paper.ids.len(), 3);
        assert_eq!(paper.created.unwrap().year(), 2020);
        let text =
            super::parse(br#"{"corpusid":7,"openaccessinfo":{},"abstract":"words"}"#).unwrap().unwrap();
        assert_eq!(text.abstract_text, "words");
        let edge = super::parse(
            br#"{"citationid":1,"citingcorpusid":7,"citedcorpusid":9,"isinfluential":false,"contexts":null}"#,
        )
        .unwrap()
        .unwrap();
        assert_eq!(edge.references[0].ids[0].to_string(), "s2:9");
        assert!(super::parse(br#"{"citingcorpusid":7,"citedcorpusid":null}"#).unwrap().is_none());
        assert!(super::parse(b"{}").is_err());
    }
}
