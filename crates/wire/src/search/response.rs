//! The response of a search: a list for each requested source, and no others.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The response of `POST /v2/search`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = SearchAnswer)]
#[serde(rename_all = "camelCase")]
pub struct SearchResponse {
    pub success: bool,
    pub data: SearchData,
    /// Which providers failed and why, and why a list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// For feedback.
    pub id: Uuid,
    /// Two for every ten results, and one for every result that was scraped.
    pub credits_used: i64,
}

/// Results by source; only requested sources are present.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct SearchData {
    /// If pages were scraped, each result also has the fields of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<WebHit>>)]
    pub web: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<NewsHit>>)]
    pub news: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ImageHit>>)]
    pub images: Option<Vec<Value>>,
    /// Tools of a catalogue; there are none here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WebHit {
    pub url: String,
    pub title: String,
    pub description: String,
    /// From 1.
    pub position: usize,
    /// The requested category it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<HitRanking>,
}

/// Why a result stands where it does; with `explain`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HitRanking {
    /// The result's place in the list of each provider that had it.
    pub places: Vec<HitPlace>,
    /// What the team's feedback about the page or its host is worth, from 0 to 1.
    pub rating: f32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HitPlace {
    pub provider: String,
    /// From 1.
    pub place: usize,
}

/// A news article.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewsHit {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// The date as its source writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    pub position: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<HitRanking>,
}

/// An image, and the page it is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageHit {
    pub title: String,
    pub image_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_height: Option<u32>,
    pub url: String,
    pub position: usize,
}

/// A catalogue tool. There are none here; the type is part of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tool {
    pub provider: String,
    pub capability: String,
    pub description: String,
}
