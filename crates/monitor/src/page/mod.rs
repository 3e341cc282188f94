//! Whether a page has changed: two texts, what differs, what of it is noise.
//!
//! [`check`] decides. Below it: [`broken`] (reads that are not the page), [`lines`] (a page as lines with their
//! sections), [`words`] (what people read of a line), [`align`] (the order of what has none), [`hunks`] (where two
//! pages differ), [`compare`] and [`fates`] (differences and why they are ignored), [`part`] (which part of the page is
//! compared), [`moved`] (what the whole page shows beside the text), [`history`] (what was learnt about a page).
//! [`watch_again`] forgets of it what somebody asks for.

mod align;
mod broken;
mod check;
mod compare;
mod fates;
mod history;
mod hunks;
mod lines;
mod moved;
mod part;
mod watch_again;
mod words;

pub use broken::Unreadable;
pub use check::{Changed, CheckStep, CheckedPage, MAX_READS, PageChange, PageRead, first_step, next_step};
pub use compare::Ignored;
pub use history::PageHistory;
pub use watch_again::watch_again;
