//! The trained model: score tables and two forests, read from one compact file compiled into the program.
//!
//! Owns the file format and the judging of rows. A file that does not fit the columns this program makes is refused
//! when it is read, so a model can never be applied to rows it was not trained on.

use super::lexicon::{Lexicon, Scores};

const MAGIC: &[u8; 4] = b"GCM2";
/// Leaf values are stored in steps of this size.
pub const LEAF_STEP: f32 = 1.0 / 4096.0;

/// Questions asked by one tree.
pub const DEPTH: usize = 5;
const LEAVES: usize = 1 << DEPTH;
/// Rows judged together: what fits the vector registers of a common processor a few times over.
pub const LANES: usize = 16;

/// Some rows side by side, column by column.
pub type Tile = Vec<[f32; LANES]>;

/// Whether a row's value is at or above a threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Question {
    pub column: u16,
    pub threshold: f32,
}

/// A tree that asks every row the same questions. The answers, as bits, number the leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub questions: [Question; DEPTH],
    pub leaves: [f32; LEAVES],
}

impl Tree {
    /// Numbers the leaf of each row. No branch depends on a row, and the numbers are written out: so the compiler
    /// asks a question of several rows in one instruction, which it does not when this is merged into its caller.
    #[inline(never)]
    fn find_leaves(&self, tile: &[[f32; LANES]], leaves: &mut [u32; LANES]) {
        let mut found = [0u32; LANES];
        for (bit, question) in self.questions.iter().enumerate() {
            let column = &tile[usize::from(question.column)];
            for (leaf, value) in found.iter_mut().zip(column) {
                *leaf |= u32::from(*value >= question.threshold) << bit;
            }
        }
        *leaves = found;
    }
}

/// Trees whose leaf values add up to the log-odds of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forest {
    pub start: f32,
    pub trees: Vec<Tree>,
}

impl Forest {
    /// Probabilities of the rows of a tile.
    pub fn judge(&self, tile: &[[f32; LANES]]) -> [f32; LANES] {
        let mut sums = [self.start; LANES];
        let mut leaves = [0u32; LANES];
        for tree in &self.trees {
            tree.find_leaves(tile, &mut leaves);
            for (sum, leaf) in sums.iter_mut().zip(&leaves) {
                *sum += tree.leaves[*leaf as usize % LEAVES];
            }
        }
        sums.map(|sum| 1.0 / (1.0 + (-sum).exp()))
    }
}

/// Everything learnt.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub lexicon: Lexicon,
    pub first: Forest,
    pub second: Forest,
    /// Columns of a row in the first and in the second pass.
    pub widths: [usize; 2],
}

/// What a model file holds before it is put to use; the trainer fills it, [`Parts::write`] stores it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// Fingerprint of the names of all columns, in order.
    pub fingerprint: u64,
    pub widths: [u16; 2],
    pub words: Vec<(u32, i8)>,
    pub phrases: Vec<(u32, i8)>,
    pub classes: Vec<(u32, i8)>,
    pub forests: [Forest; 2],
}

/// Why a model file was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not a model file, or cut short.
    Malformed,
    /// Made for other columns than these.
    OtherColumns,
}

/// Fingerprint of column names.
pub fn fingerprint<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for name in names {
        for byte in name.bytes().chain(std::iter::once(b'\n')) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

impl Parts {
    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.fingerprint.to_le_bytes());
        out.extend(self.widths.iter().flat_map(|width| width.to_le_bytes()));
        for entries in [&self.words, &self.phrases, &self.classes] {
            out.extend(u32::try_from(entries.len()).unwrap_or(0).to_le_bytes());
            for (key, score) in entries {
                out.extend(key.to_le_bytes());
                out.extend(score.to_le_bytes());
            }
        }
        for forest in &self.forests {
            out.extend(forest.start.to_le_bytes());
            out.extend(u16::try_from(forest.trees.len()).unwrap_or(0).to_le_bytes());
            for tree in &forest.trees {
                for question in &tree.questions {
                    out.extend(question.column.to_le_bytes());
                    out.extend(question.threshold.to_le_bytes());
                }
                out.extend(tree.leaves.iter().flat_map(|leaf| leaf_steps(*leaf).to_le_bytes()));
            }
        }
        out
    }

    /// Reads a file back, checking every bound.
    pub fn read(file: &[u8]) -> Result<Self, Refusal> {
        let mut bytes = Bytes { rest: file };
        if bytes.take::<4>()? != *MAGIC {
            return Err(Refusal::Malformed);
        }
        let mut parts = Self { fingerprint: u64::from_le_bytes(bytes.take()?), ..Self::default() };
        parts.widths = [u16::from_le_bytes(bytes.take()?), u16::from_le_bytes(bytes.take()?)];
        for entries in [&mut parts.words, &mut parts.phrases, &mut parts.classes] {
            for _ in 0..u32::from_le_bytes(bytes.take()?) {
                entries.push((u32::from_le_bytes(bytes.take()?), i8::from_le_bytes(bytes.take()?)));
            }
        }
        for (forest, width) in parts.forests.iter_mut().zip(parts.widths) {
            forest.start = f32::from_le_bytes(bytes.take()?);
            for _ in 0..u16::from_le_bytes(bytes.take()?) {
                let tree = bytes.tree()?;
                if tree.questions.iter().any(|question| question.column >= width) {
                    return Err(Refusal::Malformed);
                }
                forest.trees.push(tree);
            }
        }
        if bytes.rest.is_empty() { Ok(parts) } else { Err(Refusal::Malformed) }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "clamped to the range first")]
