//! A search as a target: results that are new and fit the goal are told once, by their address.

use super::context::CheckContext;
use super::judging::{Judged, JudgedChange, judge_change};
use super::page_check::{PageNews, PageOutcome};
use super::stored_page::{SearchJudgement, StoredPage, page_key};
use super::targets::{Target, TargetWork};
use crate::Error;
use serde_json::{Map, Value, json};
use sites::{PageUrl, UrlEquivalence};
use std::collections::HashSet;
use store::monitors::{CheckPageStatus, SnapshotChange};
use stored_data::time;
use uuid::Uuid;
use wire::monitor::{CheckPageView, TargetResult};
use wire::search::SearchRequest;

/// What is known of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchStatus {
    /// New, and what the goal asks for.
    Alert,
    /// Told before.
    AlreadySeen,
    /// Of the subject, and not yet what the goal asks for.
    Watching,
    Ignored,
    /// It could not be judged; the next check tries again.
    Skipped,
}

impl SearchStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::AlreadySeen => "already_seen",
            Self::Watching => "watching",
            Self::Ignored => "ignored",
            Self::Skipped => "skipped",
        }
    }

    fn page_status(self) -> CheckPageStatus {
        match self {
            Self::Alert => CheckPageStatus::New,
            Self::Skipped => CheckPageStatus::Error,
            Self::AlreadySeen | Self::Watching | Self::Ignored => CheckPageStatus::Same,
        }
    }
}

/// A result of a search.
struct Hit {
    url: String,
    /// The address by which it is known, in whatever spelling it comes.
    canonical: String,
    query: String,
    title: String,
    description: String,
}

impl Hit {
    fn text(&self) -> String {
        format!("{}\n{}", self.title, self.description)
    }
}

impl CheckContext {
    pub async fn check_search(&self, target: &Target, result: &mut TargetResult) -> Result<(), Error> {
        let TargetWork::Search { queries, window, max_results, include, exclude } = &target.work else {
            return Ok(());
        };
        let domains = |list: &[String]| Some(list.to_vec()).filter(|list| !list.is_empty());
        let (mut hits, mut seen, mut search_credits) = (Vec::new(), HashSet::new(), 0);
        for query in queries {
            let asked = SearchRequest {
                query: Some(query.clone()),
                limit: Some(*max_results),
                include_domains: domains(include),
                exclude_domains: domains(exclude),
                tbs: Some(format!("qdr:{}", provider_window(window))),
                ..SearchRequest::default()
            };
            let found = self.tools.searcher.search(&self.caller, &asked, &self.tools.base_url).await?;
            search_credits += found.credits_used;
            let found = serde_json::to_value(&found.data).map_err(Error::internal)?;
            let found = read_hits(&found["web"], query).into_iter();
            hits.extend(found.filter(|hit| seen.insert(hit.canonical.clone())));
        }
        hits.truncate(usize::try_from(*max_results).unwrap_or(1));
        self.add_credits(search_credits);
        let is_first_check = self.is_first_check(target.id).await?;
        let mut matches = 0;
        for hit in &hits {
            let status = self.check_hit(target.id, hit, is_first_check).await?;
            matches += u64::from(status == Some(SearchStatus::Alert));
        }
        result.search_completed = Some(true);
        result.result_count = Some(hits.len() as u64);
        result.matches = Some(matches);
        result.search_credits = Some(search_credits);
        result.summary = Some(format!("{} results, {matches} of them new and fitting", hits.len()));
        Ok(())
    }

