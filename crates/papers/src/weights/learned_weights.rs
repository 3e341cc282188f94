//! Learnt weights. Written by `gannet-bench research learn --weights`, not by hand: see `docs/research.md`.

use super::{Blend, Weights};

/// intent, seed, walk, coupling, cocitation, link, rank.
pub const FIRST: Blend<7> = Blend {
    thin: Weights {
        linear: [4.24, 2.15, -1.65, -0.91, 0.37, -0.13, 0.54],
        root: [1.08, 6.10, 3.77, 0.86, 0.24, 0.35, 1.60],
    },
    dense: Weights {
        linear: [4.29, -3.91, -5.63, -0.16, -0.71, -0.48, 0.01],
        root: [-0.57, 4.77, 10.56, 2.43, 1.76, 1.68, 1.14],
    },
};

/// intent, seed, walk, coupling, cocitation, link, rank, feedback, intent-walk, sentence, title, meaning, passage.
pub const SECOND: Blend<13> = Blend {
    thin: Weights {
        linear: [3.18, 1.35, -0.92, -0.63, 0.26, -0.03, 0.53, -0.83, -0.84, 0.00, 0.00, 0.00, 0.00],
        root: [0.17, 4.08, 2.34, 0.58, 0.29, 0.35, 0.62, 4.15, 1.16, 0.00, 0.00, 0.00, 0.00],
    },
    dense: Weights {
        linear: [3.66, -2.15, -3.40, 0.33, -0.72, -0.18, 0.41, -4.60, -2.61, 0.00, 0.00, 0.00, 0.00],
        root: [-0.44, 3.27, 7.37, 2.05, 1.82, 1.57, 0.51, 5.07, 4.45, 0.00, 0.00, 0.00, 0.00],
    },
};

/// intent, seed, walk, coupling, cocitation, link, rank, feedback, intent-walk, sentence, title, meaning, passage.
pub const RERANK: Blend<13> = Blend {
    thin: Weights {
        linear: [2.07, 1.76, -0.55, -0.01, 0.12, 0.27, 0.71, -1.71, -0.63, 2.01, 1.24, 0.00, 0.00],
        root: [0.14, 3.03, 1.87, 0.29, 0.54, 0.20, 0.16, 5.49, 0.97, -1.55, -0.50, 0.00, 0.00],
    },
    dense: Weights {
        linear: [2.31, -0.42, -2.46, 0.50, -0.44, 0.38, 2.06, -5.21, -3.26, 2.10, 0.78, 0.00, 0.00],
        root: [0.48, 1.27, 5.84, 1.38, 1.34, 0.92, -0.30, 6.98, 4.74, -2.63, 0.10, 0.00, 0.00],
    },
};
