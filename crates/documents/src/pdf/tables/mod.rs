//! Tables: those drawn with lines ([`ruled`]) and those that only their alignment shows ([`aligned`]).

pub(super) mod aligned;
mod cells;
mod evidence;
mod grid;
mod header;
mod rivers;
mod rows;
pub(super) mod ruled;

use super::geometry::Bounds;
use super::runs::Run;
use crate::block::Table;

#[derive(Debug, Clone)]
pub(super) struct FoundTable {
    pub(super) bounds: Bounds,
    pub(super) table: Table,
    /// Text inside the frame of the table that is its caption or its notes.
    pub(super) before: Vec<Run>,
    pub(super) after: Vec<Run>,
}
