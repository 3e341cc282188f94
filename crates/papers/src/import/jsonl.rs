//! Our own format, one work per line: `{"ids": {"doi": ["10.1/x"]}, "title": "…", "abstract": "…", "authors":
//! ["…"], "categories": ["…"], "created": "YYYY-MM-DD", "updated": "…", "references": ["doi:10.2/y",
//! "any-namespace:id"], "passages": ["…"], "retracted": false}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

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
    #[serde(default)]
    retracted: bool,
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
    let references = line
        .references
        .iter()
        .map(|raw| match PaperRef::parse(raw) {
            Some(PaperRef::Named(id)) => Ok(Reference { ids: vec![id], title: String::new() }),
            _ => Err(format!("{raw:?} is not a reference (namespace:id)")),
        })
        .collect::<Result<_, _>>()?;
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
        retracted: line.retracted,
        withdrawn: false,
    }))
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
    fn errors_name_the_reason() {
        for (line, why) in [
            (r#"{"ids":{},"title":"t"}"#, "no identifier"),
            (r#"{"ids":{"doi":["x"]},"title":"t"}"#, "not an identifier in"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":" "}"#, "no title"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t","created":"soon"}"#, "not a date"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t","references":["x"]}"#, "not a reference"),
            (r#"{"ids":{"doi":["10.1/x"]},"title":"t"#, "EOF"),
        ] {
            let told = parse(line.as_bytes()).unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }
}
