//! `/v2/profiles`: the saved browser states of a team.

use crate::app::App;
use crate::auth::Authenticated;
use crate::error::ApiError;
use axum::Json;
use axum::extract::{Path, State};
use engine::interact;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::interact::{Deleted, ProfileList};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_profiles)).routes(routes!(delete_profile))
}

/// List the profiles of the team
///
/// A profile is what `profile` of a scrape or a session has saved: cookies, local storage and `IndexedDB`.
#[utoipa::path(get, path = "/v2/profiles", tag = "Interact", responses((status = 200, body = ProfileList)))]
async fn list_profiles(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ProfileList>, ApiError> {
    Ok(Json(interact::list_profiles(app.services.store.as_ref(), &caller).await?))
}

/// Delete a profile
#[utoipa::path(delete, path = "/v2/profiles/{name}", tag = "Interact",
    params(("name" = String, Path, description = "Name of the profile")),
    responses(
        (status = 200, body = Deleted),
        (status = 404, description = "The team has no profile of that name", body = ErrorBody),
        (status = 409, description = "A request or session is about to save it", body = ErrorBody),
    ))]
async fn delete_profile(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(name): Path<String>,
) -> Result<Json<Deleted>, ApiError> {
    Ok(Json(interact::delete_profile(app.services.store.as_ref(), &caller, &name).await?))
}
