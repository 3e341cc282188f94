//! The v2 API contract as types: requests, responses and errors.
//!
//! Nothing here does I/O or knows an HTTP library. A request type holds what the caller sent: plain data,
//! parsed by [`read`]. What a request means (defaults filled in, conflicts refused) is decided in `engine`.

pub mod admin;
pub mod agent;
pub mod audit_log;
pub mod authorization;
pub mod batch;
pub mod crawl;
pub mod error;
pub mod extract;
mod headers;
pub mod interact;
pub mod issue;
pub mod keyless;
pub mod map;
pub mod monitor;
pub mod parse;
mod plain_words;
pub mod read;
pub mod research;
pub mod scope;
pub mod scrape;
pub mod search;
pub mod search_collections;
pub mod support;
pub mod team;
pub mod webhook;

pub use error::{ErrorBody, Kind, Retry, WireError};
pub use headers::{SecretHeaders, SecretText};
pub use issue::{Issue, Issues, PathPart};
pub use scope::Scope;

/// The name of the current agent generation, the only one with traces and snapshots.
pub const AGENT_GENERATION: &str = "Plunge 1";

#[cfg(test)]
mod tests {
    use utoipa::ToSchema;

    #[test]
    fn names_in_the_openapi_document_stay_when_types_are_renamed() {
        assert_eq!(crate::map::MapResponse::name(), "MapAnswer");
        assert_eq!(crate::scrape::FormatInput::name(), "FormatAsked");
        assert_eq!(crate::team::DataResponse::<crate::team::CreditUsage>::name(), "Answer");
        assert_eq!(crate::admin::SuccessResponse::name(), "Done");
    }
}
