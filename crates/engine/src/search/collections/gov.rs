//! Public law: what the operator imported of courts and authorities.

use super::{
    Collections, DEFAULT_RESULTS, GOV, MAX_RESULTS, nothing_imported, now, number, query_text, word,
};
use crate::Error;
use index::{Filter, IndexHit, Query};
use uuid::Uuid;
use wire::Issues;
use wire::search_collections::{GovData, GovRequest, GovResponse, GovResult};

const COURT_TYPES: [&str; 11] = [
    "federal-supreme",
    "federal-appellate",
    "federal-district",
    "federal-bankruptcy",
    "federal-special",
    "military",
    "state-supreme",
    "state-appellate",
    "state-trial",
    "state-special",
    "state-attorney-general",
];
/// Characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// What a request means.
#[derive(Debug)]
pub struct GovPlan {
    pub query: String,
    k: usize,
    filters: Vec<Filter>,
    sites: Vec<String>,
}

impl GovPlan {
    pub fn resolve(asked: &GovRequest) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let query = query_text(&mut issues, asked.query.as_deref());
        let k = number(&mut issues, "k", asked.k, DEFAULT_RESULTS, MAX_RESULTS);
        if asked.court_type.as_deref().is_some_and(|kind| !COURT_TYPES.contains(&kind)) {
            let known = COURT_TYPES.join(", ");
            issues.add("courtType", &format!("must be one of {known}"), "invalid_value");
        }
        let given = [
            ("jurisdiction", &asked.jurisdiction),
            ("court", &asked.court),
            ("courtType", &asked.court_type),
            ("cites", &asked.cites),
        ];
        let filters = given
            .into_iter()
            .filter_map(|(name, value)| {
                let value = word(&mut issues, name, value.as_deref())?;
                Some(Filter::Is(name.to_owned(), vec![value]))
            })
            .collect();
        let sites: Vec<String> = word(&mut issues, "domain", asked.domain.as_deref()).into_iter().collect();
        if sites.iter().any(|site| site.contains([' ', '@', '?', '#'])) {
            issues.add("domain", "must be a host, such as supremecourt.gov", "invalid_value");
        }
        issues.finish()?;
        Ok(Self { query, k, filters, sites })
    }

    pub fn max_results(&self) -> usize {
        self.k
    }

    pub async fn search(&self, collections: &Collections, team: Uuid) -> GovResponse {
        let query = Query {
            team,
            collection: GOV.to_owned(),
            text: self.query.clone(),
            filters: self.filters.clone(),
            sites: self.sites.clone(),
            limit: self.k,
            passages: 1,
            now: now(),
            ..Query::default()
        };
        let (hits, warning) = match collections.ask(query).await {
            Err(reason) => (Vec::new(), Some(reason)),
            Ok(found) if found.searched == 0 => (Vec::new(), Some(nothing_imported(GOV))),
            Ok(found) if found.hits.is_empty() => {
                (Vec::new(), Some(format!("none of {} documents matches", found.searched)))
            }
            Ok(found) => (found.hits, None),
        };
        let web = hits.into_iter().enumerate().map(|(place, hit)| result(place + 1, hit)).collect();
        GovResponse { success: true, data: GovData { web }, warning }
    }
}

fn result(position: usize, hit: IndexHit) -> GovResult {
    let document = hit.document;
    let said = hit.passages.into_iter().next();
    let text = said.or(Some(document.description).filter(|text| !text.is_empty())).unwrap_or(document.body);
    let description = text.chars().take(MAX_DESCRIPTION_CHARS).collect();
    GovResult { url: document.url, title: document.title, description, position }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(query: &str) -> Result<GovPlan, wire::WireError> {
        Ok(GovPlan::resolve(&wire::read::query::<GovRequest>(query)?)?)
    }

    #[test]
    fn filters_become_conditions() {
        let plan = plan("query=x&jurisdiction=us&court=scotus&courtType=federal-supreme&cites=1%20U.S.%201&domain=courts.gov").unwrap();
        assert_eq!(plan.filters.len(), 4);
        assert_eq!(plan.filters[3], Filter::Is("cites".into(), vec!["1 U.S. 1".into()]));
        assert_eq!((plan.sites, plan.k), (vec!["courts.gov".to_owned()], 10));
    }

    #[test]
    fn every_mistake_is_named() {
        for (query, field) in [
            ("query=", "query"),
            ("query=x&k=101", "k"),
            ("query=x&courtType=village", "courtType"),
            ("query=x&court=", "court"),
            ("query=x&domain=a%20b", "domain"),
        ] {
            let error = plan(query).unwrap_err();
            assert_eq!(error.details().unwrap()[0]["path"][0], field, "{query}");
        }
    }
}
