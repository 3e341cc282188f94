//! How features become a score: a weight for each feature and one for its square root, so that a feature may tell more in its
//! low range than in its high. The numbers are learnt by `bench/research` from judged queries; see `docs/research.md`.

/// Weights for `N` features.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<const N: usize> {
    pub linear: [f32; N],
    pub root: [f32; N],
}

impl<const N: usize> Weights<N> {
    pub fn score(&self, features: &[f32; N]) -> f32 {
        features.iter().zip(&self.linear).map(|(value, weight)| value * weight).sum::<f32>()
            + features.iter().zip(&self.root).map(|(value, weight)| value.max(0.0).sqrt() * weight).sum::<f32>()
    }
}

/// First pass. In the order of `FEATURES`.
pub const FIRST: Weights<8> = Weights {
    linear: [6.0, 1.0, 2.0, 0.5, 0.1, 0.2, 0.5, 0.0],
    root: [0.0, 0.5, 3.0, 0.5, 0.0, 0.0, 0.0, 0.0],
};

/// Second pass. In the order of `SECOND_FEATURES`.
pub const SECOND: Weights<12> = Weights {
    linear: [6.0, 1.0, 2.0, 0.5, 0.1, 0.2, 0.5, 0.0, 1.0, 0.5, 0.5, 0.5],
    root: [0.0, 0.5, 3.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
};
