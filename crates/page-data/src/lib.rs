//! What a page says beside its text: the product it sells, the menu it lists, the look of its brand, and
//! whether it tries to instruct a language model. By rules, over a parsed page; no I/O.

pub mod branding;
pub mod facts;
pub mod injection;
pub mod menu;
pub mod product;
