//! The OpenAPI document: the declarations of the routes, with errors added from the catalogue, and the page
//! that displays it. Both work without a network.

mod for_generators;

use std::fmt::Write;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{OneOfBuilder, Ref};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::server::Server;
use utoipa::openapi::{Components, Content, OpenApi, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi as Declare};
use wire::error::CATALOGUE;

#[derive(Declare)]
#[openapi(
    info(title = "Gannet", description = "Web data for agents, pipelines and datasets, from your own machine."),
    components(schemas(wire::ErrorBody, wire::Issue, crate::oauth_error::OAuthErrorBody)),
    security(("key" = [])),
    modifiers(&KeyScheme),
)]
pub struct ApiDoc;

struct KeyScheme;

impl Modify for KeyScheme {
    fn modify(&self, document: &mut OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_with(Components::default).add_security_scheme("key", scheme);
    }
}

/// Operations that answer 200 with `success: false` for a host name that cannot be resolved, because clients
/// expect it so.
const FAIL_WITH_SUCCESS_STATUS: [&str; 3] = ["/v2/scrape", "/v2/scrape/{id}", "/v2/map"];

/// Adds the possible errors from the catalogue to each operation, and what generators of clients need: the
/// address of the server and a description of every response.
pub fn complete(mut document: OpenApi) -> OpenApi {
    document.servers = Some(vec![Server::new("/")]);
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            add_errors(operation);
            if FAIL_WITH_SUCCESS_STATUS.contains(&path.as_str()) {
                add_failure_to_success(operation);
            }
            describe_responses(operation);
        }
    }
    document
}

/// The document as it is handed out.
pub fn to_json(document: &OpenApi) -> serde_json::Value {
    // Our own plain data always serialises.
    let mut json = serde_json::to_value(document).unwrap_or_default();
    for_generators::adapt(&mut json);
    json
}

fn add_errors(operation: &mut Operation) {
    let mut statuses = vec![500];
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let in_path = |parameter: &RefOr<Parameter>| match parameter {
        RefOr::T(parameter) => parameter.parameter_in == ParameterIn::Path,
        RefOr::Ref(_) => false,
    };
    let takes_id = parameters.iter().any(in_path);
    if operation.security.is_none() {
        // Needs a key; metrics only if the server is reachable from other machines.
        statuses.extend([401, 403, 429, 503]);
    }
    if !parameters.is_empty() || operation.request_body.is_some() {
        statuses.push(400);
    }
    if operation.security.is_none() && parameters.is_empty() && operation.request_body.is_none() {
        // Only an unreadable request line can be wrong.
        statuses.push(400);
    }
    if operation.request_body.is_some() {
        statuses.extend([408, 413, 415]);
    }
    if takes_id {
        statuses.push(404);
    }
    for status in statuses {
        operation.responses.responses.entry(status.to_string()).or_insert_with(|| RefOr::T(response(status)));
    }
}

fn add_failure_to_success(operation: &mut Operation) {
    let Some(RefOr::T(response)) = operation.responses.responses.get_mut("200") else { return };
    let Some(RefOr::T(content)) = response.content.get_mut("application/json") else { return };
    let Some(success) = content.schema.take() else { return };
    let failure = Ref::from_schema_name("ErrorBody");
    content.schema = Some(OneOfBuilder::new().item(success).item(failure).into());
    response.description =
        String::from("Success; or `success: false` where the host name cannot be resolved");
}

fn describe_responses(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            "Success".clone_into(&mut response.description);
        }
    }
}

fn response(status: u16) -> utoipa::openapi::Response {
    let rows = CATALOGUE.iter().filter(|entry| entry.status == status);
    let texts: Vec<String> = rows.map(|entry| format!("`{}`: {}", entry.text, entry.cause)).collect();
    let schema = Ref::from_schema_name("ErrorBody");
    ResponseBuilder::new()
        .description(texts.join("; "))
        .content("application/json", Content::new(Some(schema)))
        .build()
}

/// The page at `/docs`, with the error catalogue filled in.
pub fn page() -> String {
    let mut rows = String::new();
    for entry in CATALOGUE {
        let retry = match entry.retry {
            wire::Retry::No => "no",
            wire::Retry::Yes => "yes, with backoff",
            wire::Retry::Sometimes => "sometimes",
        };
        let code = entry.code;
        // Writing to a string cannot fail.
        let _ = write!(
            rows,
            "<tr><td>{}</td><td><code>{}</code></td><td>{code}</td><td>{}</td><td>{retry}</td></tr>",
            entry.status, entry.text, entry.cause
        );
    }
    include_str!("docs.html")
        .replace("<!--errors-->", &rows)
        .replace("<!--version-->", env!("CARGO_PKG_VERSION"))
}
