//! From probabilities to a choice: which blocks of a page to keep.
//!
//! The measure is word F1, so the best cut depends on the page: with `F` the best possible F1, keeping a
//! block pays when its probability is above `F / 2`. The cut is found by trying all of them in order.

/// When no block reaches this probability, the page has no content: a shell, a wall, a menu.
const MIN_PROBABILITY: f32 = 0.15;

/// Keeps the blocks whose probability is at or above the cut with the highest expected F1.
pub fn choose(chances: &[f32], words: &[f32]) -> Vec<bool> {
    let cut = best_cut(chances, words).max(MIN_PROBABILITY);
    chances.iter().map(|&chance| chance >= cut).collect()
}

/// The probability at which to cut; above 1 when nothing is worth keeping.
pub fn best_cut(chances: &[f32], words: &[f32]) -> f32 {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]).then(a.cmp(&b)));
    let all: f64 =
        chances.iter().zip(words).map(|(&chance, &words)| f64::from(chance) * f64::from(words)).sum();
    let (mut kept, mut hit) = (0.0f64, 0.0f64);
    let (mut best, mut cut) = (0.0f64, 2.0f32);
    for (rank, &at) in order.iter().enumerate() {
        kept += f64::from(words[at]);
        hit += f64::from(chances[at]) * f64::from(words[at]);
        // Blocks of one probability are kept or left together.
        if order.get(rank + 1).is_some_and(|&next| chances[next].total_cmp(&chances[at]).is_eq()) {
            continue;
        }
        let expected = 2.0 * hit / (kept + all).max(1e-9);
        if expected > best {
            (best, cut) = (expected, chances[at]);
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_cases_are_cut_between() {
        let kept = choose(&[0.05, 0.9, 0.95, 0.1], &[50.0, 100.0, 100.0, 50.0]);
        assert_eq!(kept, [false, true, true, false]);
    }

    #[test]
    fn a_doubtful_page_is_cut_lower() {
        // Nothing is sure, so the block at 0.4 is worth its words.
        assert_eq!(choose(&[0.45, 0.4, 0.02], &[100.0, 100.0, 300.0]), [true, true, false]);
        // Beside a sure block of the same size it is not.
        assert_eq!(choose(&[0.99, 0.4], &[500.0, 100.0]), [true, false]);
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert!(choose(&[], &[]).is_empty());
        assert_eq!(choose(&[0.0], &[10.0]), [false]);
        assert_eq!(choose(&[0.1, 0.14], &[10.0, 50.0]), [false, false]);
    }
}
