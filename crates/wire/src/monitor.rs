//! Monitors: pages, sites and searches that are checked by a schedule. Requests; [`responses`] are beside.

mod responses;

pub use responses::{
    ChannelView, CheckDetailView, CheckListResponse, CheckPageView, CheckResponse, CheckSummary, CheckView,
    DiffView, EmailSubscriptionView, JudgmentView, MeaningfulChangeView, MonitorDeleted, MonitorListResponse,
    MonitorResponse, MonitorRunResponse, MonitorView, NotificationView, ScheduleView, SnapshotView,
    SubscriptionResponse, TargetResult, UnreadPage, UnreadPages, WatchAgainResponse,
};

use crate::SecretText;
use crate::crawl::CrawlRequest;
use crate::scrape::ScrapeOptions;
use crate::webhook::WebhookInput;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// `POST /v2/monitor`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorRequest {
    #[schema(min_length = 1, max_length = 256)]
    pub name: Option<String>,
    pub schedule: Option<ScheduleInput>,
    /// 1 to 50 pages, sites and searches.
    #[schema(min_items = 1, max_items = 50)]
    pub targets: Option<Vec<TargetInput>>,
    /// Events: `monitor.page`, `monitor.check.completed`.
    pub webhook: Option<WebhookInput>,
    pub notification: Option<NotificationInput>,
    /// How long checks are kept; the last one always.
    #[schema(minimum = 1, maximum = 365, default = 30)]
    pub retention_days: Option<i64>,
    /// What changes are about, in words; each change is then judged.
    #[schema(max_length = 2000)]
    pub goal: Option<String>,
    /// On by default when there is a goal.
    pub judge_enabled: Option<bool>,
}

/// `PATCH /v2/monitor/{id}`: what is absent stays, and null clears.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorPatch {
    #[schema(min_length = 1, max_length = 256)]
    pub name: Option<String>,
    /// `active` or `paused`.
    #[schema(pattern = "^(active|paused)$")]
    pub status: Option<String>,
    pub schedule: Option<ScheduleInput>,
    #[schema(min_items = 1, max_items = 50)]
    pub targets: Option<Vec<TargetInput>>,
    #[schema(value_type = Option<WebhookInput>)]
    pub webhook: PatchField<WebhookInput>,
    #[schema(value_type = Option<NotificationInput>)]
    pub notification: PatchField<NotificationInput>,
    #[schema(minimum = 1, maximum = 365)]
    pub retention_days: Option<i64>,
    #[schema(value_type = Option<String>, max_length = 2000)]
    pub goal: PatchField<String>,
    pub judge_enabled: Option<bool>,
}

/// A field of a change: absent, null, or a new value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PatchField<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PatchField<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(from)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: Serialize> Serialize for PatchField<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => value.serialize(to),
            Self::Keep | Self::Clear => to.serialize_none(),
        }
    }
}

/// When a monitor runs: `cron` or `text`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ScheduleInput {
    /// Five fields: minute, hour, day of the month, month, day of the week.
    pub cron: Option<String>,
    /// For instance `every 30 minutes`, `daily at 9:00`, `every monday at 8:30`.
    pub text: Option<String>,
    /// An IANA name.
    #[schema(default = "UTC")]
    pub timezone: Option<String>,
}

/// What is checked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetInput {
    /// Made by the server where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// `scrape`, `crawl` or `search`.
    #[serde(rename = "type")]
    #[schema(pattern = "^(scrape|crawl|search)$")]
    pub kind: String,
    /// Of `scrape`: the pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<Vec<String>>,
    /// Of `crawl`: the start of the site. Of `scrape`: one page, instead of `urls`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Of `crawl`: the options of a crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_options: Option<CrawlRequest>,
    /// Of `scrape` and `crawl`: how pages are read. Cached pages are never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_options: Option<ScrapeOptions>,
    /// Of `search`: 1 to 12 queries of at most 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<Vec<String>>,
    /// Of `search`: how old results may be, `5m`, `15m`, `1h`, `6h`, `24h` or `7d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(default = "24h", pattern = "^(5m|15m|1h|6h|24h|7d)$")]
    pub search_window: Option<String>,
    /// Of `search`: results of all queries together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 50, default = 10)]
    pub max_results: Option<i64>,
    /// Of `search`: only these hosts; not together with `excludeDomains`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 50)]
    pub include_domains: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 50)]
    pub exclude_domains: Option<Vec<String>>,
}

