//! The decisions of the ledger of crawls, apart from any database: whose entries start, how counters change, what
//! a settlement and an end mean. Both stores ask here, so that they cannot differ. Does no I/O and reads no clock.

pub(crate) mod choose;
pub(crate) mod decisions;
pub(crate) mod new_entries;
pub(crate) mod numbers;
pub(crate) mod progress;
pub(crate) mod rows;
pub(crate) mod scan;
