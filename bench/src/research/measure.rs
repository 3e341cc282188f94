//! The quality measures of rankings; the same as in the collection's own scoring script.

/// Means over queries, in percent.
#[derive(Debug, Default, Clone, Copy)]
pub struct Quality {
    pub ndcg10: f64,
    pub recall10: f64,
    pub recall20: f64,
    pub recall100: f64,
    pub reciprocal: f64,
}

/// Compares rankings with the relevant documents of each query.
pub fn judge<'a>(rankings: impl Iterator<Item = (&'a [u32], &'a [u32])>) -> Quality {
    let mut sum = Quality::default();
    let mut count = 0.0_f64;
    for (ranked, relevant) in rankings {
        let hits: Vec<usize> = ranked
            .iter()
            .enumerate()
            .filter(|(_, node)| relevant.contains(node))
            .map(|(place, _)| place)
            .collect();
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
        let recall =
            |depth: usize| hits.iter().filter(|place| **place < depth).count() as f64 / relevant.len() as f64;
        sum.ndcg10 += hits.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum::<f64>() / ideal;
        sum.recall10 += recall(10);
        sum.recall20 += recall(20);
        sum.recall100 += recall(100);
        sum.reciprocal += hits.first().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
        count += 1.0;
    }
    let percent = |value: f64| 100.0 * value / count.max(1.0);
    Quality {
        ndcg10: percent(sum.ndcg10),
        recall10: percent(sum.recall10),
        recall20: percent(sum.recall20),
        recall100: percent(sum.recall100),
        reciprocal: percent(sum.reciprocal),
    }
}

impl std::fmt::Display for Quality {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "nDCG@10 {:.2}  R@10 {:.2}  R@20 {:.2}  R@100 {:.2}  MRR {:.2}",
            self.ndcg10, self.recall10, self.recall20, self.recall100, self.reciprocal
        )
    }
}
