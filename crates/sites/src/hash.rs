//! A small hash whose values never change: they are stored and compared by other processes.

/// Mixes every bit of a number into every other.
pub const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// An incremental hash.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Hash {
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub fn text(mut self, text: &str) -> Self {
        text.bytes().for_each(|byte| self.byte(byte));
        // A separator, so that "ab" + "c" differs from "a" + "bc".
        self.byte(0xff);
        self
    }

    pub const fn value(self) -> u64 {
        mix(self.0)
    }

    /// The value before mixing, for combining it with others.
    pub const fn raw(self) -> u64 {
        self.0
    }
}
