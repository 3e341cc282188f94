//! Writes a corpus to a file, for comparing other programs on it: `changedetection.py` next to this file.

use super::measure::ERROR_PAGES;
use super::model::{PageModel, ReadContext};
use super::random::Random;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::io::Write;
use std::path::Path;

const VERSIONS: usize = 20;

/// One line of JSON for each version: the page as one read shows it, whether it is an error page, and a number
/// that is another one whenever the truth is.
pub fn export(pages: Vec<PageModel>, file: &Path) {
    let mut output = std::fs::File::create(file).unwrap();
    for (number, mut page) in pages.into_iter().enumerate() {
        let seed = u64::try_from(number).unwrap();
        let (mut truth, mut noise) = (Random::new(1_000 + seed), Random::new(9_000_000 + seed));
        let mut at: Timestamp = "2026-09-01T07:13:00Z".parse().unwrap();
        let mut truths = vec![page.clone()];
        for version in 0..VERSIONS {
            let mut error = None;
            if version > 0 {
                let minutes = i64::try_from(truth.between(40, 3_000)).unwrap();
                at = at.checked_add(SignedDuration::from_mins(minutes)).unwrap();
                if truth.chance(35) {
                    page.change(&mut truth);
                }
                let is_error = truth.chance(8);
                error = Some(*truth.pick(&ERROR_PAGES)).filter(|_| is_error);
            }
            let place = truths.iter().position(|known| *known == page).unwrap_or_else(|| {
                truths.push(page.clone());
                truths.len() - 1
            });
            let text = page.render(&mut ReadContext { at, random: &mut noise });
            let line = json!({
                "page": number, "version": version, "truth": place, "isError": error.is_some(),
                "text": error.map_or(text, str::to_owned),
            });
            writeln!(output, "{line}").unwrap();
        }
    }
}
