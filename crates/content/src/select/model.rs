//! The trained model: score tables and two forests, read from one compact file compiled into the program.
//!
//! Defines the file format and computes probabilities of rows. A file made for other columns is refused when
//! it is parsed, so a model can never be applied to rows it was not trained on.

use super::lexicon::{Lexicon, Scores};

const MAGIC: &[u8; 4] = b"GCM2";
/// Leaf values are stored in steps of this size.
pub const LEAF_STEP: f32 = 1.0 / 4096.0;

/// Splits of one tree.
pub const DEPTH: usize = 5;
const LEAVES: usize = 1 << DEPTH;
/// Rows evaluated together: a few times the vector registers of a common CPU.
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
    /// Numbers the leaf of each row. No branch depends on a row, and the numbers are written out: so the
    /// compiler asks a question of several rows in one instruction, which it does not when this is merged
    /// into its caller.
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
    pub fn probabilities(&self, tile: &[[f32; LANES]]) -> [f32; LANES] {
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

/// The trained model.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub lexicon: Lexicon,
    pub first: Forest,
    pub second: Forest,
    /// Columns of a row in the first and in the second pass.
    pub widths: [usize; 2],
}

/// The contents of a model file; training fills it, [`ModelParts::to_bytes`] serializes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelParts {
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
pub enum ModelError {
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

impl ModelParts {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
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

    /// Parses a file, checking all bounds.
    pub fn parse(file: &[u8]) -> Result<Self, ModelError> {
        let mut bytes = ByteReader { rest: file };
        if bytes.read_array::<4>()? != *MAGIC {
            return Err(ModelError::Malformed);
        }
        let mut parts = Self { fingerprint: u64::from_le_bytes(bytes.read_array()?), ..Self::default() };
        parts.widths = [u16::from_le_bytes(bytes.read_array()?), u16::from_le_bytes(bytes.read_array()?)];
        for entries in [&mut parts.words, &mut parts.phrases, &mut parts.classes] {
            for _ in 0..u32::from_le_bytes(bytes.read_array()?) {
                entries
                    .push((u32::from_le_bytes(bytes.read_array()?), i8::from_le_bytes(bytes.read_array()?)));
            }
        }
        for (forest, width) in parts.forests.iter_mut().zip(parts.widths) {
            forest.start = f32::from_le_bytes(bytes.read_array()?);
            for _ in 0..u16::from_le_bytes(bytes.read_array()?) {
                let tree = bytes.tree()?;
                if tree.questions.iter().any(|question| question.column >= width) {
                    return Err(ModelError::Malformed);
                }
                forest.trees.push(tree);
            }
        }
        if bytes.rest.is_empty() { Ok(parts) } else { Err(ModelError::Malformed) }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "clamped to the range first")]
fn leaf_steps(leaf: f32) -> i16 {
    (leaf / LEAF_STEP).round().clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

struct ByteReader<'a> {
    rest: &'a [u8],
}

impl ByteReader<'_> {
    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(ModelError::Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn tree(&mut self) -> Result<Tree, ModelError> {
        let mut tree = Tree { questions: [Question::default(); DEPTH], leaves: [0.0; LEAVES] };
        for question in &mut tree.questions {
            question.column = u16::from_le_bytes(self.read_array()?);
            question.threshold = f32::from_le_bytes(self.read_array()?);
        }
        for leaf in &mut tree.leaves {
            *leaf = f32::from(i16::from_le_bytes(self.read_array()?)) * LEAF_STEP;
        }
        Ok(tree)
    }
}

impl Model {
    /// A model ready for use, if the file was made for the columns with this fingerprint.
    pub fn parse(file: &[u8], columns: u64) -> Result<Self, ModelError> {
        let parts = ModelParts::parse(file)?;
        if parts.fingerprint != columns {
            return Err(ModelError::OtherColumns);
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

    fn parts() -> ModelParts {
        let mut tree = Tree { questions: [Question::default(); DEPTH], leaves: [0.0; LEAVES] };
        tree.questions.fill(Question { column: 0, threshold: f32::INFINITY });
        tree.questions[0] = Question { column: 1, threshold: 0.5 };
        tree.questions[3] = Question { column: 0, threshold: 2.0 };
        tree.leaves[0b0000] = -1.0;
        tree.leaves[0b0001] = 0.25;
        tree.leaves[0b1001] = 2.0;
        let forest = Forest { start: 0.5, trees: vec![tree] };
        ModelParts {
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
        let file = parts().to_bytes();
        assert_eq!(ModelParts::parse(&file), Ok(parts()));
        assert_eq!(Model::parse(&file, 1).map(|_| ()), Err(ModelError::OtherColumns));
    }

    #[test]
    fn judges_rows() {
        let model = Model::parse(&parts().to_bytes(), 9).unwrap();
        let chances = model.first.probabilities(&tile());
        let expected = [-0.5f32, 0.75, 2.5].map(|sum| 1.0 / (1.0 + (-sum).exp()));
        for (chance, expected) in chances.iter().zip(expected) {
            assert!((chance - expected).abs() < 1e-6);
        }
    }

    /// A simple implementation, to compare results with.
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
        let chances = forest.probabilities(&tile);
        for (lane, chance) in chances.into_iter().enumerate() {
            let row: Vec<f32> = tile.iter().map(|column| column[lane]).collect();
            assert!((chance - plain(&forest, &row)).abs() < 1e-6, "lane {lane}");
        }
    }

    #[test]
    fn any_damage_is_refused_or_harmless() {
        let file = parts().to_bytes();
        for length in 0..file.len() {
            assert_eq!(ModelParts::parse(&file[..length]), Err(ModelError::Malformed));
        }
        for at in 0..file.len() {
            for change in [1u8, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= change;
                if let Ok(model) = Model::parse(&damaged, 9) {
                    let chances = model.first.probabilities(&tile());
                    assert!(chances.iter().all(|chance| chance.is_nan() || (0.0..=1.0).contains(chance)));
                }
            }
        }
    }
}
