//! Computes a score from features: a weight for each feature and one for its square root, so that a feature
//! can matter more in its low range. The values in `learned_weights` come from judged queries by
//! `bench/research`; see `docs/research.md`.

/// Weights for `N` features.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<const N: usize> {
    pub linear: [f32; N],
    pub root: [f32; N],
}

impl<const N: usize> Weights<N> {
    pub fn score(&self, features: &[f32; N]) -> f32 {
        features.iter().zip(&self.linear).map(|(value, weight)| value * weight).sum::<f32>()
            + features
                .iter()
                .zip(&self.root)
                .map(|(value, weight)| value.max(0.0).sqrt() * weight)
                .sum::<f32>()
    }
}

/// Weights for a seed without graph data and for one with much of it; in between, a mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend<const N: usize> {
    pub thin: Weights<N>,
    pub dense: Weights<N>,
}

impl<const N: usize> Blend<N> {
    /// The weights for a pool with this `density` (0 to 1).
    pub fn at(&self, density: f32) -> Weights<N> {
        let mix = |thin: &[f32; N], dense: &[f32; N]| {
            std::array::from_fn(|place| thin[place] + density * (dense[place] - thin[place]))
        };
        Weights {
            linear: mix(&self.thin.linear, &self.dense.linear),
            root: mix(&self.thin.root, &self.dense.root),
        }
    }
}

/// Density by the number of works from the graph: a half at a hundred, near one at a thousand.
pub fn density(structural: usize) -> f32 {
    structural as f32 / (structural as f32 + 100.0)
}

/// For lists of citers and references, where mostly the intent decides. Set by hand, because there are no
/// judged queries for this.
pub const LISTED: Weights<7> =
    Weights { linear: [6.0, 1.0, 1.0, 0.5, 0.1, 0.0, 0.2], root: [2.0, 0.5, 0.5, 0.2, 0.1, 0.0, 0.3] };
