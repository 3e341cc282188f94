//! Text for pages: random words, different on every page, always the same for one seed.

/// Mixes every bit of a number into every other.
pub fn mix(seed: u64) -> u64 {
    let mut value = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Pseudo-random numbers.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A number below `bound`, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        let bound = u64::try_from(bound.max(1)).expect("a small number");
        usize::try_from(mix(self.0) % bound).expect("below a usize")
    }
}

/// Paragraphs of random words for the page with this name.
pub fn paragraphs(seed: u64, name: &str) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "con", "der", "el", "fi", "gan", "hol", "in", "ka", "lum", "mer", "nor", "o", "per", "ri",
        "sol", "tan", "u", "ver", "zin",
    ];
    let seed = name.bytes().fold(seed, |sum, byte| mix(sum ^ u64::from(byte)));
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..3 {
        text.push_str("<p>");
        for sentence in 0..5 {
            for word in 0..9 {
                let gap = if sentence + word == 0 { "" } else { " " };
                text.push_str(gap);
                for _ in 0..2 + random.below(2) {
                    text.push_str(SYLLABLES[random.below(SYLLABLES.len())]);
                }
            }
            text.push('.');
        }
        text.push_str("</p>\n");
    }
    text
}
