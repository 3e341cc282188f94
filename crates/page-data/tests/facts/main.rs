//! Page facts, measured on labelled sets of our own writing. Each set's test prints precision and recall and
//! holds them to a floor; see them with `cargo test -p gannet-page-data --test facts -- --nocapture`.

mod branding;
mod compare;
mod hostile;
mod injection;
mod pages;
mod product_menu;
