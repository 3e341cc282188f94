//! The administration API: API keys, sign-ins of the dashboard, the state of the server. Our own, not part of the
//! v2 contract.

use crate::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateKey {
    /// A name to tell keys apart, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What the key may do; everything but `admin` by default.
    pub scopes: Option<Vec<Scope>>,
    /// Days until the key expires; as the server's setting `key_days` says by default, which is never unless it is set.
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u32>,
    /// The only hosts that may be reached with the key, each a name, an address, or `*.` before a name for everything
    /// below it; all by default. Not with the scopes `interact`, `monitor` and `admin`.
    #[schema(min_items = 1, max_items = 100)]
    pub hosts: Option<Vec<String>>,
}

/// The hosts of a key from now on.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SetKeyHosts {
    /// The only hosts that may be reached with the key, as in a new key.
    #[schema(min_items = 1, max_items = 100)]
    pub hosts: Vec<String>,
}

/// A key after a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedKey {
    pub success: bool,
    pub data: KeyView,
}

/// A key in a list. The key itself is shown once, when it is created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub id: Uuid,
    pub name: String,
    /// The first characters of the key.
    pub hint: String,
    pub scopes: Vec<String>,
    /// `active`, `expired` or `revoked`.
    pub status: &'static str,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub last_used_at: Option<String>,
    pub revoked_at: Option<String>,
    /// The only hosts that may be reached with the key; null for all.
    pub hosts: Option<Vec<String>>,
    /// Secrets of the key that were replaced and still work; none but after a rotation.
    pub replaced: Vec<ReplacedSecretView>,
}

/// A secret of a key that was replaced and still works.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplacedSecretView {
    /// Its first characters.
    pub hint: String,
    /// From then on it does not work.
    pub expires_at: String,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct RotateKeyQuery {
    /// How many hours the secret before goes on working; 0 if it was leaked.
    #[param(minimum = 0, maximum = 720, default = 24)]
    pub phase_out_hours: Option<u32>,
    /// Days until the key expires, from now; when it did before by default.
    #[param(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedKey {
    pub success: bool,
    /// The key. It is stored only as a hash and cannot be shown again.
    pub key: String,
    pub data: KeyView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KeyList {
    pub success: bool,
    pub data: Vec<KeyView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Done)]
pub struct SuccessResponse {
    pub success: bool,
}

/// What is traded for a sign-in: a key, or the token of a link that works once.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SignInRequest {
    /// An API key.
    #[schema(max_length = 512)]
    pub key: Option<String>,
    /// The token of the link that the start of the server printed.
    #[schema(max_length = 512)]
    pub link: Option<String>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SignOutQuery {
    /// Also end all other sign-ins with the same key.
    #[serde(default)]
    pub everywhere: bool,
}

/// Who is signed in, and on what server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInView {
    pub team: String,
    pub plan: String,
    /// What the caller may do.
    pub scopes: Vec<&'static str>,
    /// The key that is acted as; none when authentication is off.
    pub key: Option<Uuid>,
    /// When the sign-in ends; none for a request with a key.
    pub expires_at: Option<String>,
    /// Whether the server needs keys at all.
    pub auth: bool,
    /// The version of the server.
    pub version: &'static str,
    /// Whether agent runs are done by a language model, not by rules.
    pub language_model: bool,
}

/// What a check of `gannet doctor` found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PartView {
    pub part: String,
    /// `ok`, `missing`, `warning` or `broken`.
    pub verdict: String,
    pub text: String,
}

/// A setting with where its value came from. Secrets are hidden.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SettingView {
    pub name: String,
    pub value: String,
    /// `default`, `command line`, `environment NAME`, or the path of the file.
    pub source: String,
    pub help: String,
}

/// What `gannet doctor` says about this server.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// When the checks ended that found this; null before the first.
    pub checked_at: Option<String>,
    /// The checks are running: `parts` are what the ones before found, if there were any.
    pub checking: bool,
    pub parts: Vec<PartView>,
    /// The limits in force, by name.
    pub limits: BTreeMap<String, String>,
    pub settings: Vec<SettingView>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// Wait for new checks instead of returning what the last ones found.
    #[serde(default)]
    pub fresh: bool,
}
