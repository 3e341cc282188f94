//! Learns linear weights from queries with known answers: a softmax over each candidate pool, in which the judged works
//! should come first. Few numbers from a few hundred queries, with regularisation towards zero: no model that
//! could memorise the queries.

use crate::weights::{Blend, Weights};

/// One query: features of its pool, and which candidates are judged relevant.
#[derive(Debug, Clone)]
pub struct Example<const N: usize> {
    /// How dense the citation graph is around the seed.
    pub density: f32,
    pub rows: Vec<[f32; N]>,
    pub relevant: Vec<usize>,
}

const STEPS: usize = 250;

/// Weights of standardised features, and how they were standardised.
#[derive(Debug, Clone)]
pub struct LearntWeights {
    weights: Vec<f64>,
    mean: Vec<f64>,
    spread: Vec<f64>,
}

impl LearntWeights {
    /// The weights as the ranker has them.
    pub fn blend<const N: usize>(&self) -> Blend<N> {
        let weight = |column: usize| self.weights[column] / self.spread[column];
        let thin = Weights {
            linear: std::array::from_fn(|column| weight(column) as f32),
            root: std::array::from_fn(|column| weight(N + column) as f32),
        };
        let dense = Weights {
            linear: std::array::from_fn(|column| (weight(column) + weight(2 * N + column)) as f32),
            root: std::array::from_fn(|column| (weight(N + column) + weight(3 * N + column)) as f32),
        };
        Blend { thin, dense }
    }
}

/// Learns weights for features and their square roots, where the graph is sparse and where it is dense. They
/// are regularised towards those of `before`, or towards zero.
pub fn learn_weights<const N: usize>(
    examples: &[&Example<N>],
    pull: f64,
    before: Option<&LearntWeights>,
) -> LearntWeights {
    let width = 4 * N;
    let expand = |row: &[f32; N], density: f32| -> Vec<f32> {
        let plain: Vec<f32> =
            row.iter().copied().chain(row.iter().map(|value| value.max(0.0).sqrt())).collect();
        plain.iter().copied().chain(plain.iter().map(|value| value * density)).collect()
    };
    let usable: Vec<&&Example<N>> = examples.iter().filter(|example| !example.relevant.is_empty()).collect();
    // All rows in one piece, one pool after another.
    let mut values: Vec<f32> = Vec::new();
    let mut ends = Vec::new();
    for example in &usable {
        values.extend(example.rows.iter().flat_map(|row| expand(row, example.density)));
        ends.push(values.len());
    }

    let (mean, spread) =
        before.map_or_else(|| spreads(&values, width), |before| (before.mean.clone(), before.spread.clone()));
    for row in values.chunks_exact_mut(width) {
        for (column, value) in row.iter_mut().enumerate() {
            *value = ((f64::from(*value) - mean[column]) / spread[column]) as f32;
        }
    }

    let goal = before.map_or_else(|| vec![0.0_f64; width], |before| before.weights.clone());
    let mut weights = goal.clone();
    let (mut momentum, mut scale) = (vec![0.0; width], vec![0.0; width]);
    for step in 1..=STEPS {
        let mut gradient: Vec<f64> = weights
            .iter()
            .zip(&goal)
            .map(|(weight, goal)| 2.0 * pull * (weight - goal) / usable.len().max(1) as f64)
            .collect();
        let narrow: Vec<f32> = weights.iter().map(|weight| *weight as f32).collect();
        let mut start = 0;
        for (end, example) in ends.iter().zip(&usable) {
            let pool = &values[start..*end];
            start = *end;
            let scores: Vec<f32> = pool
                .chunks_exact(width)
                .map(|row| row.iter().zip(&narrow).map(|(value, weight)| value * weight).sum())
                .collect();
            let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f32 = scores.iter().map(|score| (score - most).exp()).sum();
            let mut pulls = vec![0.0_f32; width];
            for (row, score) in pool.chunks_exact(width).zip(&scores) {
                let probability = (score - most).exp() / total;
                for (sum, value) in pulls.iter_mut().zip(row) {
                    *sum += probability * value;
                }
            }
            for place in &example.relevant {
                let share = 1.0 / example.relevant.len() as f32;
                for (sum, value) in pulls.iter_mut().zip(&pool[place * width..]) {
                    *sum -= share * value;
                }
            }
            for (sum, value) in gradient.iter_mut().zip(pulls) {
                *sum += f64::from(value) / usable.len() as f64;
            }
        }
        // Adam: steps of one size whatever the scale of a feature's gradient.
        let rate = 0.05 * (1.0 - step as f64 / (STEPS as f64 * 1.05));
        for column in 0..width {
            momentum[column] = 0.9 * momentum[column] + 0.1 * gradient[column];
            scale[column] = 0.99 * scale[column] + 0.01 * gradient[column] * gradient[column];
            let unbiased = (
                momentum[column] / (1.0 - 0.9_f64.powi(step as i32)),
                scale[column] / (1.0 - 0.99_f64.powi(step as i32)),
            );
            weights[column] -= rate * unbiased.0 / (unbiased.1.sqrt() + 1e-9);
        }
    }
    LearntWeights { weights, mean, spread }
}

/// Mean and spread of each column: features are standardised, so that regularisation treats all alike.
fn spreads(values: &[f32], width: usize) -> (Vec<f64>, Vec<f64>) {
    let count = (values.len() / width).max(1) as f64;
    let mut mean = vec![0.0_f64; width];
    let mut spread = vec![0.0_f64; width];
    for row in values.chunks_exact(width) {
        for (column, value) in row.iter().enumerate() {
            mean[column] += f64::from(*value) / count;
            spread[column] += f64::from(value * value) / count;
        }
    }
    for column in 0..width {
        spread[column] = (spread[column] - mean[column] * mean[column]).max(1e-9).sqrt();
    }
    (mean, spread)
}
