//! Search in collections that the operator imported: developer sources and public law.

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::{IntoParams, ToSchema};

/// A list in a body: a list of strings, or one string with commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringList(pub Vec<String>);

impl<'de> Deserialize<'de> for StringList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = StringList;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of strings, or a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<StringList, E> {
                Ok(StringList(split_lists(&[text.to_owned()])))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StringList, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = list.next_element()? {
                    words.push(word);
                }
                Ok(StringList(words))
            }
        }
        from.deserialize_any(List)
    }
}

/// Splits repeated parameters, each of which may be a list with commas.
fn split_lists(lists: &[String]) -> Vec<String> {
    let words = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|one| !one.is_empty());
    words.map(str::to_owned).collect()
}

/// `POST /v2/search/developer`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
pub struct DeveloperRequest {
    /// What to search for.
    #[schema(min_length = 1, max_length = 2000)]
    pub query: Option<String>,
    /// Maximum number of results.
    #[schema(minimum = 1, maximum = 100, default = 10)]
    pub k: Option<i64>,
    /// Maximum number of passages per result.
    #[schema(minimum = 1, maximum = 5, default = 1)]
    pub passages: Option<i64>,
    /// `doc`, `issue`, `pull_request`, `readme`; all by default.
    #[schema(value_type = Option<Vec<String>>, max_items = 4)]
    pub types: Option<StringList>,
    /// Repositories, `owner/name`.
    #[schema(value_type = Option<Vec<String>>, max_items = 20)]
    pub repos: Option<StringList>,
    /// Documentation sources, by the names they were imported under.
    #[schema(value_type = Option<Vec<String>>, max_items = 20)]
    pub sources: Option<StringList>,
    /// Main language of the repository.
    pub language: Option<String>,
    /// Topics of the repository; one must match.
    #[schema(value_type = Option<Vec<String>>, max_items = 8)]
    pub topic: Option<StringList>,
    /// SPDX identifier of the repository's license.
    pub license: Option<String>,
    #[schema(minimum = 0)]
    pub min_stars: Option<i64>,
    #[schema(minimum = 0)]
    pub max_stars: Option<i64>,
    pub archived: Option<bool>,
    pub fork: Option<bool>,
    /// `only`: only descriptions of skills (`SKILL.md`).
    #[schema(pattern = "^(only)$")]
    pub skills: Option<String>,
}

/// `GET /v2/search/developer`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeveloperQuery {
    /// What to search for.
    #[param(min_length = 1, max_length = 2000, required = true)]
    pub query: Option<String>,
    /// Maximum number of results.
    #[param(minimum = 1, maximum = 100, default = 10)]
    pub k: Option<i64>,
    /// Maximum number of passages per result.
    #[param(minimum = 1, maximum = 5, default = 1)]
    pub passages: Option<i64>,
    /// `doc`, `issue`, `pull_request`, `readme`; repeat it or separate by commas.
    #[serde(default)]
    pub types: Vec<String>,
    /// Repositories, `owner/name`; repeat it or separate by commas.
    #[serde(default)]
    pub repos: Vec<String>,
    /// Documentation sources; repeat it or separate by commas.
    #[serde(default)]
    pub sources: Vec<String>,
    pub language: Option<String>,
    /// Repeat it or separate by commas; one must match.
    #[serde(default)]
    pub topic: Vec<String>,
    pub license: Option<String>,
    #[param(minimum = 0)]
    pub min_stars: Option<i64>,
    #[param(minimum = 0)]
    pub max_stars: Option<i64>,
    pub archived: Option<bool>,
    pub fork: Option<bool>,
    /// `only`
    #[param(pattern = "^(only)$")]
    pub skills: Option<String>,
}

impl From<DeveloperQuery> for DeveloperRequest {
    fn from(asked: DeveloperQuery) -> Self {
        let list =
            |lists: &[String]| Some(StringList(split_lists(lists))).filter(|words| !words.0.is_empty());
        Self {
            types: list(&asked.types),
            repos: list(&asked.repos),
            sources: list(&asked.sources),
            topic: list(&asked.topic),
            query: asked.query,
            k: asked.k,
            passages: asked.passages,
            language: asked.language,
            license: asked.license,
            min_stars: asked.min_stars,
            max_stars: asked.max_stars,
            archived: asked.archived,
            fork: asked.fork,
            skills: asked.skills,
        }
    }
}

