//! The Model Context Protocol in front of the API: tools that send requests under `/v2` as their caller, the
//! bound on texts with a cursor to read on, resources, progress, and the two transports.
//!
//! The server and the command `gannet mcp` give it an [`Api`]. It never knows the engine.

mod api;
mod arguments;
mod call;
mod handler;
mod ordered;
mod output;
mod resources;
mod selection;
pub mod skill;
mod texts;
mod tools;
mod transport;

pub use api::{Api, ApiRequest, ApiResponse, Sent, Unreachable};
pub use handler::{Handler, HandlerOptions};
pub use selection::{Selection, UnknownTool};
pub use transport::{HttpOptions, HttpService, RequestBody, serve_stdio};
