//! `/admin/audit`: the audit log of the team. Our own, not part of the v2 contract.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Rows per page.
    #[param(minimum = 1, maximum = 500, default = 100)]
    pub limit: Option<u32>,
    /// The `cursor` of the previous page.
    pub cursor: Option<Uuid>,
    /// An action such as `key.rotated`, or a group of them such as `key`.
    pub action: Option<String>,
    /// The id of a key: what it did and what happened to it.
    pub id: Option<Uuid>,
    /// From this time on: a date or a time in ISO 8601.
    pub from: Option<String>,
    /// Before this time.
    pub until: Option<String>,
}

#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AuditExportQuery {
    /// `jsonl` or `csv`.
    #[serde(default)]
    #[param(inline)]
    pub format: AuditFormat,
    /// An action such as `key.rotated`, or a group of them such as `key`.
    pub action: Option<String>,
    /// The id of a key: what it did and what happened to it.
    pub id: Option<Uuid>,
    /// From this time on: a date or a time in ISO 8601.
    pub from: Option<String>,
    /// Before this time.
    pub until: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditFormat {
    #[default]
    Jsonl,
    Csv,
}

/// Something that happened.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntryView {
    pub id: Uuid,
    pub created_at: String,
    /// Such as `key.rotated`.
    pub action: String,
    /// Who did it.
    pub actor: AuditActorView,
    /// The address that the request came from; none for the server and the command line.
    pub address: Option<String>,
    /// The id of what it happened to, such as a key.
    pub subject: Option<Uuid>,
    /// What is known beside: names, scopes, ends; never a secret.
    #[schema(value_type = Object)]
    pub details: serde_json::Value,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditActorView {
    /// `key`, `sign_in`, `link`, `command_line`, `server`, `application`, `agent` or `unknown`.
    pub kind: String,
    /// The key that acted.
    pub key: Option<Uuid>,
    pub name: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    pub success: bool,
    /// Newest first.
    pub data: Vec<AuditEntryView>,
    /// Where the next page begins; none on the last one.
    pub cursor: Option<Uuid>,
}
