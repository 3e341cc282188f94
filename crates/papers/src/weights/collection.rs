//! The weights of one collection, in a file next to its index.

use super::{Blend, FIRST, MODEL, RERANK, SECOND, Weights};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the features: weights of another version are not used.
const VERSION: u32 = 1;

/// The rankers of a collection. The default is what the judged queries of eLife taught.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionWeights {
    pub first: Blend<7>,
    pub second: Blend<13>,
    pub rerank: Blend<13>,
    pub model: Blend<13>,
    /// Whether reading titles and abstracts improved the order of held-out queries. If not, `rerank` without
    /// an embedding model keeps the order that there is without it.
    pub reads_texts: bool,
}

impl Default for CollectionWeights {
    fn default() -> Self {
        Self { first: FIRST, second: SECOND, rerank: RERANK, model: MODEL, reads_texts: true }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredWeights {
    version: u32,
    first: StoredBlend,
    second: StoredBlend,
    rerank: StoredBlend,
    model: StoredBlend,
    reads_texts: bool,
}

/// Linear weights and those of square roots: thin, then dense.
#[derive(Serialize, Deserialize)]
struct StoredBlend([(Vec<f32>, Vec<f32>); 2]);

impl<const N: usize> From<&Blend<N>> for StoredBlend {
    fn from(blend: &Blend<N>) -> Self {
        Self([&blend.thin, &blend.dense].map(|weights| (weights.linear.to_vec(), weights.root.to_vec())))
    }
}

impl StoredBlend {
    fn to_blend<const N: usize>(&self) -> Option<Blend<N>> {
        let weights = |(linear, root): &(Vec<f32>, Vec<f32>)| {
            let finite = linear.iter().chain(root).all(|weight| weight.is_finite());
            let weights = Weights {
                linear: linear.as_slice().try_into().ok()?,
                root: root.as_slice().try_into().ok()?,
            };
            finite.then_some(weights)
        };
        Some(Blend { thin: weights(&self.0[0])?, dense: weights(&self.0[1])? })
    }
}

impl CollectionWeights {
    /// The file of an index's weights.
    pub fn path_beside(index: &Path) -> PathBuf {
        index.with_extension("weights")
    }

    /// Reads a file; the shipped weights if there is none that can be used.
    pub fn load(path: &Path) -> Self {
        Self::read(path).unwrap_or_default()
    }

    fn read(path: &Path) -> Option<Self> {
        let stored: StoredWeights = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(Self {
            first: stored.first.to_blend()?,
            second: stored.second.to_blend()?,
            rerank: stored.rerank.to_blend()?,
            model: stored.model.to_blend()?,
            reads_texts: stored.reads_texts,
        })
        .filter(|_| stored.version == VERSION)
    }

    /// The contents of the file.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(&StoredWeights {
            version: VERSION,
            first: (&self.first).into(),
            second: (&self.second).into(),
            rerank: (&self.rerank).into(),
            model: (&self.model).into(),
            reads_texts: self.reads_texts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_survive_their_file_and_what_is_not_usable_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.weights");
        let mut weights = CollectionWeights { reads_texts: false, ..CollectionWeights::default() };
        weights.second.dense.root[3] = 7.5;
        std::fs::write(&path, weights.to_json().unwrap()).unwrap();
        assert_eq!(CollectionWeights::load(&path), weights);
        std::fs::write(&path, "{\"version\":1}").unwrap();
        assert_eq!(CollectionWeights::load(&path), CollectionWeights::default());
        let other = String::from_utf8(weights.to_json().unwrap()).unwrap().replacen('1', "2", 1);
        std::fs::write(&path, other).unwrap();
        assert_eq!(CollectionWeights::load(&path), CollectionWeights::default());
    }
}
