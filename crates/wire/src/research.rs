//! The research index: papers, passages and related papers, in the shapes of the contract. What is beyond the contract (`exclude`,
//! `from`, `to` and `fields` of related papers) is marked as ours.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SimilarRequest {
    /// What the related papers are wanted for.
    #[param(min_length = 1, required = true)]
    pub intent: Option<String>,
    /// Papers like the seed, papers that cite it, or papers that it cites.
    #[param(default = "similar", pattern = "^(similar|citers|references)$")]
    pub mode: Option<String>,
    /// Most papers to return.
    #[param(minimum = 1, maximum = 500, default = 40)]
    pub k: Option<i64>,
    /// A second, dearer pass over the best candidates.
    pub rerank: Option<bool>,
    /// A further seed; repeat it for several.
    #[serde(default)]
    pub anchor: Vec<String>,
    /// Ours: a paper whose like is not wanted; repeat it for several.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Ours: only papers from this day on, `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Ours: only papers up to this day, `YYYY-MM-DD`.
    pub to: Option<String>,
    /// Ours: only papers with this category; repeat it or part by commas, all must match.
    #[serde(default)]
    pub fields: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchRequest {
    /// What to look for.
    #[param(min_length = 1, required = true)]
    pub query: Option<String>,
    /// Most papers to return.
    #[param(minimum = 1, maximum = 500, default = 40)]
    pub k: Option<i64>,
    /// Part of an author's name; repeat it or part by commas, all must match.
    #[serde(default)]
    pub authors: Vec<String>,
    /// Part of a category; repeat it or part by commas, all must match.
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
    /// A question; the answer then has the passages of the paper that speak of it.
    pub query: Option<String>,
    /// Most passages to return; only with `query`.
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
    /// Chance of meeting the paper on a walk along citations that keeps returning to the seeds.
    pub structural: f64,
    /// Share of the intent that the paper's text carries, 0 to 1.
    pub semantic: f64,
    /// Standing in the whole citation graph; 1 is the mean.
    pub article_rank: f64,
    /// Seeds that the paper is connected to.
    pub seed_overlap: u32,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimilarPapers {
    pub success: bool,
    pub results: Vec<PaperResult>,
    /// Candidates before the cut to `k`.
    pub pool_size: u64,
    /// There were more candidates than are returned.
    pub truncated: bool,
    /// What to know about the ranking, for people.
    pub note: Option<String>,
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
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Paper {
    pub paper_id: String,
    pub ids: IdMap,
    pub title: String,
    #[serde(rename = "abstract")]
    pub abstract_text: String,
    /// Names, parted by commas.
    pub authors: String,
    pub categories: Vec<String>,
    pub created_date: Option<String>,
    pub update_date: Option<String>,
    /// Ours: the publisher or a source marks the paper as retracted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retracted: bool,
    /// Ours: which import each shown field came from.
    pub provenance: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Passage {
    pub text: String,
    pub score: f64,
}
