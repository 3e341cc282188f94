//! Shared by the modules that extract facts of pages: things described in JSON-LD and microdata, prices, and
//! plain text.

pub mod money;
pub(crate) mod text;
pub(crate) mod things;