/// The results of a developer search.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DeveloperAnswer)]
pub struct DeveloperResponse {
    pub success: bool,
    pub results: Vec<DeveloperResult>,
    /// Which types were searched, and how completely.
    pub coverage: DeveloperCoverage,
    /// Whether a second, more expensive ranking was done.
    pub reranked: bool,
    /// Status of each requested repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repos: Option<Vec<RepoStatus>>,
    /// Status of each requested source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceStatus>>,
    /// Why there are fewer results than expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeveloperResult {
    /// `issue:owner/name#1`, `pull_request:owner/name#2`, `readme:owner/name`, `doc:URL`.
    pub id: String,
    /// `doc`, `issue`, `pull_request` or `readme`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Quoted passages, best first.
    pub passages: Vec<DeveloperPassage>,
    /// License of the repository, if the result is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<License>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeveloperPassage {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct License {
    /// `licensed`, `known_absent` or `unknown`.
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spdx_id: Option<String>,
}

/// `ok`, `degraded`, `unavailable` or `skipped`, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeveloperCoverage {
    pub doc: Coverage,
    pub issue: Coverage,
    pub pull_request: Coverage,
    pub readme: Coverage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    Ok,
    /// Searched, but not completely.
    Degraded,
    /// Nothing of this type was imported, or it could not be searched.
    Unavailable,
    /// Not requested.
    Skipped,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RepoStatus {
    pub repo: String,
    pub indexed: bool,
    pub types: RepoTypes,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoTypes {
    pub issue: bool,
    pub pull_request: bool,
    pub readme: bool,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SourceStatus {
    pub source: String,
    pub indexed: bool,
}

/// `GET` and `POST /v2/search/gov`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct GovRequest {
    /// What to search for.
    #[schema(min_length = 1, max_length = 2000)]
    #[param(min_length = 1, max_length = 2000, required = true)]
    pub query: Option<String>,
    /// Maximum number of results.
    #[schema(minimum = 1, maximum = 100, default = 10)]
    #[param(minimum = 1, maximum = 100, default = 10)]
    pub k: Option<i64>,
    /// As it was imported, for instance `us` or `us-ca`.
    pub jurisdiction: Option<String>,
    /// As it was imported, for instance `scotus`.
    pub court: Option<String>,
    /// One of the eleven of the contract.
    #[schema(
        pattern = "^(federal-supreme|federal-appellate|federal-district|federal-bankruptcy|federal-special|military|state-supreme|state-appellate|state-trial|state-special|state-attorney-general)$"
    )]
    #[param(
        pattern = "^(federal-supreme|federal-appellate|federal-district|federal-bankruptcy|federal-special|military|state-supreme|state-appellate|state-trial|state-special|state-attorney-general)$"
    )]
    pub court_type: Option<String>,
    /// A citation that the document must contain.
    pub cites: Option<String>,
    /// A host with its subdomains.
    pub domain: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = GovAnswer)]
pub struct GovResponse {
    pub success: bool,
    pub data: GovData,
    /// Why there are fewer results than expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GovData {
    pub web: Vec<GovResult>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GovResult {
    pub url: String,
    pub title: String,
    pub description: String,
    pub position: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn lists_are_read_in_both_spellings() {
        let body =
            br#"{"query":"x","types":["doc","issue"],"topic":"a, b","repos":"o/n","origin":"python-sdk"}"#;
        let asked: DeveloperRequest = read::body(body).unwrap();
        assert_eq!(asked.types, Some(StringList(vec!["doc".into(), "issue".into()])));
        assert_eq!(asked.topic, Some(StringList(vec!["a".into(), "b".into()])));
        let query =
            "query=x&types=doc,issue&repos=o/n&topic=a&topic=b&min_stars=5&archived=false&integration=cli";
        let asked: DeveloperRequest = read::query::<DeveloperQuery>(query).unwrap().into();
        assert_eq!(asked.types, Some(StringList(vec!["doc".into(), "issue".into()])));
        assert_eq!(asked.topic, Some(StringList(vec!["a".into(), "b".into()])));
        assert_eq!((asked.min_stars, asked.archived, asked.sources), (Some(5), Some(false), None));
        for wrong in [&br#"{"query":"x","types":[1]}"#[..], br#"{"topic":{}}"#, br#"{"minStars":1}"#] {
            assert!(read::body::<DeveloperRequest>(wrong).is_err());
        }
        assert!(read::query::<GovRequest>("query=x&court_type=military").is_err());
        let asked: GovRequest = read::query("query=x&courtType=military&origin=y").unwrap();
        assert_eq!(asked.court_type.as_deref(), Some("military"));
    }
}
