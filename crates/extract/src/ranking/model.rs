//! The trees that judge candidates. All nodes of a level ask the same question, so a tree is a few comparisons
//! and one look-up.

use super::{COLUMN_NAMES, CandidateColumns};
use std::sync::LazyLock;

/// Questions of one tree.
pub const DEPTH: usize = 5;
const MAGIC: &[u8; 4] = b"GFR2";
/// What `training` made from the development pages.
const BUILT_IN: &[u8] = include_bytes!("model-swde-dev.bin");

/// Whether a column is above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    pub column: u16,
    pub threshold: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub questions: [Question; DEPTH],
    pub leaves: [f32; 1 << DEPTH],
}

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranker {
    pub start: f32,
    /// Candidates below this sum are no values, where a page is alone and where other pages of its site are known.
    pub least: f32,
    pub least_on_site: f32,
    pub trees: Vec<Tree>,
}

impl Ranker {
    /// The model of this build.
    pub fn built_in() -> &'static Self {
        static RANKER: LazyLock<Ranker> = LazyLock::new(|| {
            // A file of other columns judges nothing; a test refuses such a build.
            Ranker::from_bytes(BUILT_IN).unwrap_or(Ranker {
                start: -9.0,
                least: 0.0,
                least_on_site: 0.0,
                trees: Vec::new(),
            })
        });
        &RANKER
    }

    /// The sum of all trees for a candidate; more is better.
    pub(crate) fn judge(&self, columns: &CandidateColumns) -> f32 {
        let mut sum = self.start;
        for tree in &self.trees {
            let mut leaf = 0;
            for (level, question) in tree.questions.iter().enumerate() {
                leaf |= usize::from(columns[usize::from(question.column)] > question.threshold) << level;
            }
            sum += tree.leaves[leaf];
        }
        sum
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(fingerprint().to_le_bytes());
        bytes.extend(self.start.to_le_bytes());
        bytes.extend(self.least.to_le_bytes());
        bytes.extend(self.least_on_site.to_le_bytes());
        bytes.extend(u32::try_from(self.trees.len()).unwrap_or(0).to_le_bytes());
        for tree in &self.trees {
            for question in &tree.questions {
                bytes.extend(question.column.to_le_bytes());
                bytes.extend(question.threshold.to_le_bytes());
            }
            bytes.extend(tree.leaves.iter().flat_map(|leaf| leaf.to_le_bytes()));
        }
        bytes
    }

    /// Reads a model; `None` when it is broken or made for other columns.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(MAGIC)?;
        if u64::from_le_bytes(take_bytes(&mut bytes)?) != fingerprint() {
            return None;
        }
        let start = f32::from_le_bytes(take_bytes(&mut bytes)?);
        let least = f32::from_le_bytes(take_bytes(&mut bytes)?);
        let least_on_site = f32::from_le_bytes(take_bytes(&mut bytes)?);
        let count = u32::from_le_bytes(take_bytes(&mut bytes)?);
        let mut trees = Vec::new();
        for _ in 0..count {
            let mut tree = Tree {
                questions: [Question { column: 0, threshold: f32::INFINITY }; DEPTH],
                leaves: [0.0; 1 << DEPTH],
            };
            for question in &mut tree.questions {
                question.column = u16::from_le_bytes(take_bytes(&mut bytes)?);
                question.threshold = f32::from_le_bytes(take_bytes(&mut bytes)?);
                if usize::from(question.column) >= COLUMN_NAMES.len() {
                    return None;
                }
            }
            for leaf in &mut tree.leaves {
                *leaf = f32::from_le_bytes(take_bytes(&mut bytes)?);
            }
            trees.push(tree);
        }
        bytes.is_empty().then_some(Self { start, least, least_on_site, trees })
    }
}

/// The first bytes as an array, which are then removed.
fn take_bytes<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

/// Changes with the names and the order of columns.
fn fingerprint() -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for byte in COLUMN_NAMES.iter().flat_map(|name| name.bytes().chain([0])) {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::COLUMNS;

    #[test]
    fn the_model_of_this_build_is_for_its_columns() {
        let ranker = Ranker::from_bytes(BUILT_IN).expect("retrain: the columns have changed");
        assert!(!ranker.trees.is_empty());
        assert_eq!(ranker.to_bytes(), BUILT_IN);
    }

    #[test]
    fn a_broken_model_is_refused() {
        let ranker = Ranker {
            start: 0.5,
            least: 1.0,
            least_on_site: 0.5,
            trees: vec![Tree {
                questions: [Question { column: 1, threshold: 0.5 }; DEPTH],
                leaves: [1.0; 1 << DEPTH],
            }],
        };
        let bytes = ranker.to_bytes();
        assert_eq!(Ranker::from_bytes(&bytes), Some(ranker.clone()));
        assert!((ranker.judge(&[0.0; COLUMNS]) - 1.5).abs() < 1e-6);
        assert_eq!(Ranker::from_bytes(&bytes[..bytes.len() - 1]), None);
        let mut other = bytes.clone();
        other[5] ^= 1;
        assert_eq!(Ranker::from_bytes(&other), None);
    }
}
