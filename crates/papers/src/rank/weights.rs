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
            + features
                .iter()
                .zip(&self.root)
                .map(|(value, weight)| value.max(0.0).sqrt() * weight)
                .sum::<f32>()
    }
}

/// Weights for a seed about which the graph says nothing, and for one about which it says much; in between, a mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend<const N: usize> {
    pub thin: Weights<N>,
    pub dense: Weights<N>,
}

impl<const N: usize> Blend<N> {
    /// The weights for a pool of which `density` (0 to 1) tells how much the graph had to say.
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

/// How much the graph had to say, by the works it offered: a half at a hundred, near one at a thousand.
pub fn density(structural: usize) -> f32 {
    structural as f32 / (structural as f32 + 100.0)
}

/// First pass. In the order of `FEATURES`.
pub const FIRST: Blend<7> = Blend {
    thin: Weights {
        linear: [4.21, 2.10, -1.60, -0.83, 0.29, -0.13, 0.40],
        root: [1.18, 6.12, 3.73, 0.82, 0.33, 0.40, 1.75],
    },
    dense: Weights {
        linear: [4.24, -3.41, -5.25, 0.11, -0.62, -0.42, -0.11],
        root: [-0.43, 4.80, 9.81, 2.06, 1.64, 1.65, 1.35],
    },
};

/// Second pass, without reading. In the order of `SECOND_FEATURES`.
pub const SECOND: Blend<11> = Blend {
    thin: Weights {
        linear: [3.87, 1.41, -0.70, -0.53, -0.01, -0.02, 0.44, -0.64, -0.77, 0.0, 0.0],
        root: [0.11, 3.86, 2.26, 0.63, 0.52, 0.32, 1.07, 3.87, 1.08, 0.0, 0.0],
    },
    dense: Weights {
        linear: [5.02, -1.69, -2.66, 0.37, -0.94, 0.01, 0.42, -3.80, -3.79, 0.0, 0.0],
        root: [1.06, 2.99, 6.22, 1.76, 1.95, 1.37, 1.10, 4.45, 3.36, 0.0, 0.0],
    },
};

/// Second pass, with reading (`rerank`). In the order of `SECOND_FEATURES`.
pub const RERANK: Blend<11> = Blend {
    thin: Weights {
        linear: [1.87, 1.41, -0.70, -0.53, -0.01, -0.02, 0.44, -0.64, -0.77, 2.05, 1.26],
        root: [0.11, 3.86, 2.26, 0.63, 0.52, 0.32, 1.07, 3.87, 1.08, -1.53, -0.48],
    },
    dense: Weights {
        linear: [4.02, -1.69, -2.66, 0.37, -0.94, 0.01, 0.42, -3.80, -3.79, 2.67, 1.86],
        root: [1.06, 2.99, 6.22, 1.76, 1.95, 1.37, 1.10, 4.45, 3.36, -3.59, -0.97],
    },
};
