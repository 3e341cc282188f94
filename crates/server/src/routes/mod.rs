//! The routes, one file per group, each declared once for both the router and the OpenAPI document.

mod agent;
mod audit_log;
mod authorization;
mod batch;
mod browser;
mod crawl;
mod dashboard;
mod downloads;
mod extract;
mod files;
mod keyless;
mod keys;
mod map;
mod mcp;
mod meta;
mod monitor;
mod monitor_links;
mod parse;
mod profiles;
mod registration;
mod replay;
mod replay_links;
mod report;
mod research;
mod scrape;
mod search;
mod search_collections;
mod session_links;
mod sign_in;
mod skills;
mod support;
mod team;
mod token;
mod watch;
mod webhooks;

use crate::app::{App, Cors};
use crate::auth::{RouteAccess, guard, require_loopback_host};
use crate::docs::ApiDoc;
use crate::drain::drain_body;
use crate::error::ApiError;
use crate::request_wrapper::wrap_request;
use crate::response_memory::{hold_response, may_compress};
use crate::v1;
use access::RateGroup;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use wire::{Kind, Scope};

pub use self::mcp::RouterApi;

/// All routes with their middleware.
pub fn router(app: &App) -> Router {
    let (api, document) = declared_routes(app).split_for_parts();
    let document = crate::docs::complete(document);
    let pages = meta::documents(&document).merge(registration::pages()).merge(authorization::pages());
    let pages = pages.merge(skills::routes()).merge(dashboard::routes());
    let v2 = api.merge(pages).with_state(app.clone());
    let (inner, v1_app) = (v2.clone().fallback(not_found), app.clone());
    let v2 = if app.settings.api { v2.merge(mcp::routes(app, inner.clone())) } else { v2 };
    let router = v2.fallback(move |request: Request| v1::serve(v1_app.clone(), inner.clone(), request));
    let router = if app.settings.auth { router } else { router.layer(from_fn(require_loopback_host)) };
    let router = router
        .layer(from_fn_with_state(app.response_memory.clone(), hold_response))
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(SizeAbove::new(1024).and(compressible)),
        )
        .layer(from_fn(wrap_request));
    let router = match cors(&app.settings.cors) {
        Some(layer) => router.layer(layer),
        None => router,
    };
    // Outermost, so that whatever answers early has its body read.
    router.layer(from_fn(drain_body))
}

/// The same routes for tools of this process (`gannet mcp`), without a connection and its middleware.
pub fn tool_api(app: &App) -> RouterApi {
    let (api, _) = declared_routes(app).split_for_parts();
    RouterApi(api.with_state(app.clone()).fallback(not_found))
}

/// All routes with their documentation, each group with its access rules.
fn declared_routes(app: &App) -> OpenApiRouter<App> {
    let groups = if app.settings.api { groups() } else { Vec::new() };
    groups.into_iter().fold(open_routes(), |all, (routes, group, scope)| {
        let access = RouteAccess { app: app.clone(), group, scope };
        let guarded = routes.route_layer(from_fn_with_state(access, guard));
        // Outside the guard, so that a rejected key is reported in the error format of the group or over the
        // socket.
        let guarded = if scope == Some(Scope::Research) {
            guarded.route_layer(map_response(research::add_problem_details))
        } else if scope == Some(Scope::Crawl) {
            guarded.route_layer(from_fn_with_state(app.clone(), watch::accept_upgrades))
        } else {
            guarded
        };
        all.merge(guarded)
    })
}

/// The whole OpenAPI document, without a running server.
pub fn openapi() -> serde_json::Value {
    let routes = groups().into_iter().fold(open_routes(), |all, (routes, ..)| all.merge(routes));
    crate::docs::to_json(&crate::docs::complete(routes.into_openapi()))
}

fn open_routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(meta::routes())
        .merge(files::routes())
        .merge(parse::open_routes())
        .merge(session_links::routes())
        .merge(replay_links::routes())
        .merge(registration::routes())
        .merge(token::routes())
        .merge(authorization::open_routes())
        .merge(sign_in::open_routes())
        .merge(monitor_links::routes())
        .merge(keyless::routes())
}

