//! Judges candidates for the value of a field: columns of numbers that describe a candidate, and the trees
//! that were trained on them.
//!
//! `training` makes the model file from pages with marked values, through the same columns. Nothing here
//! knows a site or a subject: columns compare names, forms and places.

mod columns;
mod model;

pub use columns::{COLUMN_NAMES, COLUMNS, CandidateColumns};
pub(crate) use columns::{CandidateFacts, FieldSurvey, candidate_columns};
pub(crate) use columns::{FORM_COUNT, FORM_ORDER, ROWS_AFTER_SUBJECT};
pub use model::{DEPTH, Question, Ranker, Tree};

use serde_json::Value;

/// A candidate for a field of a page, as training sees it.
#[derive(Debug, Clone)]
pub struct CandidateRow {
    /// The pointer of the field.
    pub pointer: String,
    pub value: Value,
    pub columns: CandidateColumns,
}
