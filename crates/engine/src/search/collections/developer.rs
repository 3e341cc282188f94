//! Developer sources: documentation, issues, pull requests and READMEs. Some filters speak of repositories
//! and some of sources of documentation; each narrows the types it can speak of.

use super::{
    Collections, DEFAULT_RESULTS, DEVELOPER, MAX_RESULTS, nothing_imported, now, number, query_text, word,
};
use crate::Error;
use index::{Filter, IndexHit, Query};
use uuid::Uuid;
use wire::Issues;
use wire::search_collections::{
    Coverage, DeveloperCoverage, DeveloperPassage, DeveloperRequest, DeveloperResponse, DeveloperResult,
    License, RepoStatus, RepoTypes, SourceStatus, StringList,
};

const TYPES: [&str; 4] = ["doc", "issue", "pull_request", "readme"];
const MAX_REPOS: usize = 20;
const MAX_SOURCES: usize = 20;
const MAX_TOPICS: usize = 8;
const MAX_PASSAGES: i64 = 5;

/// What a request means.
#[derive(Debug)]
pub struct DeveloperPlan {
    pub query: String,
    k: usize,
    passages: usize,
    /// In the order of [`TYPES`].
    types: [bool; 4],
    repos: Vec<String>,
    sources: Vec<String>,
    /// Of repositories, beside their names.
    filters: Vec<Filter>,
    skills: bool,
}

impl DeveloperPlan {
    pub fn resolve(asked: &DeveloperRequest) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let query = query_text(&mut issues, asked.query.as_deref());
        let k = number(&mut issues, "k", asked.k, DEFAULT_RESULTS, MAX_RESULTS);
        let passages = number(&mut issues, "passages", asked.passages, 1, MAX_PASSAGES);
        let named = list(&mut issues, "types", asked.types.as_ref(), TYPES.len());
        for name in named.iter().filter(|name| !TYPES.contains(&name.as_str())) {
            issues.add(
                "types",
                &format!("{name} is none of doc, issue, pull_request, readme"),
                "invalid_value",
            );
        }
        let repos = list(&mut issues, "repos", asked.repos.as_ref(), MAX_REPOS);
        for repo in repos.iter().filter(|repo| !is_repository(repo)) {
            issues.add("repos", &format!("{repo} is not owner/name"), "invalid_value");
        }
        let sources = list(&mut issues, "sources", asked.sources.as_ref(), MAX_SOURCES);
        let skills = match asked.skills.as_deref() {
            None => false,
            Some("only") => true,
            Some(_) => {
                issues.add("skills", "must be only", "invalid_value");
                false
            }
        };
        let filters = filters(&mut issues, asked);
        let of_repositories = !repos.is_empty() || !filters.is_empty();
        let of_sources = !sources.is_empty();
        let can = |kind: &str| match kind {
            // Skills are documents; what else is said of sources or repositories decides between them.
            "doc" => of_sources || skills || !of_repositories,
            "readme" => of_repositories || !(of_sources || skills),
            _ => !skills && (of_repositories || !of_sources),
        };
        let wanted = |kind: &str| named.is_empty() || named.iter().any(|name| name == kind);
        let types = TYPES.map(|kind| wanted(kind) && can(kind));
        if issues.is_empty() && types == [false; 4] {
            issues.add("types", "a filter of the request can match none of these types", "custom");
        }
        issues.finish()?;
        Ok(Self { query, k, passages, types, repos, sources, filters, skills })
    }

    pub fn max_results(&self) -> usize {
        self.k
    }

    pub async fn search(&self, collections: &Collections, team: Uuid) -> DeveloperResponse {
        match self.query_index(collections, team).await {
            Ok(answer) => answer,
            Err(reason) => {
                let cover = |wanted: bool| if wanted { Coverage::Unavailable } else { Coverage::Skipped };
                written(Vec::new(), self.types.map(cover), Some(reason))
            }
        }
    }

    async fn query_index(&self, collections: &Collections, team: Uuid) -> Result<DeveloperResponse, String> {
        let mut hits = Vec::new();
        let mut searched = 0;
        for query in self.queries(team) {
            let found = collections.ask(query).await?;
            searched = found.searched;
            hits.extend(found.hits);
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        hits.truncate(self.k);
        let is_there = async |filters: Vec<Filter>, kinds: Vec<String>| {
            let query = Query { limit: 1, filters, kinds, ..blank(team) };
            collections.ask(query).await.map(|found| !found.hits.is_empty())
        };
        let mut coverage = [Coverage::Skipped; 4];
        for (place, kind) in TYPES.iter().enumerate().filter(|(place, _)| self.types[*place]) {
            let there = searched > 0 && is_there(Vec::new(), vec![(*kind).to_owned()]).await?;
            coverage[place] = if there { Coverage::Ok } else { Coverage::Unavailable };
        }
        let warning = if searched == 0 {
            Some(nothing_imported(DEVELOPER))
        } else if hits.is_empty() {
            Some(format!("none of {searched} documents matches"))
        } else {
            None
        };
        let mut answer = written(hits, coverage, warning);
        if !self.repos.is_empty() {
            let mut repos = Vec::with_capacity(self.repos.len());
            for repo in &self.repos {
                let named = || vec![Filter::Is("repo".to_owned(), vec![repo.clone()])];
                let has = async |kind: &str| is_there(named(), vec![kind.to_owned()]).await;
                let types = RepoTypes {
                    issue: has("issue").await?,
                    pull_request: has("pull_request").await?,
                    readme: has("readme").await?,
                };
                let indexed = types.issue || types.pull_request || types.readme;
                repos.push(RepoStatus { repo: repo.clone(), indexed, types });
            }
            answer.repos = Some(repos);
        }
        if !self.sources.is_empty() {
            let mut sources = Vec::with_capacity(self.sources.len());
            for source in &self.sources {
                let named = vec![Filter::Is("source".to_owned(), vec![source.clone()])];
                let indexed = is_there(named, Vec::new()).await?;
                sources.push(SourceStatus { source: source.clone(), indexed });
            }
            answer.sources = Some(sources);
        }
        Ok(answer)
    }

    /// Documents and what lies in repositories are asked for apart: their filters differ.
    fn queries(&self, team: Uuid) -> Vec<Query> {
        let wanted = |kinds: &[usize]| -> Vec<String> {
            kinds.iter().filter(|place| self.types[**place]).map(|place| TYPES[*place].to_owned()).collect()
        };
        let is = |name: &str, values: &[String]| {
            (!values.is_empty()).then(|| Filter::Is(name.to_owned(), values.to_vec()))
        };
        let skills = self.skills.then(|| Filter::Is("skill".to_owned(), vec!["true".to_owned()]));
        let of_docs = is("source", &self.sources).into_iter().chain(skills.clone()).collect();
        let of_repos =
            is("repo", &self.repos).into_iter().chain(self.filters.clone()).chain(skills).collect();
        [(wanted(&[0]), of_docs), (wanted(&[1, 2, 3]), of_repos)]
            .into_iter()
            .filter(|(kinds, _)| !kinds.is_empty())
            .map(|(kinds, filters)| Query {
                text: self.query.clone(),
                kinds,
                filters,
                limit: self.k,
                passages: self.passages,
                ..blank(team)
            })
            .collect()
    }
}

