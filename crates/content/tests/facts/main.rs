//! Page facts, measured on labelled sets of our own writing. Each set's test prints precision and recall and
//! holds them to a floor; see them with `cargo test -p gannet-content --test facts -- --nocapture`.

mod branding;
mod compare;
#[path = "../growth/mod.rs"]
mod growth;
mod highlights;
mod hostile;
mod injection;
mod product_menu;
mod redact;
mod sets;