    /// `None` for a result that an earlier attempt at the check has written.
    async fn check_hit(
        &self,
        target: Uuid,
        hit: &Hit,
        is_first_check: bool,
    ) -> Result<Option<SearchStatus>, Error> {
        let key = page_key(target, &hit.canonical);
        if self.is_written(&key) {
            return Ok(None);
        }
        let before = self.stored_page(&key).await?.and_then(|page| page.search);
        let text_hash = sites::stable_hash(&hit.text());
        let current = before.filter(|before| before.goal_version == self.plan.goal_version);
        let (status, judged) = match current {
            Some(before) if before.status == SearchStatus::Alert.name() => {
                (SearchStatus::AlreadySeen, Judged::default())
            }
            Some(before) if before.text_hash == text_hash => {
                let watched = before.status == SearchStatus::Watching.name();
                (if watched { SearchStatus::Watching } else { SearchStatus::Ignored }, Judged::default())
            }
            _ => self.judge_hit(target, hit).await,
        };
        let snapshot = if matches!(status, SearchStatus::AlreadySeen | SearchStatus::Skipped) {
            SnapshotChange::Keep
        } else {
            let goal_version = self.plan.goal_version;
            let search = SearchJudgement { goal_version, status: status.name().to_owned(), text_hash };
            let kept = StoredPage { read_at: time::now(), search: Some(search), ..StoredPage::default() };
            kept.to_change(target, &hit.url)?
        };
        let view = CheckPageView {
            metadata: Some(hit_metadata(hit, status)),
            error: judged.degraded.clone().filter(|_| status == SearchStatus::Skipped),
            judgment: judged.judgment,
            ..CheckPageView::default()
        };
        // What fits the goal is news the first time, too.
        let is_first = is_first_check && view.judgment.is_none();
        let news = PageNews { is_first, errors_in_a_row: 0 };
        let status_of_page = status.page_status();
        let outcome = PageOutcome { view, status: status_of_page, snapshot, credits: judged.credits, news };
        self.write_page((target, &hit.url), key, outcome).await?;
        Ok(Some(status))
    }

    async fn judge_hit(&self, target: Uuid, hit: &Hit) -> (SearchStatus, Judged) {
        let Some(goal) = self.plan.judged_goal() else { return (SearchStatus::Alert, Judged::default()) };
        let change = hit.text();
        let judged =
            judge_change(&self.tools.services.models, goal, &hit.url, JudgedChange::New(&change)).await;
        self.count_judged(target, &judged);
        let status = match &judged.judgment {
            None => SearchStatus::Skipped,
            Some(judgment) if judgment.meaningful => SearchStatus::Alert,
            Some(judgment) if judgment.meaningful_changes.is_empty() => SearchStatus::Ignored,
            Some(_) => SearchStatus::Watching,
        };
        (status, judged)
    }
}

/// The shortest window that search providers know and that holds the one asked for.
fn provider_window(window: &str) -> &'static str {
    match window {
        "5m" | "15m" | "1h" => "h",
        "6h" => "h6",
        "7d" => "w",
        _ => "d",
    }
}

fn hit_metadata(hit: &Hit, status: SearchStatus) -> Map<String, Value> {
    let fields = [
        ("searchStatus", status.name()),
        ("query", &hit.query),
        ("title", &hit.title),
        ("description", &hit.description),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn read_hits(found: &Value, query: &str) -> Vec<Hit> {
    let hits = found.as_array().map(Vec::as_slice).unwrap_or_default();
    let sameness = UrlEquivalence { ignore_query: false, similar: true };
    let read = |hit: &Value| {
        let url = hit["url"].as_str()?.to_owned();
        let canonical =
            PageUrl::parse(&url, sameness).map_or_else(|_| url.clone(), |page| page.key().to_owned());
        let text = |name: &str| hit[name].as_str().unwrap_or_default().to_owned();
        let (title, description) = (text("title"), text("description"));
        Some(Hit { url, canonical, query: query.to_owned(), title, description })
    };
    hits.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_known_by_its_address_in_any_spelling() {
        let hits = read_hits(
            &json!([
                { "url": "https://www.a.test/news/", "title": "T", "description": "D" },
                { "url": "http://a.test/news", "title": "T" },
                { "title": "without an address" },
            ]),
            "q",
        );
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0].canonical, hits[1].canonical);
        assert_eq!((hits[0].text().as_str(), hits[1].text().as_str()), ("T\nD", "T\n"));
    }
}
