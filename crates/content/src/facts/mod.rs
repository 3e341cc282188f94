//! What the modules of page facts share: things described in JSON-LD and microdata, prices, and plain text.
//!
//! Owns no judgement: what a product or a menu is, its own module says.

pub mod money;
pub(crate) mod text;
pub(crate) mod thing;
