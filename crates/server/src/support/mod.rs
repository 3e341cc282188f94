//! Answers about jobs and about this service, by rules: from the record of a job, the catalogue of errors and
//! the documentation in this binary.

mod docs;
mod jobs;

pub use docs::{Section, find_sections};
pub use jobs::{JobReport, find_job};