fn written(
    hits: Vec<IndexHit>,
    [doc, issue, pull_request, readme]: [Coverage; 4],
    warning: Option<String>,
) -> DeveloperResponse {
    DeveloperResponse {
        success: true,
        results: hits.into_iter().map(result).collect(),
        coverage: DeveloperCoverage { doc, issue, pull_request, readme },
        reranked: false,
        repos: None,
        sources: None,
        warning,
    }
}

fn blank(team: Uuid) -> Query {
    Query { team, collection: DEVELOPER.to_owned(), now: now(), ..Query::default() }
}

fn list(issues: &mut Issues, name: &str, given: Option<&StringList>, most: usize) -> Vec<String> {
    let words: Vec<String> = given.map(|words| words.0.clone()).unwrap_or_default();
    if words.len() > most {
        issues.add(name, &format!("at most {most} are allowed"), "too_big");
    }
    for word in words.iter().take(most) {
        issues.length(name, word.trim(), &(1..=200));
    }
    words.iter().take(most).map(|word| word.trim().to_owned()).collect()
}

fn is_repository(name: &str) -> bool {
    let fits = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    name.split_once('/').is_some_and(|(owner, name)| fits(owner) && fits(name))
}

/// What is asked of repositories.
#[expect(clippy::cast_precision_loss, reason = "no repository has 2^53 stars")]
fn filters(issues: &mut Issues, asked: &DeveloperRequest) -> Vec<Filter> {
    let mut filters = Vec::new();
    let is = |name: &str, value: String| Filter::Is(name.to_owned(), vec![value]);
    filters.extend(word(issues, "language", asked.language.as_deref()).map(|word| is("language", word)));
    filters.extend(word(issues, "license", asked.license.as_deref()).map(|word| is("license", word)));
    let topics = list(issues, "topic", asked.topic.as_ref(), MAX_TOPICS);
    if !topics.is_empty() {
        filters.push(Filter::Is("topic".to_owned(), topics));
    }
    for (name, given) in [("min_stars", asked.min_stars), ("max_stars", asked.max_stars)] {
        if let Some(stars) = given {
            issues.range(name, stars, &(0..=i64::MAX));
        }
    }
    if let (Some(least), Some(most)) = (asked.min_stars, asked.max_stars)
        && least > most
    {
        issues.add("max_stars", "must not be less than min_stars", "custom");
    }
    filters.extend(asked.min_stars.map(|least| Filter::AtLeast("stars".to_owned(), least as f64)));
    filters.extend(asked.max_stars.map(|most| Filter::AtMost("stars".to_owned(), most as f64)));
    filters.extend(asked.archived.map(|flag| is("archived", flag.to_string())));
    filters.extend(asked.fork.map(|flag| is("fork", flag.to_string())));
    filters
}

