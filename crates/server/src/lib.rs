//! HTTP: routes, authentication, limits, errors to responses, OpenAPI, and the listener itself.
//!
//! Handlers read a request, call `engine`, and write the answer. Nothing that the command line also
//! needs lives here.

pub mod app;
mod body;
mod connection;
mod docs;
mod envelope;
mod error;
mod guard;
mod peers;
mod public;
mod routes;
pub mod serve;
mod telemetry;

pub use app::{App, Cors, Parts, Settings};
pub use docs::openapi;
pub use peers::Network;
pub use routes::router;
pub use serve::ServeOptions;
pub use telemetry::Telemetry;
