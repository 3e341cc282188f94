//! Learnt weights of the ranker with a model. `gannet-bench research learn --vectors --model --weights` writes this file; these numbers are
//! older than it and come from the same features and method in another program: see `docs/research.md`.

use super::{Blend, Weights};

/// intent, seed, walk, coupling, cocitation, link, rank, feedback, intent-walk, sentence, title, meaning, passage.
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
