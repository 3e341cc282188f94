//! How a run thinks. A [`Task`] is worked on by a [`Brain`] that sees the web only through [`Web`] and tells everything it does
//! to a [`Journal`]. It knows neither the store nor HTTP, so a run can be played with a scripted web.

mod parts;

pub use parts::*;
