//! The browser against pages that behave, pages that do not, and pages that attack. Everything is on loopback.

mod actions;
mod basics;
mod hostile;
mod life;
mod reader;
mod site;
mod ssrf;
mod tls;
