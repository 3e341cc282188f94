//! The browser against pages that behave, pages that do not, and pages that attack. Everything is on loopback.

mod basics;
mod site;
