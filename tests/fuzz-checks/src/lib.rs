//! What must hold for any untrusted bytes. Each function takes an input of any kind, passes it to one parser
//! of the product through its public interface, and panics when the parser breaks a promise.
//!
//! [`TARGETS`] names them all: for the libFuzzer program in `fuzz/`, which runs one of them, and for the tests of
//! this crate, which mutate the seeds in `fuzz/corpus`: about a second for each in a normal test run, a minute for
//! each with `GANNET_TEST_SOAK=1`.

mod browser_commands;
mod containers;
mod imports;
mod loopback;
mod pages;
mod requests;
mod sitemaps;
mod system_calls;
mod timelines;

pub use browser_commands::browser_command;
pub use containers::office;
pub use imports::importers;
pub use loopback::{dns_response, http_response, response_body};
pub use pages::{parse_page, select_content, write_page};
pub use requests::request_body;
pub use sitemaps::sitemap;
pub use system_calls::system_calls;
pub use timelines::timeline;

pub use testkit::mutations::abort_on_panic;

/// What is done with an input.
pub type Check = fn(&[u8]);

/// Every fuzz target: its name, which is that of its seeds in `fuzz/corpus`, and its check.
pub const TARGETS: [(&str, Check); 13] = [
    ("browser_command", browser_command),
    ("dns_response", dns_response),
    ("http_response", http_response),
    ("importers", importers),
    ("office", office),
    ("parse", parse_page),
    ("request_body", request_body),
    ("response_body", response_body),
    ("select", select_content),
    ("sitemap", sitemap),
    ("system_calls", system_calls),
    ("timeline", timeline),
    ("write", write_page),
];

/// The check of a target.
///
/// # Panics
/// When there is no target of this name.
pub fn find_check(name: &str) -> Check {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap_or_else(|| panic!("there is no fuzz target {name:?}")).1
}
