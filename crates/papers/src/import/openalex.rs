//! OpenAlex works, one JSON object per line. Abstracts are stored as word positions and rebuilt; the arXiv
//! identifier is taken from the locations of the work.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::ids::{Identifier, PaperRef};
use crate::work::{Date, Reference, Work, limits};

/// Text that is borrowed if possible. Inside an option or a list serde would always copy a plain `Cow`.
#[derive(Deserialize, Default)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Text<'_> {
    fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[derive(Deserialize)]
struct OpenAlexRecord<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    doi: Option<Text<'a>>,
    #[serde(borrow, default)]
    ids: Option<Ids<'a>>,
    #[serde(borrow, default)]
    display_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    title: Option<Text<'a>>,
    #[serde(default, deserialize_with = "abstract_text")]
    abstract_inverted_index: String,
    #[serde(borrow, default)]
    referenced_works: Option<Vec<Text<'a>>>,
    #[serde(borrow, default)]
    publication_date: Option<Text<'a>>,
    #[serde(default)]
    publication_year: Option<u32>,
    #[serde(borrow, default)]
    updated_date: Option<Text<'a>>,
    #[serde(default)]
    is_retracted: Option<bool>,
    #[serde(default)]
    is_paratext: Option<bool>,
    #[serde(borrow, default)]
    authorships: Option<Vec<Authorship<'a>>>,
    #[serde(borrow, default)]
    locations: Option<Vec<Location<'a>>>,
    #[serde(borrow, default)]
    primary_topic: Option<Topic<'a>>,
}

#[derive(Deserialize)]
struct Ids<'a> {
    #[serde(borrow, default)]
    pmid: Option<Text<'a>>,
    #[serde(borrow, default)]
    pmcid: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Authorship<'a> {
    #[serde(borrow, default)]
    author: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    display_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow, default)]
    landing_page_url: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Topic<'a> {
    #[serde(borrow, default)]
    display_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    subfield: Option<Named<'a>>,
    #[serde(borrow, default)]
    field: Option<Named<'a>>,
}

pub fn parse(line: &[u8]) -> Result<Option<Work>, String> {
    let line: OpenAlexRecord<'_> = super::lines::json(line)?;
    if line.is_paratext == Some(true) {
        return Ok(None);
    }
    let mut ids = vec![
        Identifier::new("openalex", &line.id)
            .ok_or_else(|| format!("{:?} is not an OpenAlex work", line.id))?,
    ];
    let address = |raw: &str| match PaperRef::parse(raw) {
        Some(PaperRef::Named(id)) => Some(id),
        _ => None,
    };
    ids.extend(line.doi.as_deref().and_then(|doi| Identifier::new("doi", doi)));
    if let Some(more) = &line.ids {
        ids.extend(more.pmid.as_deref().and_then(|pmid| Identifier::new("pmid", pmid)));
        ids.extend(
            more.pmcid
                .as_deref()
                .and_then(|pmcid| address(pmcid).or_else(|| Identifier::new("pmcid", pmcid))),
        );
    }
    let places = line.locations.iter().flatten().filter_map(|place| place.landing_page_url.as_deref());
    ids.extend(
        places
            .filter(|place| place.contains("arxiv.org/"))
            .filter_map(address)
            .filter(|id| id.namespace() == "arxiv")
            .take(1),
    );
    let title = line.display_name.or(line.title).unwrap_or_default();
    let topic = line.primary_topic.into_iter().flat_map(|topic| {
        let named =
            |named: Option<Named<'_>>| named.and_then(|named| named.display_name).map(Text::into_owned);
        [topic.display_name.map(Text::into_owned), named(topic.subfield), named(topic.field)]
    });
    Ok(Some(Work {
        ids,
        title: super::strip_tags(&title),
        abstract_text: line.abstract_inverted_index,
        authors: line
            .authorships
            .into_iter()
            .flatten()
            .filter_map(|one| one.author?.display_name)
            .map(Text::into_owned)
            .collect(),
        categories: topic.flatten().collect(),
        created: line
            .publication_date
            .as_deref()
            .and_then(Date::parse)
            .or_else(|| Date::new(line.publication_year?, 0, 0)),
        updated: line.updated_date.as_deref().and_then(Date::parse),
        references: line
            .referenced_works
            .unwrap_or_default()
            .iter()
            .filter_map(|raw| {
                Some(Reference { ids: vec![Identifier::new("openalex", raw)?], title: String::new() })
            })
            .collect(),
        retracted: line.is_retracted == Some(true),
        ..Work::default()
    }))
}

