//! What must hold for any untrusted bytes. Each function takes an input of any kind, passes it to one parser
//! of the product through its public interface, and panics when the parser breaks a promise.
//!
//! The functions are called by the libFuzzer targets in `fuzz/` and by the tests of this crate, which mutate
//! the seeds in `fuzz/corpus`: about a second for each parser in a normal test run, a minute for each with
//! `GANNET_TEST_SOAK=1`.

mod imports;
mod loopback;
mod pages;
mod requests;
mod sitemaps;

pub use imports::importers;
pub use loopback::{dns_response, http_response, response_body};
pub use pages::{parse_page, select_content, write_page};
pub use requests::request_body;
pub use sitemaps::sitemap;
