//! HTTP: routes, authentication, limits, errors to responses, OpenAPI, and the listener itself.
//!
//! Handlers parse a request, call `engine`, and write the response. Nothing that the command line also
//! needs belongs here.

pub mod app;
mod auth;
mod base_url;
mod body;
mod connection;
mod deprecation;
mod docs;
mod document_body;
mod drain;
mod error;
mod file_bytes;
mod message_meter;
mod oauth_error;
mod peers;
mod report;
mod request_wrapper;
mod response_memory;
mod routes;
pub mod serve;
mod shared_document;
mod shared_memory;
mod support;
mod telemetry;
mod upload;
mod v1;

pub use app::{App, AppParts, Cors, Settings};
pub use message_meter::ClientMemory;
pub use peers::Network;
pub use report::Report;
pub use response_memory::ResponseMemory;
pub use routes::{RouterApi, openapi, router, tool_api};
pub use serve::ServeOptions;
pub use shared_memory::SharedMemory;
pub use telemetry::Telemetry;
