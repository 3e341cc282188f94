//! Values computed from the whole graph: ArticleRank, and the norms of reference lists.

use crate::file::ListReader;

/// ArticleRank: like PageRank, but a citation from a short list of references counts less, so that works with
/// two references do not dominate. Iterates until it converges; the mean is 1.
pub fn article_rank(lists: &ListReader, works: u32) -> Vec<u8> {
    const DAMPING: f32 = 0.85;
    const MAX_ITERATIONS: usize = 20;
    /// Mean change of an iteration below which ranks have converged; the mean rank is near 1.
    const CONVERGED_CHANGE: f64 = 1e-4;
    let nodes = lists.nodes();
    let degrees: u64 = (0..works).map(|node| u64::from(lists.count(node))).sum();
    let mean_degree = degrees as f32 / works.max(1) as f32;
    let mut ranks = vec![1.0_f32; nodes];
    let mut next = vec![0.0_f32; nodes];
    for _ in 0..MAX_ITERATIONS {
        next.fill(1.0 - DAMPING);
        for node in 0..works {
            let share = DAMPING * ranks[node as usize] / (lists.count(node) as f32 + mean_degree).max(1.0);
            lists.for_each(node, |target| {
                if let Some(rank) = next.get_mut(target as usize) {
                    *rank += share;
                }
            });
        }
        let change: f64 = ranks.iter().zip(&next).map(|(old, new)| f64::from((new - old).abs())).sum();
        std::mem::swap(&mut ranks, &mut next);
        if change <= CONVERGED_CHANGE * nodes as f64 {
            break;
        }
    }
    ranks.truncate(works as usize);
    let mean = ranks.iter().map(|rank| f64::from(*rank)).sum::<f64>() / f64::from(works.max(1));
    ranks.iter().flat_map(|rank| (rank / mean.max(f64::MIN_POSITIVE) as f32).to_le_bytes()).collect()
}

/// Weight of a shared reference by its number of citations: highly cited works say little, and a work cited
/// once couples nothing.
pub fn reference_weight(in_degree: u32) -> f32 {
    if in_degree < 2 { 0.0 } else { 1.0 / (2.0 + in_degree as f32).ln() }
}

/// The norm of each work's vector of weighted references.
pub fn coupling_norms(lists: &ListReader, in_degrees: &[u32], works: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(works as usize * 4);
    for node in 0..works {
        let mut sum = 0.0_f32;
        lists.for_each(node, |target| {
            sum += reference_weight(in_degrees.get(target as usize).copied().unwrap_or(0)).powi(2);
        });
        out.extend_from_slice(&sum.sqrt().to_le_bytes());
    }
    out
}