/// Routes that need a key, with their rate limit group and required scope.
fn groups() -> Vec<(OpenApiRouter<App>, RateGroup, Option<Scope>)> {
    vec![
        (team::routes(), RateGroup::Status, None),
        (support::routes(), RateGroup::Status, None),
        (scrape::start_route(), RateGroup::Scrape, Some(Scope::Scrape)),
        (scrape::routes(), RateGroup::Status, Some(Scope::Scrape)),
        (crawl::start_routes(), RateGroup::Crawl, Some(Scope::Crawl)),
        (batch::start_route(), RateGroup::Crawl, Some(Scope::Crawl)),
        (crawl::routes(), RateGroup::Status, Some(Scope::Crawl)),
        (batch::routes(), RateGroup::Status, Some(Scope::Crawl)),
        (parse::start_route(), RateGroup::Scrape, Some(Scope::Parse)),
        (parse::routes(), RateGroup::Status, Some(Scope::Parse)),
        (map::routes(), RateGroup::Map, Some(Scope::Map)),
        (agent::start_route(), RateGroup::Agent, Some(Scope::Agent)),
        (agent::routes(), RateGroup::Status, Some(Scope::Agent)),
        (extract::start_route(), RateGroup::Agent, Some(Scope::Agent)),
        (extract::routes(), RateGroup::Status, Some(Scope::Agent)),
        (browser::start_routes(), RateGroup::Interact, Some(Scope::Interact)),
        (browser::routes(), RateGroup::Status, Some(Scope::Interact)),
        (replay::routes(), RateGroup::Status, Some(Scope::Interact)),
        (profiles::routes(), RateGroup::Status, Some(Scope::Interact)),
        (monitor::start_routes(), RateGroup::Crawl, Some(Scope::Monitor)),
        (monitor::routes(), RateGroup::Status, Some(Scope::Monitor)),
        (search_collections::routes(), RateGroup::Search, Some(Scope::Search)),
        (search::routes(), RateGroup::Search, Some(Scope::Search)),
        (search::feedback_routes(), RateGroup::Status, None),
        (research::routes(), RateGroup::Search, Some(Scope::Research)),
        (webhooks::routes(), RateGroup::Status, Some(Scope::Crawl)),
        (keys::routes(), RateGroup::Status, Some(Scope::Admin)),
        (audit_log::routes(), RateGroup::Status, Some(Scope::Admin)),
        (report::routes(), RateGroup::Status, Some(Scope::Admin)),
        (sign_in::routes(), RateGroup::Status, None),
        (authorization::routes(), RateGroup::Status, None),
    ]
}

/// What clients of the Model Context Protocol send beside the key.
const MCP_HEADERS: [&str; 3] = ["mcp-protocol-version", "mcp-method", "mcp-name"];

/// What web pages that are traced themselves send.
const TRACE_HEADERS: [&str; 2] = ["traceparent", "tracestate"];

async fn not_found() -> ApiError {
    Kind::NotFound.into()
}

/// Event streams must not be held back by compression, and files are already compressed, and so is what everybody may
/// read ([`crate::shared_document`]).
fn compressible(
    _: axum::http::StatusCode,
    _: axum::http::Version,
    headers: &axum::http::HeaderMap,
    extensions: &axum::http::Extensions,
) -> bool {
    if !may_compress(extensions) {
        return false;
    }
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"application/json") || (kind.starts_with(b"text/") && kind != b"text/event-stream")
}

fn cors(setting: &Cors) -> Option<CorsLayer> {
    let origin = match setting {
        Cors::None => return None,
        Cors::Any => AllowOrigin::any(),
        Cors::Origins(origins) => {
            AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
        }
    };
    let [idempotency, request_id] = ["x-idempotency-key", "x-request-id"].map(HeaderName::from_static);
    let mut allowed = vec![header::AUTHORIZATION, header::CONTENT_TYPE, idempotency, request_id.clone()];
    allowed.extend(MCP_HEADERS.map(HeaderName::from_static));
    allowed.extend(TRACE_HEADERS.map(HeaderName::from_static));
    let trace_id = HeaderName::from_static("x-trace-id");
    let layer = CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::PUT, Method::DELETE])
        .allow_headers(allowed)
        .expose_headers([request_id, trace_id, header::RETRY_AFTER]);
    Some(layer)
}
