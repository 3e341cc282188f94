//! Our own format, one work per line: `{"ids": {"doi": ["10.1/x"]}, "title": "…", "abstract": "…", "authors":
//! ["…"], "categories": ["…"], "created": "YYYY-MM-DD", "updated": "…", "references": ["doi:10.2/y",
//! "any-namespace:id"], "passages": ["…"], "contexts": [{"text": "…", "references": ["doi:10.2/y", "…"]}],
//! "retracted": false}`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::citation_context::{CitationContext, MAX_CONTEXT_REFERENCES, MAX_CONTEXTS};
use crate::ids::{Identifier, PaperRef};
use crate::work::{Date, Reference, Work};

#[derive(Deserialize)]
struct JsonlRecord<'a> {
    ids: BTreeMap<Cow<'a, str>, Values>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow, default, rename = "abstract")]
    abstract_text: Option<Cow<'a, str>>,
    #[serde(default)]
    authors: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(borrow, default)]
    created: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    updated: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    references: Vec<Cow<'a, str>>,
    #[serde(default)]
    passages: Vec<String>,
    #[serde(borrow, default)]
    contexts: Vec<ContextRecord<'a>>,
    #[serde(default)]
    retracted: bool,
}

/// A sentence that cites works.
#[derive(Deserialize)]
struct ContextRecord<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow)]
    references: Vec<Cow<'a, str>>,
}

/// `["a", "b"]`, or a single `"a"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    Many(Vec<String>),
    One(String),
}

pub fn parse(line: &[u8]) -> Result<Option<Work>, String> {
    let line: JsonlRecord<'_> = super::lines::json(line)?;
    let mut ids = Vec::new();
    for (namespace, values) in &line.ids {
        let values = match values {
            Values::Many(values) => values.as_slice(),
            Values::One(value) => std::slice::from_ref(value),
        };
        for value in values {
            ids.push(
                Identifier::new(namespace, value)
                    .ok_or_else(|| format!("{value:?} is not an identifier in {namespace:?}"))?,
            );
        }
    }
    if ids.is_empty() {
        return Err("no identifier".to_owned());
    }
    if line.title.trim().is_empty() {
        return Err("no title".to_owned());
    }
    let date = |text: Option<Cow<'_, str>>| match text.filter(|text| !text.is_empty()) {
        Some(text) => Date::parse(&text).map(Some).ok_or_else(|| format!("{text:?} is not a date")),
        None => Ok(None),
    };
    let mut references = line
        .references
        .iter()
        .map(|raw| Ok(Reference { ids: vec![cited_id(raw)?], title: String::new() }))
        .collect::<Result<Vec<_>, String>>()?;
    let contexts = contexts(&line.contexts, &mut references)?;
    Ok(Some(Work {
        ids,
        title: super::collapse_whitespace(&line.title),
        abstract_text: line.abstract_text.map(Cow::into_owned).unwrap_or_default(),
        authors: line.authors,
        categories: line.categories,
        created: date(line.created)?,
        updated: date(line.updated)?,
        references,
        passages: line.passages,
        contexts,
        retracted: line.retracted,
        withdrawn: false,
    }))
}

fn cited_id(raw: &str) -> Result<Identifier, String> {
    match PaperRef::parse(raw) {
        Some(PaperRef::Named(id)) => Ok(id),
        _ => Err(format!("{raw:?} is not a reference (namespace:id)")),
    }
}

/// The contexts of a line. What a sentence cites and `references` does not name is added to it.
fn contexts(
    records: &[ContextRecord<'_>],
    references: &mut Vec<Reference>,
) -> Result<Vec<CitationContext>, String> {
    let mut contexts = Vec::new();
    let mut places: HashMap<Identifier, u32> = HashMap::new();
    if !records.is_empty() {
        for (place, reference) in references.iter().enumerate() {
            places.entry(reference.ids[0].clone()).or_insert(place as u32);
        }
    }
    for (number, record) in records.iter().take(MAX_CONTEXTS).enumerate() {
        let wrong = |what: String| format!("contexts[{number}]: {what}");
        if record.text.trim().is_empty() {
            return Err(wrong("no text".to_owned()));
        }
        let mut cited = Vec::new();
        for raw in record.references.iter().take(MAX_CONTEXT_REFERENCES) {
            let id = cited_id(raw).map_err(wrong)?;
            cited.push(*places.entry(id).or_insert_with_key(|id| {
                references.push(Reference { ids: vec![id.clone()], title: String::new() });
                references.len() as u32 - 1
            }));
        }
        contexts.push(CitationContext { text: super::collapse_whitespace(&record.text), references: cited });
    }
    Ok(contexts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_format_is_parsed() {
        let line = br#"{"ids":{"doi":["10.1/X"],"arxiv":"2101.00001v2"},"title":"A  title","abstract":"Text \u00e9","authors":["A"],
            "categories":["cs.DL"],"created":"2021-01-05","references":["doi:10.2/y","shelf:9"],"passages":["p"],"extra":1}"#;
        let work = parse(line).unwrap().unwrap();
        assert_eq!(
            work.ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["arxiv:2101.00001", "doi:10.1/x"]
        );
        assert_eq!((work.title.as_str(), work.abstract_text.as_str()), ("A title", "Text é"));
        assert_eq!(work.references[1].ids[0].to_string(), "shelf:9");
    }

    #[test]
    fn what_a_sentence_cites_is_a_reference() {
        let line = br#"{"ids":{"doi":"10.1/x"},"title":"t","references":["doi:10.2/a","doi:10.2/b"],
            "contexts":[{"text":"Both  were seen","references":["doi:10.2/b","doi:10.2/C","doi:10.2/b"]}]}"#;
        let work = parse(line).unwrap().unwrap().bounded();
        assert_eq!(work.references.len(), 3);
        assert_eq!(work.contexts.len(), 1);
        assert_eq!(
            (work.contexts[0].text.as_str(), &work.contexts[0].references[..]),
            ("Both were seen", &[1, 2][..])
        );
    }

    #[test]
    fn errors_name_the_reason() {
        for (line, why) in [
            (r#"{"ids":{},"title":"t"}"#, "no identifier"),
            (r#"{"ids":{"doi":["x"]},"title":"t"}"#, "not an identifier in"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":" "}"#, "no title"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t","created":"soon"}"#, "not a date"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t","references":["x"]}"#, "not a reference"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t"#, "EOF"),
            (
                r#"{"ids":{"doi":["10.1/x"]},"title":"t","contexts":["Both"]}"#,
                "expected struct ContextRecord",
            ),
            (
                r#"{"ids":{"doi":["10.1/x"]},"title":"t","contexts":[{"text":"Both"}]}"#,
                "missing field `references`",
            ),
            (
                r#"{"ids":{"doi":["10.1/x"]},"title":"t","contexts":[{"text":" ","references":[]}]}"#,
                "contexts[0]: no text",
            ),
            (
                r#"{"ids":{"doi":["10.1/x"]},"title":"t","contexts":[{"text":"Both","references":["doi:10.1/y","z"]}]}"#,
                "contexts[0]: \"z\" is not a reference",
            ),
        ] {
            let told = parse(line.as_bytes()).unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }
}
