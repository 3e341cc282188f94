//! Redaction, measured on labelled texts of our own writing: the tests print precision and recall and hold
//! them to a floor; see them with `cargo test -p gannet-text --test measured -- --nocapture`. And highlights,
//! and what hostile texts cost.

mod highlights;
mod hostile;
mod redact;
