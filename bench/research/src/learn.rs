//! Learning linear weights from judged queries: a softmax over each pool, the judged works being what should come first. Few
//! numbers from few hundred queries, with a pull towards zero: no model that could learn the queries by heart.

use papers::{Blend, Weights};

/// One query: features of its pool, and which are judged relevant.
#[derive(Debug, Clone)]
pub struct Example<const N: usize> {
    /// How much the graph had to say.
    pub density: f32,
    pub rows: Vec<[f32; N]>,
    pub relevant: Vec<usize>,
}

const STEPS: usize = 250;

/// Learns weights for features and their square roots, where the graph is thin and where it is dense.
pub fn learn<const N: usize>(examples: &[&Example<N>], pull: f64) -> Blend<N> {
    let width = 4 * N;
    let expand = |row: &[f32; N], density: f32| -> Vec<f64> {
        let plain = row.iter().map(|value| f64::from(*value)).chain(row.iter().map(|value| f64::from(value.max(0.0).sqrt())));
        let plain: Vec<f64> = plain.collect();
        plain.iter().copied().chain(plain.iter().map(|value| value * f64::from(density))).collect()
    };
    let usable: Vec<&&Example<N>> = examples.iter().filter(|example| !example.relevant.is_empty()).collect();
    let rows: Vec<Vec<Vec<f64>>> = usable.iter().map(|example| example.rows.iter().map(|row| expand(row, example.density)).collect()).collect();

    // Features are brought to one spread, so that the pull is fair to all.
    let count = rows.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let mut mean = vec![0.0; width];
    let mut spread = vec![0.0; width];
    for row in rows.iter().flatten() {
        for (column, value) in row.iter().enumerate() {
            mean[column] += value / count;
            spread[column] += value * value / count;
        }
    }
    for column in 0..width {
        spread[column] = (spread[column] - mean[column] * mean[column]).max(1e-9).sqrt();
    }
    let rows: Vec<Vec<Vec<f64>>> = rows
        .into_iter()
        .map(|pool| pool.into_iter().map(|row| row.iter().enumerate().map(|(column, value)| (value - mean[column]) / spread[column]).collect()).collect())
        .collect();

    let mut weights = vec![0.0_f64; width];
    let (mut momentum, mut scale) = (vec![0.0; width], vec![0.0; width]);
    for step in 1..=STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| 2.0 * pull * weight / usable.len().max(1) as f64).collect();
        for (pool, example) in rows.iter().zip(&usable) {
            let scores: Vec<f64> = pool.iter().map(|row| row.iter().zip(&weights).map(|(value, weight)| value * weight).sum()).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            let share = 1.0 / (example.relevant.len() as f64 * usable.len() as f64);
            for (row, score) in pool.iter().zip(&scores) {
                let probability = (score - most).exp() / total / usable.len() as f64;
                for (column, value) in row.iter().enumerate() {
                    gradient[column] += probability * value;
                }
            }
            for place in &example.relevant {
                for (column, value) in pool[*place].iter().enumerate() {
                    gradient[column] -= share * value;
                }
            }
        }
        // Adam: steps of one size whatever the scale of a feature's gradient.
        let rate = 0.05 * (1.0 - step as f64 / (STEPS as f64 * 1.05));
        for column in 0..width {
            momentum[column] = 0.9 * momentum[column] + 0.1 * gradient[column];
            scale[column] = 0.99 * scale[column] + 0.01 * gradient[column] * gradient[column];
            let unbiased = (momentum[column] / (1.0 - 0.9_f64.powi(step as i32)), scale[column] / (1.0 - 0.99_f64.powi(step as i32)));
            weights[column] -= rate * unbiased.0 / (unbiased.1.sqrt() + 1e-9);
        }
    }
    let weight = |column: usize| weights[column] / spread[column];
    let thin = Weights { linear: std::array::from_fn(|column| weight(column) as f32), root: std::array::from_fn(|column| weight(N + column) as f32) };
    let dense = Weights {
        linear: std::array::from_fn(|column| (weight(column) + weight(2 * N + column)) as f32),
        root: std::array::from_fn(|column| (weight(N + column) + weight(3 * N + column)) as f32),
    };
    Blend { thin, dense }
}