fn result(hit: IndexHit) -> DeveloperResult {
    let document = hit.document;
    let known = |name: &str| document.attributes.get(name).map(String::as_str);
    let kind = document.kind.as_deref().unwrap_or("doc");
    let id = match (kind, known("repo"), known("number")) {
        ("issue" | "pull_request", Some(repo), Some(number)) => format!("{kind}:{repo}#{number}"),
        ("readme", Some(repo), _) => format!("readme:{repo}"),
        _ => format!("{kind}:{}", document.url),
    };
    let license = known("repo").map(|_| license(known("license")));
    let words = if hit.passages.is_empty() { vec![opening(&document.body)] } else { hit.passages };
    let passages = words
        .into_iter()
        .map(|text| DeveloperPassage { text, citation_url: Some(document.url.clone()) })
        .collect();
    DeveloperResult {
        id,
        kind: Some(kind.to_owned()),
        title: Some(document.title).filter(|title| !title.is_empty()),
        url: document.url,
        passages,
        license,
    }
}

/// How a document begins, where no passage answers the query: its title did.
fn opening(body: &str) -> String {
    let mut text: String = body.chars().take(300).collect();
    text.truncate(text.trim_end().len());
    text
}

fn license(spdx: Option<&str>) -> License {
    match spdx {
        // What GitHub says when it found a file and could not tell.
        None | Some("NOASSERTION" | "") => License { state: "unknown", spdx_id: None },
        Some("NONE") => License { state: "known_absent", spdx_id: None },
        Some(id) => License { state: "licensed", spdx_id: Some(id.to_owned()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::search_collections::DeveloperQuery;

    fn plan(query: &str) -> Result<DeveloperPlan, wire::WireError> {
        Ok(DeveloperPlan::resolve(&wire::read::query::<DeveloperQuery>(query)?.into())?)
    }

    #[test]
    fn filters_choose_the_types_they_can_speak_of() {
        let types = |query: &str| plan(query).unwrap().types;
        assert_eq!(types("query=x"), [true; 4]);
        assert_eq!(types("query=x&repos=a/b"), [false, true, true, true]);
        assert_eq!(types("query=x&sources=docs"), [true, false, false, false]);
        assert_eq!(types("query=x&sources=docs&min_stars=1"), [true; 4]);
        assert_eq!(types("query=x&types=issue,readme&language=Rust"), [false, true, false, true]);
        assert_eq!(types("query=x&skills=only"), [true, false, false, false]);
        for none in ["types=doc&repos=a/b", "types=issue&sources=docs", "types=pull_request&skills=only"] {
            let error = plan(&format!("query=x&{none}")).unwrap_err();
            assert_eq!(error.status(), 400, "{none}");
            assert!(error.text().contains("can match none"), "{}", error.text());
        }
    }

    #[test]
    fn every_mistake_is_named() {
        for (query, field) in [
            ("", "query"),
            ("query=%20", "query"),
            ("query=x&k=0", "k"),
            ("query=x&k=101", "k"),
            ("query=x&passages=6", "passages"),
            ("query=x&types=code", "types"),
            ("query=x&repos=nothing", "repos"),
            ("query=x&repos=a/b/c", "repos"),
            ("query=x&topic=1,2,3,4,5,6,7,8,9", "topic"),
            ("query=x&min_stars=-1", "min_stars"),
            ("query=x&min_stars=5&max_stars=4", "max_stars"),
            ("query=x&skills=all", "skills"),
            ("query=x&language=", "language"),
        ] {
            let error = plan(query).unwrap_err();
            let named = error.details().unwrap()[0]["path"][0].as_str().unwrap().to_owned();
            assert_eq!((error.status(), named.as_str()), (400, field), "{query}");
        }
    }

    #[test]
    fn licences_are_told_as_they_are_known() {
        assert_eq!(license(Some("MIT")), License { state: "licensed", spdx_id: Some("MIT".into()) });
        assert_eq!(license(Some("NONE")).state, "known_absent");
        assert_eq!((license(None).state, license(Some("NOASSERTION")).state), ("unknown", "unknown"));
    }
}
