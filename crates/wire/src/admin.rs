//! The administration API for API keys. Our own, not part of the v2 contract; it needs the scope `admin`.

use crate::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateKey {
    /// A name to tell keys apart, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What the key may do; everything but `admin` by default.
    pub scopes: Option<Vec<Scope>>,
    /// Days until the key expires; never by default.
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u32>,
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
