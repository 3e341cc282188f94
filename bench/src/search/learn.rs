//! Learns weights by trial: one number after the other is moved as long as the queries of the learning half
//! get better results.

use super::pages::ReadPage;
use super::quality::{Half, OwnIndex, judge};
use super::rules::{self, Rule};
use anyhow::{Result, anyhow};
use index::Weights;

/// Passes over all numbers.
const PASSES: usize = 2;
/// Results that are looked at.
const MAX_RESULTS: usize = 10;
/// What is tried for each number.
const STEPS: [f32; 4] = [0.0, 0.6, 1.4, 2.0];
/// A change must help by this much to be kept: less is chance.
const MIN_GAIN: f64 = 0.0003;

type Number = fn(&mut Weights) -> &mut f32;

/// What can be learnt from these pages. Dates, links and what teams value are not in them; these numbers are
/// set by hand.
const NUMBERS: [(&str, Number); 23] = [
    ("fields.path", |weights| &mut weights.fields[1]),
    ("path", |weights| &mut weights.path),
    ("pairs.body", |weights| &mut weights.pairs[5]),
    ("pairs.path", |weights| &mut weights.pairs[1]),
    ("lengths.body", |weights| &mut weights.lengths[5]),
    ("saturation", |weights| &mut weights.saturation),
    ("span", |weights| &mut weights.span),
    ("lead", |weights| &mut weights.lead),
    ("forms", |weights| &mut weights.forms),
    ("fields.title", |weights| &mut weights.fields[2]),
    ("fields.headings", |weights| &mut weights.fields[3]),
    ("fields.description", |weights| &mut weights.fields[4]),
    ("fields.host", |weights| &mut weights.fields[0]),
    ("pairs.title", |weights| &mut weights.pairs[2]),
    ("pairs.headings", |weights| &mut weights.pairs[3]),
    ("pairs.description", |weights| &mut weights.pairs[4]),
    ("title", |weights| &mut weights.title),
    ("lengths.title", |weights| &mut weights.lengths[2]),
    ("lengths.headings", |weights| &mut weights.lengths[3]),
    ("lengths.description", |weights| &mut weights.lengths[4]),
    ("lengths.path", |weights| &mut weights.lengths[1]),
    ("same_host", |weights| &mut weights.same_host),
    ("front", |weights| &mut weights.front),
];

pub fn learn(pages: &[ReadPage]) -> Result<()> {
    let rules = rules::all(pages);
    let mut grounds = Vec::new();
    for rule in &rules {
        // Too few links lead from page to page to learn from them; and URLs matter most where there is no
        // title.
        let ways: &[bool] = match rule.name {
            "title" => &[true, false],
            "anchor" => &[],
            _ => &[true],
        };
        for &address in ways {
            grounds.push((rule, OwnIndex::build(rule, address)?));
        }
    }
    search_weights(|weights| mean(&grounds, weights))
}

/// Moves one number after the other as long as the quality of the weights grows, and prints the result.
pub fn search_weights(quality: impl Fn(&Weights) -> Result<f64>) -> Result<()> {
    let mut weights = Weights::default();
    let mut best = quality(&weights)?;
    println!("start: {best:.4}");
    for round in 1..=PASSES {
        for (name, number) in NUMBERS {
            for step in STEPS {
                let mut tried = weights.clone();
                *number(&mut tried) *= step;
                if name.starts_with("lengths") || ["forms", "same_host"].contains(&name) {
                    *number(&mut tried) = number(&mut tried).clamp(0.0, 1.0);
                }
                let tried_quality = quality(&tried)?;
                if tried_quality > best + MIN_GAIN {
                    println!("round {round}: {name} = {:.3}: {tried_quality:.4}", number(&mut tried));
                    (best, weights) = (tried_quality, tried);
                }
            }
        }
    }
    println!("{weights:#?}");
    Ok(())
}

/// Mean reciprocal rank over the learning half, each rule counting alike.
fn mean(grounds: &[(&Rule, OwnIndex)], weights: &Weights) -> Result<f64> {
    std::thread::scope(|scope| {
        let judged: Vec<_> = grounds
            .iter()
            .map(|(rule, ours)| scope.spawn(|| judge(ours, rule, weights, Half::Learnt, MAX_RESULTS)))
            .collect();
        let mut sum = 0.0;
        for judged in judged {
            sum += judged.join().map_err(|_| anyhow!("a thread panicked"))??.reciprocal;
        }
        Ok(sum / grounds.len() as f64)
    })
}
