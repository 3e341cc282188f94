//! `/v2/keyless/eligibility`: whether an address may go on without a key, for clients that ask before they call.

use crate::app::App;
use crate::base_url::ClientAddress;
use crate::error::ApiError;
use axum::extract::State;
use axum::{Extension, Json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::keyless::KeylessEligibility;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(keyless_eligibility))
}

/// Ask whether requests without a key are accepted from here now
#[utoipa::path(get, path = "/v2/keyless/eligibility", tag = "Service", security(()),
    responses((status = 200, body = KeylessEligibility), (status = 503, description = "The database is unavailable", body = wire::ErrorBody)))]
async fn keyless_eligibility(
    State(app): State<App>,
    address: Option<Extension<ClientAddress>>,
) -> Result<Json<KeylessEligibility>, ApiError> {
    let (Some(keyless), Some(Extension(address))) = (&app.keyless, address) else {
        let off = KeylessEligibility { success: true, reason: Some("off"), ..KeylessEligibility::default() };
        return Ok(Json(off));
    };
    let left = keyless.day_left(address.0).await?;
    let reason = match (left.requests, left.credits) {
        (0, _) => Some("requests"),
        (_, 0) => Some("credits"),
        _ => None,
    };
    Ok(Json(KeylessEligibility {
        success: true,
        eligible: reason.is_none(),
        reason,
        retry_after_seconds: reason.map(|_| left.resets_in.as_secs().max(1)),
        requests_left: Some(left.requests),
        credits_left: Some(left.credits),
    }))
}
