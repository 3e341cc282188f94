//! The research index: papers, passages and related papers. Fields beyond the contract (`exclude`, `from`,
//! `to` and `fields` of related papers) are marked as ours.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SimilarRequest {
    /// What the related papers are needed for.
    #[param(min_length = 1, required = true)]
    pub intent: Option<String>,
    /// Papers like the seed, papers that cite it, or papers that it cites.
    #[param(default = "similar", pattern = "^(similar|citers|references)$")]
    pub mode: Option<String>,
    /// Maximum number of papers.
    #[param(minimum = 1, maximum = 500, default = 40)]
    pub k: Option<i64>,
    /// A second, more expensive ranking of the best candidates.
    pub rerank: Option<bool>,
    /// Another seed paper; repeat it for several.
    #[serde(default)]
    pub anchor: Vec<String>,
    /// Ours: a paper to rank similar papers away from; repeat it for several.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Ours: only papers from this day on, `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Ours: only papers up to this day, `YYYY-MM-DD`.
    pub to: Option<String>,
    /// Ours: only papers with this category; repeat it or separate by commas, all must match.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Ours: also return which of the seeds and results cite each other, as `citations`.
    pub citations: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchRequest {
    /// What to search for.
    #[param(min_length = 1, required = true)]
    pub query: Option<String>,
    /// Maximum number of papers.
    #[param(minimum = 1, maximum = 500, default = 40)]
    pub k: Option<i64>,
    /// Part of an author's name; repeat it or separate by commas, all must match.
    #[serde(default)]
    pub authors: Vec<String>,
    /// Part of a category; repeat it or separate by commas, all must match.
    #[serde(default)]
    pub categories: Vec<String>,
    /// Only papers from this day on, `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Only papers up to this day, `YYYY-MM-DD`.
    pub to: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PaperRequest {
    /// A question; the response then has the passages of the paper that answer it.
    pub query: Option<String>,
    /// Maximum number of passages; only with `query`.
    #[param(minimum = 1, maximum = 50, default = 4)]
    pub k: Option<i64>,
}

/// Identifiers by namespace.
pub type IdMap = BTreeMap<String, Vec<String>>;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaperResult {
    /// The canonical number of the paper.
    pub paper_id: String,
    /// The identifier to cite and retrieve by, `namespace:id`.
    pub primary_id: String,
    #[schema(value_type = HashMap<String, Vec<String>>)]
    pub ids: IdMap,
    pub title: String,
    #[serde(rename = "abstract")]
    pub abstract_text: String,
    pub score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<PaperSignals>,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaperSignals {
    /// Probability of reaching the paper on a random walk along citations that keeps returning to the seeds.
    pub structural: f64,
    /// How much of the intent the paper's text covers, 0 to 1.
    pub semantic: f64,
    /// Rank in the whole citation graph; 1 is the mean.
    pub article_rank: f64,
    /// Number of seeds that the paper is connected to.
    pub seed_overlap: u32,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimilarPapers {
    pub success: bool,
    pub results: Vec<PaperResult>,
    /// Number of candidates before the limit `k`.
    pub pool_size: u64,
    /// There were more candidates than returned.
    pub truncated: bool,
    /// Remarks about the ranking.
    pub note: Option<String>,
    /// With `citations=true`: which of the seeds and results cite each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<Vec<Citation>>,
}

/// A paper that cites another one, both by their primary ids.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Citation {
    pub citing: String,
    pub cited: String,
}

/// `GET /v2/search/research/github`, which `/v2/search/developer` has replaced.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GithubRequest {
    /// What to search for.
    #[param(min_length = 1, max_length = 2000, required = true)]
    pub query: Option<String>,
    /// Maximum number of results.
    #[param(minimum = 1, maximum = 100, default = 20)]
    pub k: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct GithubResults {
    pub success: bool,
    pub results: Vec<GithubResult>,
    pub warnings: Vec<String>,
    /// The endpoint that replaces this one.
    pub replacement: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubResult {
    /// `github_history`, `repo_readme` or `web`.
    pub result_type: &'static str,
    /// `owner/name`; empty for documentation.
    pub repo: String,
    pub url: String,
    /// `issue` or `pull_request`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub snippet: String,
    pub scores: GithubScores,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct GithubScores {
    /// By the place in the results.
    pub rrf: f64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FoundPapers {
    pub success: bool,
    pub results: Vec<PaperResult>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InspectedPaper {
    pub success: bool,
    pub paper: Paper,
    /// With `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// Ours: the publisher or a source marks the paper as retracted. Beside `paper` and not in it, as clients
    /// exist that allow no further keys there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retracted: bool,
    /// Ours: the import each field of the paper is from.
    pub provenance: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Paper {
    pub paper_id: String,
    #[schema(value_type = HashMap<String, Vec<String>>)]
    pub ids: IdMap,
    pub title: String,
    #[serde(rename = "abstract")]
    pub abstract_text: String,
    /// Names, separated by commas.
    pub authors: String,
    pub categories: Vec<String>,
    pub created_date: Option<String>,
    pub update_date: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Passage {
    pub text: String,
    pub score: f64,
}
