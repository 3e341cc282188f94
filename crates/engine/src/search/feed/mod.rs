//! What the local index is fed from. The store keeps the pages ([`store::search`]); every process that
//! answers searches has an index of them in a folder of its own, which follows the store's feed and can be
//! thrown away at any time.
//!
//! [`local`] is the index of this process, [`feeder`] keeps it up to date, with a `rest` between rounds. The
//! form of the pages, and how collections of them are brought in from files, is of the crate `imports`.

pub mod feeder;
mod last_look;
pub mod local;
mod rest;

pub use feeder::{Fed, FeedError, Feeder};
pub use local::{LocalError, LocalIndex};
