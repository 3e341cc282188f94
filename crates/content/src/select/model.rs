//! The trained model: score tables and two forests, read from one compact file compiled into the program.
//!
//! Owns the file format and the judging of rows. A file that does not fit the columns this program makes is refused
//! when it is read, so a model can never be applied to rows it was not trained on.

use super::lexicon::{Lexicon, Scores};

const MAGIC: &[u8; 4] = b"GCM1";
/// Leaf values are stored in steps of this size.
pub const LEAF_STEP: f32 = 1.0 / 4096.0;

/// One inner node: rows below the threshold go left. Children below zero are leaves, counted from -1 down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    pub threshold: f32,
    pub column: u16,
    pub left: i16,
    pub right: i16,
}

/// One tree; the first split is its root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    pub splits: Vec<Split>,
    pub leaves: Vec<f32>,
}

/// Trees whose leaf values add up to the log-odds of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forest {
    pub start: f32,
    pub trees: Vec<Tree>,
}

impl Forest {
    /// Probabilities of rows that lie one after the other, `width` values each.
    pub fn judge(&self, rows: &[f32], width: usize) -> Vec<f32> {
        let mut sums = vec![self.start; rows.len() / width.max(1)];
        // Tree by tree: a tree stays in the nearest cache while all rows pass through it.
        for tree in &self.trees {
            for (row, sum) in rows.chunks_exact(width.max(1)).zip(&mut sums) {
                *sum += tree.value(row);
            }
        }
        for sum in &mut sums {
            *sum = 1.0 / (1.0 + (-*sum).exp());
        }
        sums
    }
}

impl Tree {
    #[inline]
    fn value(&self, row: &[f32]) -> f32 {
        let mut at = 0usize;
        loop {
            let Some(split) = self.splits.get(at) else { return self.leaves.first().copied().unwrap_or(0.0) };
            let next =
                if row[usize::from(split.column)] < split.threshold { split.left } else { split.right };
            match usize::try_from(next) {
                Ok(inner) => at = inner,
                Err(_) => return self.leaves[usize::from((-1 - next).unsigned_abs())],
            }
        }
    }

    /// Whether every child exists, every column is below `width`, and every walk ends: children lie after parents.
    fn is_sound(&self, width: usize) -> bool {
        let child = |parent: usize, next: i16| match usize::try_from(next) {
            Ok(inner) => inner > parent && inner < self.splits.len(),
            Err(_) => usize::from((-1 - next).unsigned_abs()) < self.leaves.len(),
        };
        self.splits.iter().enumerate().all(|(at, split)| {
            usize::from(split.column) < width && child(at, split.left) && child(at, split.right)
        })
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
                out.push(u8::try_from(tree.splits.len()).unwrap_or(0));
                for split in &tree.splits {
                    out.extend(split.threshold.to_le_bytes());
                    out.extend(split.column.to_le_bytes());
                    out.extend(i8::try_from(split.left).unwrap_or(0).to_le_bytes());
                    out.extend(i8::try_from(split.right).unwrap_or(0).to_le_bytes());
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
                if !tree.is_sound(usize::from(width)) {
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
        let mut tree = Tree::default();
        let splits = u8::from_le_bytes(self.take()?);
        for _ in 0..splits {
            tree.splits.push(Split {
                threshold: f32::from_le_bytes(self.take()?),
                column: u16::from_le_bytes(self.take()?),
                left: i16::from(i8::from_le_bytes(self.take()?)),
                right: i16::from(i8::from_le_bytes(self.take()?)),
            });
        }
        for _ in 0..=splits {
            tree.leaves.push(f32::from(i16::from_le_bytes(self.take()?)) * LEAF_STEP);
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
        let tree = Tree {
            splits: vec![
                Split { threshold: 0.5, column: 1, left: -1, right: 1 },
                Split { threshold: 2.0, column: 0, left: -2, right: -3 },
            ],
            leaves: vec![-1.0, 0.25, 2.0],
        };
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

    #[test]
    fn survives_its_file() {
        let file = parts().write();
        assert_eq!(Parts::read(&file), Ok(parts()));
        assert_eq!(Model::read(&file, 1).map(|_| ()), Err(Refusal::OtherColumns));
    }

    #[test]
    fn judges_rows() {
        let model = Model::read(&parts().write(), 9).unwrap();
        let chances = model.first.judge(&[0.0, 0.0, 1.0, 1.0, 3.0, 1.0], 2);
        let expected = [-0.5f32, 0.75, 2.5].map(|sum| 1.0 / (1.0 + (-sum).exp()));
        for (chance, expected) in chances.iter().zip(expected) {
            assert!((chance - expected).abs() < 1e-6);
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
                    assert_eq!(model.first.judge(&[0.0; 4], 2).len(), 2);
                    assert_eq!(model.second.judge(&[9.0; 4], 2).len(), 2);
                }
            }
        }
    }
}
