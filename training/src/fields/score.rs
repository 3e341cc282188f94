//! Counts right, near, wrong and missing answers, and finds the threshold that gives a precision.

use super::pages::Verdict;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The answer to one field of one page.
#[derive(Debug, Clone)]
pub struct FieldAnswer {
    pub page: String,
    pub vertical: String,
    pub field: String,
    pub text: Option<String>,
    /// `None` where nothing was given.
    pub verdict: Option<Verdict>,
    pub marked: Vec<String>,
    pub confidence: f64,
    pub how: String,
}

impl FieldAnswer {
    /// The same answer, or none where it is less certain than this.
    pub fn at_least(&self, threshold: f64) -> Self {
        if self.confidence >= threshold {
            return self.clone();
        }
        Self { text: None, verdict: None, ..self.clone() }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    right: usize,
    near: usize,
    wrong: usize,
    missing: usize,
}

impl Counts {
    fn add(&mut self, answer: &FieldAnswer) {
        match answer.verdict {
            Some(Verdict::Right) => self.right += 1,
            Some(Verdict::Near) => self.near += 1,
            Some(Verdict::Wrong) => self.wrong += 1,
            None if !answer.marked.is_empty() => self.missing += 1,
            None => {}
        }
    }

    /// Precision, recall and F1, near answers counted as right or not.
    fn rates(self, with_near: bool) -> (f64, f64, f64) {
        let hits = (self.right + if with_near { self.near } else { 0 }) as f64;
        let given = self.right + self.near + self.wrong;
        let precision = hits / given.max(1) as f64;
        let recall = hits / (given + self.missing).max(1) as f64;
        (precision, recall, 2.0 * precision * recall / (precision + recall).max(1e-9))
    }

    fn print(self, name: &str) {
        let ((.., strict), (precision, recall, f1)) = (self.rates(false), self.rates(true));
        println!(
            "{name:<24} right {:>4} near {:>3} wrong {:>4} missing {:>4}  F1 strict {strict:.3}  near: precision {precision:.3} recall {recall:.3} F1 {f1:.3}",
            self.right, self.near, self.wrong, self.missing
        );
    }
}

/// One line for all answers together.
pub fn print_sum(name: &str, answers: &[FieldAnswer]) {
    let mut all = Counts::default();
    for answer in answers {
        all.add(answer);
    }
    all.print(name);
}

/// The threshold with the best F1 among those that reach a precision; of all where none does, the most precise.
pub fn best_threshold<'a>(
    answers: &(impl Iterator<Item = &'a FieldAnswer> + Clone),
    min_precision: f64,
) -> f64 {
    let mut best = (0.5, -1.0);
    for step in 10..98 {
        let threshold = f64::from(step) / 100.0;
        let mut counts = Counts::default();
        for answer in answers.clone() {
            counts.add(&answer.at_least(threshold));
        }
        let (precision, _, f1) = counts.rates(true);
        let worth = if precision >= min_precision { 1.0 + f1 } else { precision };
        if worth > best.1 {
            best = (threshold, worth);
        }
    }
    best.0
}

pub fn print_table(answers: &[FieldAnswer]) {
    let mut fields: BTreeMap<String, Counts> = BTreeMap::new();
    let mut verticals: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for answer in answers {
        fields.entry(format!("{}.{}", answer.vertical, answer.field)).or_default().add(answer);
        verticals.entry(&answer.vertical).or_default().add(answer);
        all.add(answer);
    }
    for (name, counts) in &fields {
        counts.print(&format!("  {name}"));
    }
    for (name, counts) in &verticals {
        counts.print(name);
    }
    all.print("all");
}

/// One wrong or missing answer in a line.
pub fn print_answer(answer: &FieldAnswer, raw: &FieldAnswer) {
    if matches!(answer.verdict, Some(Verdict::Right | Verdict::Near))
        || answer.marked.is_empty() && answer.text.is_none()
    {
        return;
    }
    let cut = |text: &str| text.chars().take(60).collect::<String>();
    println!(
        "{} {} {}: {:?} ({:.2} {} {:?}) marked {:?}",
        if answer.text.is_some() { "WRONG" } else { "none " },
        answer.page,
        answer.field,
        raw.text.as_deref().map(cut),
        raw.confidence,
        raw.how,
        raw.verdict,
        answer.marked.iter().map(|text| cut(text)).collect::<Vec<_>>()
    );
}

/// Rows `{"id","json"}` for the scorer.
pub fn write_answers(path: &Path, ids: &[&str], answers: &[FieldAnswer]) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut by_page: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for answer in answers {
        if let Some(text) = &answer.text {
            by_page.entry(&answer.page).or_default().insert(answer.field.clone(), json!(text));
        }
    }
    let mut out = BufWriter::new(std::fs::File::create(path).map_err(fail)?);
    for id in ids {
        let row = json!({"id": id, "json": by_page.get(id)});
        writeln!(out, "{row}").map_err(fail)?;
    }
    out.flush().map_err(fail)
}
