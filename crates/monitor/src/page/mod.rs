//! Whether a page has changed: two texts, what differs, what of it is noise.
//!
//! [`check`] decides. Below it: [`lines`] (a page as lines with their sections), [`align`] (the order of what
//! has none), [`hunks`] (where two pages differ), [`compare`] (differences and why they are
//! ignored), [`history`] (what was learnt about a page).

mod align;
mod check;
mod compare;
mod history;
mod hunks;
mod lines;

pub use check::{
    Changed, CheckStep, CheckedPage, MAX_READS, PageChange, PageRead, Unreadable, first_step, next_step,
};
pub use compare::Ignored;
pub use history::PageHistory;