/// Rebuilds text from `{"word": [positions]}` without a map in between.
fn abstract_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Words;
    impl<'de> Visitor<'de> for Words {
        type Value = String;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("words with their positions, or null")
        }

        fn visit_unit<E>(self) -> Result<String, E> {
            Ok(String::new())
        }

        fn visit_none<E>(self) -> Result<String, E> {
            Ok(String::new())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
            deserializer.deserialize_map(self)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
            let mut words: Vec<Text<'de>> = Vec::new();
            let mut places: Vec<(u32, u32)> = Vec::new();
            while let Some(word) = map.next_key::<Text<'de>>()? {
                let number = words.len() as u32;
                words.push(word);
                map.next_value_seed(WordPositions { number, into: &mut places })?;
            }
            places.sort_unstable();
            let mut text = String::new();
            for (_, number) in places {
                let word = &*words[number as usize];
                if text.len() + word.len() >= limits::MAX_ABSTRACT_BYTES {
                    break;
                }
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
            Ok(text)
        }
    }
    deserializer.deserialize_option(Words)
}

struct WordPositions<'a> {
    number: u32,
    into: &'a mut Vec<(u32, u32)>,
}

impl<'de> serde::de::DeserializeSeed<'de> for WordPositions<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for WordPositions<'_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("positions of a word")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while let Some(place) = sequence.next_element::<u32>()? {
            self.into.push((place, self.number));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_is_read() {
        let line = br#"{"id":"https://openalex.org/W27","doi":"https://doi.org/10.1/A","ids":{"openalex":"x","pmid":"https://pubmed.ncbi.nlm.nih.gov/77","mag":3},
            "display_name":"The <i>state</i> of OA","publication_date":"2018-02-13","is_retracted":false,"is_paratext":false,
            "abstract_inverted_index":{"Despite":[0],"is":[2,4],"it":[1,3]},"referenced_works":["https://openalex.org/W5","https://openalex.org/W6"],
            "authorships":[{"author":{"display_name":"H P"}}],"locations":[{"landing_page_url":"https://arxiv.org/abs/1802.00001v2"},{"landing_page_url":null}],
            "primary_topic":{"display_name":"T","subfield":{"display_name":"S"},"field":null}}"#;
        let work = parse(line).unwrap().unwrap();
        let ids: Vec<_> = work.ids.iter().map(ToString::to_string).collect();
        assert_eq!(ids, ["openalex:W27", "doi:10.1/a", "pmid:77", "arxiv:1802.00001"]);
        assert_eq!(work.abstract_text, "Despite it is it is");
        assert_eq!(work.title, "The state of OA");
        assert_eq!(work.references.len(), 2);
        assert_eq!(work.categories, ["T", "S"]);
    }

    #[test]
    fn nulls_and_paratext() {
        let work = parse(br#"{"id":"https://openalex.org/W1","doi":null,"display_name":null,"abstract_inverted_index":null,"referenced_works":[]}"#);
        assert!(work.unwrap().unwrap().abstract_text.is_empty());
        assert!(parse(br#"{"id":"https://openalex.org/W1","is_paratext":true}"#).unwrap().is_none());
        assert!(parse(br#"{"id":"https://openalex.org/A1"}"#).is_err());
    }
}
