//! Learnt weights. Written by `research-bench learn --weights`, not by hand: see `docs/research.md`.

use super::weights::{Blend, Weights};

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
