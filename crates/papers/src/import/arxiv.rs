//! arXiv metadata, one JSON object per line. It has no citations.

use std::borrow::Cow;

use serde::Deserialize;

use crate::ids::Identifier;
use crate::work::{Date, Work};

#[derive(Deserialize)]
struct ArxivRecord<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    title: Cow<'a, str>,
    #[serde(borrow, default, rename = "abstract")]
    abstract_text: Cow<'a, str>,
    #[serde(borrow, default)]
    categories: Cow<'a, str>,
    #[serde(borrow, default)]
    doi: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    update_date: Option<Cow<'a, str>>,
    #[serde(default)]
    authors_parsed: Vec<Vec<String>>,
    #[serde(borrow, default)]
    authors: Cow<'a, str>,
    #[serde(borrow, default)]
    versions: Vec<Version<'a>>,
}

#[derive(Deserialize)]
struct Version<'a> {
    #[serde(borrow, default)]
    created: Cow<'a, str>,
}

pub fn parse(line: &[u8]) -> Result<Option<Work>, String> {
    let line: ArxivRecord<'_> = super::lines::json(line)?;
    let mut ids = vec![
        Identifier::new("arxiv", &line.id)
            .ok_or_else(|| format!("{:?} is not an arXiv identifier", line.id))?,
    ];
    // The field may contain several DOIs, separated by spaces.
    ids.extend(
        line.doi
            .iter()
            .flat_map(|dois| dois.split_whitespace())
            .filter_map(|doi| Identifier::new("doi", doi)),
    );
    let authors = if line.authors_parsed.is_empty() {
        line.authors.split(',').map(super::collapse_whitespace).filter(|name| !name.is_empty()).collect()
    } else {
        line.authors_parsed.iter().map(|name| full_name(name)).collect()
    };
    Ok(Some(Work {
        ids,
        title: super::collapse_whitespace(&line.title),
        abstract_text: super::collapse_whitespace(&line.abstract_text),
        authors,
        categories: line.categories.split_whitespace().map(ToOwned::to_owned).collect(),
        created: line.versions.first().and_then(|first| mail_date(&first.created)),
        updated: line.update_date.as_deref().and_then(Date::parse),
        ..Work::default()
    }))
}

/// `["Surname", "Given", "Suffix"]` as one name.
fn full_name(parts: &[String]) -> String {
    let part = |place: usize| parts.get(place).map_or("", String::as_str);
    super::collapse_whitespace(&format!("{} {} {}", part(1), part(0), part(2)))
}

/// `Mon, 2 Apr 2007 19:18:42 GMT`.
fn mail_date(text: &str) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace().skip(1);
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
    Date::new(year.parse().ok()?, month, day.parse().ok()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_is_read() {
        let line = br#"{"id":"0704.0001","title":"Calculation of\n  prompt","abstract":"  A fully\n differential","categories":"hep-ph math.CO","doi":"10.1/x 10.2/y",
            "update_date":"2008-11-26","authors_parsed":[["Balazs","C.",""]],"versions":[{"version":"v1","created":"Mon, 2 Apr 2007 19:18:42 GMT"}]}"#;
        let work = super::parse(line).unwrap().unwrap();
        assert_eq!(work.ids.len(), 3);
        assert_eq!(
            (work.title.as_str(), work.abstract_text.as_str()),
            ("Calculation of prompt", "A fully differential")
        );
        assert_eq!(work.authors, ["C. Balazs"]);
        assert_eq!(work.created.unwrap().to_string(), "2007-04-02");
        assert!(super::parse(br#"{"id":"nonsense"}"#).is_err());
    }
}
