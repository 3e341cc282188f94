//! The decisions of the queue, apart from any database: whose turn it is, and what the end of an
//! attempt means. Both stores ask here, so that they cannot differ. Does no I/O and reads no clock.

pub(crate) mod choose;
pub(crate) mod ending;
pub(crate) mod intake;
