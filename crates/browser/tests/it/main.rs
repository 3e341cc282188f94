//! The browser against pages that behave, pages that do not, and pages that attack. Everything is on loopback.

mod actions;
mod basics;
mod hostile;
mod isolation;
mod life;
mod reader;
mod site;
mod ssrf;
mod tls;
