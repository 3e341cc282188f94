//! Word F1 of a choice of blocks, per page and per page kind.

use crate::pages::Page;
use crate::table::Table;
use content::select::choose_blocks;
use std::collections::{BTreeMap, HashMap};

/// Word F1 of the kept blocks, as the scorer counts it: bags of words, each gold word matched once.
fn f1(page: &Page, kept: &[bool]) -> f64 {
    let mut left: HashMap<u32, i32> = HashMap::new();
    for &word in &page.gold {
        *left.entry(word).or_default() += 1;
    }
    let (mut start, mut tokens, mut matched) = (0, 0usize, 0usize);
    for (&count, &kept) in page.tokens.iter().zip(kept) {
        let end = start + count as usize;
        if kept {
            tokens += count as usize;
            for word in &page.words[start..end] {
                if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
                    *count -= 1;
                    matched += 1;
                }
            }
        }
        start = end;
    }
    if page.gold.is_empty() {
        return f64::from(u8::from(tokens == 0));
    }
    2.0 * matched as f64 / (tokens + page.gold.len()) as f64
}

/// Prints word F1 over the text of the kept blocks, for each set and each kind of page with marked text.
pub fn print(title: &str, sets: usize, table: &Table, chances: &[f32]) {
    for set in 0..sets {
        let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (number, page) in
            table.pages.iter().enumerate().filter(|(_, page)| page.set == set && page.has_gold)
        {
            let chances = &chances[table.starts[number]..table.starts[number + 1]];
            let kept = choose_blocks(&table.surveys[number], chances).0;
            kinds.entry(&page.kind).or_default().push(f1(page, &kept));
        }
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let parts: Vec<String> =
            kinds.iter().map(|(kind, scores)| format!("{kind} {:.3}", mean(scores))).collect();
        let all: Vec<f64> = kinds.into_values().flatten().collect();
        println!("{title:16} set {set}  {:.4}  {}", mean(&all), parts.join("  "));
    }
}
