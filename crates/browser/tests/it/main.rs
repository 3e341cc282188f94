//! Tests with pages that behave, pages that do not, and pages that attack. Everything is on loopback.

mod actions;
mod basics;
mod emulation;
mod hostile;
mod isolation;
mod lifecycle;
mod site;
mod ssrf;
mod tls;
