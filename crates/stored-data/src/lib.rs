//! How our data is written where callers do not see it: JSON in the store ([`stored_json`]), compressed where
//! it may be large ([`compression`]), hashes that rows are known by ([`hashed_keys`]), and [`time`]. Whoever
//! writes to the store uses it, so that data which one crate has written is read by another.

pub mod compression;
pub mod hashed_keys;
pub mod stored_json;
pub mod time;

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