/// Who is told besides the webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailInput>,
    /// Chat and push services. An extension of Gannet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 10)]
    pub channels: Option<Vec<ChannelInput>>,
    /// What checks find then is told in one message when they end. An extension of Gannet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursInput>,
}

/// A chat or push service. In a change `id` alone keeps a channel as it is, and fields that are given replace
/// those that it has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ChannelInput {
    /// Made by the server where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// `slack`, `discord`, `teams`, `mattermost`, `ntfy`, `gotify`, `telegram`, `matrix` or `generic`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Of the service or of its incoming webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub url: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub token: Option<SecretText>,
    /// The chat of Telegram, the room of Matrix, the topic of ntfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub room: Option<SecretText>,
    /// As responses have it; accepted without effect, so that they can be sent back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// A part of each day; it may pass midnight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct QuietHoursInput {
    /// For instance `22:00`.
    pub from: String,
    /// For instance `07:30`.
    pub until: String,
    /// An IANA name; that of the schedule by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// `POST /v2/monitor/email/confirm` and `/v2/monitor/email/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct SubscriptionRequest {
    /// As in the link of the mail.
    #[schema(min_length = 16, max_length = 64)]
    pub token: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailInput {
    #[schema(default = false)]
    pub enabled: Option<bool>,
    #[schema(max_items = 25)]
    pub recipients: Option<Vec<String>>,
    #[schema(default = false)]
    pub include_diffs: Option<bool>,
}

/// `POST /v2/monitor/{id}/watch-again`. An extension of Gannet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct WatchAgainRequest {
    /// A page of the monitor, as checks name it.
    #[schema(min_length = 1)]
    pub url: Option<String>,
    /// A line that was ignored, as `metadata.ignored` of a check has it; all of the page where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2000)]
    pub line: Option<String>,
}

/// `POST /v2/monitor/{id}/run`; the body may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct MonitorRunRequest {}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MonitorListQuery {
    #[param(minimum = 1, maximum = 100, default = 25)]
    pub limit: Option<u32>,
    #[param(minimum = 0, default = 0)]
    pub offset: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CheckListQuery {
    #[param(minimum = 1, maximum = 100, default = 25)]
    pub limit: Option<u32>,
    #[param(minimum = 0, default = 0)]
    pub offset: Option<u32>,
    /// `queued`, `running`, `completed`, `failed`, `partial`, `skipped_overlap` or `skipped_no_credits`.
    pub status: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CheckPageQuery {
    #[param(minimum = 1, maximum = 100, default = 25)]
    pub limit: Option<u32>,
    #[param(minimum = 0, default = 0)]
    pub skip: Option<u32>,
    /// `same`, `new`, `changed`, `removed` or `error`.
    pub status: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read};

    #[test]
    fn a_patch_tells_null_from_absent() {
        let patch: MonitorPatch =
            read::body(br#"{"webhook":null,"goal":"prices","origin":"js-sdk"}"#).unwrap();
        assert_eq!(patch.webhook, PatchField::Clear);
        assert_eq!(patch.goal, PatchField::Set("prices".to_owned()));
        assert_eq!(patch.notification, PatchField::Keep);
        assert!(read::body::<MonitorPatch>(br#"{"colour":"red"}"#).is_err());
    }

    #[test]
    fn requests_of_the_clients_are_read() {
        let body = br#"{"name":"n","schedule":{"text":"every 30 minutes","timezone":"UTC"},
            "targets":[{"type":"scrape","urls":["https://a.test"]},{"type":"crawl","url":"https://a.test"},
            {"type":"search","queries":["q"],"searchWindow":"24h","maxResults":5}],
            "webhook":{"url":"https://b.test","events":["monitor.page"]},
            "notification":{"email":{"enabled":true,"recipients":["a@b.test"]}},"retentionDays":7,"goal":"g"}"#;
        let request: MonitorRequest = read::body(body).unwrap();
        assert_eq!(request.targets.unwrap().len(), 3);
        let unknown =
            read::body::<MonitorRequest>(br#"{"targets":[{"type":"scrape","page":1}]}"#).unwrap_err();
        assert_eq!(unknown.kind, Kind::UnknownKeys);
    }
}