fn leaf_steps(leaf: f32) -> i16 {
    (leaf / LEAF_STEP).round().clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

struct Bytes<'a> {
    rest: &'a [u8],
}

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Refusal::Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn tree(&mut self) -> Result<Tree, Refusal> {
        let mut tree = Tree { questions: [Question::default(); DEPTH], leaves: [0.0; LEAVES] };
        for question in &mut tree.questions {
            question.column = u16::from_le_bytes(self.take()?);
            question.threshold = f32::from_le_bytes(self.take()?);
        }
        for leaf in &mut tree.leaves {
            *leaf = f32::from(i16::from_le_bytes(self.take()?)) * LEAF_STEP;
        }
        Ok(tree)
    }
}

impl Model {
    /// A model ready for use, if the file was made for the columns with this fingerprint.
    pub fn read(file: &[u8], columns: u64) -> Result<Self, Refusal> {
        let parts = Parts::read(file)?;
        if parts.fingerprint != columns {
            return Err(Refusal::OtherColumns);
        }
        let [first, second] = parts.forests;
        Ok(Self {
            lexicon: Lexicon {
                words: Scores::new(&parts.words),
                phrases: Scores::new(&parts.phrases),
                classes: Scores::new(&parts.classes),
            },
            first,
            second,
            widths: parts.widths.map(usize::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        let mut tree = Tree { questions: [Question::default(); DEPTH], leaves: [0.0; LEAVES] };
        tree.questions.fill(Question { column: 0, threshold: f32::INFINITY });
        tree.questions[0] = Question { column: 1, threshold: 0.5 };
        tree.questions[3] = Question { column: 0, threshold: 2.0 };
        tree.leaves[0b0000] = -1.0;
        tree.leaves[0b0001] = 0.25;
        tree.leaves[0b1001] = 2.0;
        let forest = Forest { start: 0.5, trees: vec![tree] };
        Parts {
            fingerprint: 9,
            widths: [2, 2],
            words: vec![(5, -3)],
            phrases: vec![],
            classes: vec![(6, 7), (8, 1)],
            forests: [forest.clone(), forest],
        }
    }

    /// Three rows of two columns, and empty ones up to a tile.
    fn tile() -> Tile {
        let mut tile = vec![[0.0; LANES]; 2];
        tile[0][..3].copy_from_slice(&[0.0, 1.0, 3.0]);
        tile[1][..3].copy_from_slice(&[0.0, 1.0, 1.0]);
        tile
    }

    #[test]
    fn survives_its_file() {
        let file = parts().write();
        assert_eq!(Parts::read(&file), Ok(parts()));
        assert_eq!(Model::read(&file, 1).map(|_| ()), Err(Refusal::OtherColumns));
    }

    #[test]
    fn judges_rows() {
        let model = Model::read(&parts().write(), 9).unwrap();
        let chances = model.first.judge(&tile());
        let expected = [-0.5f32, 0.75, 2.5].map(|sum| 1.0 / (1.0 + (-sum).exp()));
        for (chance, expected) in chances.iter().zip(expected) {
            assert!((chance - expected).abs() < 1e-6);
        }
    }

    /// A tree as one would write it without thought for speed.
    fn plain(forest: &Forest, row: &[f32]) -> f32 {
        let mut sum = forest.start;
        for tree in &forest.trees {
            let mut leaf = 0;
            for (bit, question) in tree.questions.iter().enumerate() {
                if row[usize::from(question.column)] >= question.threshold {
                    leaf += 1 << bit;
                }
            }
            sum += tree.leaves[leaf];
        }
        1.0 / (1.0 + (-sum).exp())
    }

    #[test]
    fn a_tile_judges_like_row_by_row() {
        let mut state = 7u32;
        let mut draw = |most: u16| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from(state >> 16).unwrap_or(0) % most
        };
        let mut forest = Forest { start: -0.25, trees: Vec::new() };
        for _ in 0..50 {
            let questions =
                [(); DEPTH].map(|()| Question { column: draw(7), threshold: f32::from(draw(40)) });
            let leaves = [(); LEAVES].map(|()| f32::from(draw(200)) / 100.0 - 1.0);
            forest.trees.push(Tree { questions, leaves });
        }
        let tile: Tile = (0..7).map(|_| [(); LANES].map(|()| f32::from(draw(41)) - 0.5)).collect();
        let chances = forest.judge(&tile);
        for (lane, chance) in chances.into_iter().enumerate() {
            let row: Vec<f32> = tile.iter().map(|column| column[lane]).collect();
            assert!((chance - plain(&forest, &row)).abs() < 1e-6, "lane {lane}");
        }
    }

    #[test]
    fn any_damage_is_refused_or_harmless() {
        let file = parts().write();
        for length in 0..file.len() {
            assert_eq!(Parts::read(&file[..length]), Err(Refusal::Malformed));
        }
        for at in 0..file.len() {
            for change in [1u8, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= change;
                if let Ok(model) = Model::read(&damaged, 9) {
                    let chances = model.first.judge(&tile());
                    assert!(chances.iter().all(|chance| chance.is_nan() || (0.0..=1.0).contains(chance)));
                }
            }
        }
    }
}
