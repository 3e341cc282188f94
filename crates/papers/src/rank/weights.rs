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
        linear: [4.22, 2.11, -1.59, -0.83, 0.29, -0.13, 0.42],
        root: [1.16, 6.09, 3.73, 0.82, 0.33, 0.40, 1.69],
    },
    dense: Weights {
        linear: [4.25, -3.41, -5.24, 0.11, -0.62, -0.42, -0.05],
        root: [-0.45, 4.83, 9.79, 2.06, 1.64, 1.65, 1.36],
    },
};

/// For lists of citers and references. The list is the relation; what the papers are wanted for decides. Set by hand: no judged
/// queries ask this.
pub const LISTED: Weights<7> =
    Weights { linear: [6.0, 1.0, 1.0, 0.5, 0.1, 0.0, 0.2], root: [2.0, 0.5, 0.5, 0.2, 0.1, 0.0, 0.3] };

/// Second pass, without reading. In the order of `SECOND_FEATURES`.
pub const SECOND: Blend<13> = Blend {
    thin: Weights {
        linear: [2.94, 1.34, -0.84, -0.55, 0.17, -0.03, 0.44, -0.70, -0.52, 0.00, 0.00, 0.00, 0.00],
        root: [-0.05, 3.95, 2.32, 0.59, 0.36, 0.36, 0.92, 4.07, 1.02, 0.00, 0.00, 0.00, 0.00],
    },
    dense: Weights {
        linear: [5.25, -1.87, -2.94, 0.42, -0.61, -0.09, 0.41, -4.02, -2.98, 0.00, 0.00, 0.00, 0.00],
        root: [-0.69, 3.21, 6.54, 1.76, 1.68, 1.46, 0.89, 4.76, 2.95, 0.00, 0.00, 0.00, 0.00],
    },
};

/// Second pass, with reading (`rerank`). In the order of `SECOND_FEATURES`.
pub const RERANK: Blend<13> = Blend {
    thin: Weights {
        linear: [2.03, 1.77, -0.53, -0.00, 0.14, 0.28, 0.73, -1.63, -0.63, 1.98, 1.23, 0.00, 0.00],
        root: [0.15, 3.01, 1.82, 0.28, 0.52, 0.20, 0.10, 5.46, 0.96, -1.52, -0.50, 0.00, 0.00],
    },
    dense: Weights {
        linear: [2.32, -0.39, -2.34, 0.57, -0.59, 0.40, 2.16, -5.07, -3.35, 2.17, 0.83, 0.00, 0.00],
        root: [0.38, 1.17, 5.58, 1.37, 1.46, 0.92, -0.36, 6.96, 4.82, -2.68, 0.06, 0.00, 0.00],
    },
};

/// Second pass, with reading and with the vectors of a model. In the order of `SECOND_FEATURES`.
pub const MODEL: Blend<13> = Blend {
    thin: Weights {
        linear: [1.25, 3.06, -0.71, 0.35, 1.13, -0.55, 0.28, -4.14, -0.36, 1.91, 0.94, 6.59, 4.82],
        root: [-0.34, 0.75, 1.69, -0.07, -0.30, 1.25, 0.92, 8.77, 0.58, -2.16, -0.49, -3.80, -5.01],
    },
    dense: Weights {
        linear: [0.86, 0.92, -1.69, 0.12, 0.07, -2.42, 0.61, -6.51, -3.04, 1.65, 0.57, 6.62, 5.15],
        root: [0.82, -0.99, 4.82, 1.69, 0.87, 3.56, 0.97, 9.68, 4.56, -2.64, 0.13, -5.40, -6.16],
    },
};
