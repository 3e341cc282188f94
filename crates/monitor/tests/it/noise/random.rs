//! Numbers that look random and are the same in every run.

#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end.max(1)
    }

    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from_digit(u32::try_from(self.below(16)).unwrap(), 16).unwrap()).collect()
    }

    /// A sentence of so many words.
    pub fn sentence(&mut self, words: usize) -> String {
        const WORDS: [&str; 60] = [
            "river", "market", "window", "paper", "garden", "engine", "winter", "copper", "signal",
            "harbour", "letter", "mountain", "station", "kitchen", "forest", "village", "bridge", "summer",
            "pocket", "colour", "morning", "quiet", "broken", "narrow", "simple", "heavy", "gentle",
            "ancient", "modern", "public", "carries", "follows", "builds", "answers", "crosses", "holds",
            "opens", "reaches", "keeps", "turns", "the", "the", "a", "its", "with", "near", "under",
            "between", "from", "into", "team", "report", "method", "result", "system", "sample", "worker",
            "school", "member", "council",
        ];
        let mut text = (0..words).map(|_| *self.pick(&WORDS)).collect::<Vec<_>>().join(" ");
        text[..1].make_ascii_uppercase();
        text.push('.');
        text
    }

    pub fn name(&mut self) -> String {
        const FIRST: [&str; 12] = [
            "Aurora", "Basalt", "Cedar", "Delta", "Ember", "Fjord", "Granite", "Halo", "Iris", "Juniper",
            "Kestrel", "Linden",
        ];
        const SECOND: [&str; 12] = [
            "Chair", "Lamp", "Desk", "Kettle", "Jacket", "Bicycle", "Speaker", "Tent", "Camera", "Mug",
            "Backpack", "Watch",
        ];
        format!("{} {} {}", self.pick(&FIRST), self.pick(&SECOND), self.between(100, 999))
    }
}
