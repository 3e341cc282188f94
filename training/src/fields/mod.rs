//! Trains the ranker of the extract crate from pages with marked values, and judges it on kinds of pages
//! that it has learnt nothing from.

mod pages;
mod score;

use crate::boost::{self, Forest, Lesson, Recipe};
use crate::columns::Columns;
use extract::ranking::{COLUMN_NAMES, COLUMNS, DEPTH, Question, Ranker, Tree};
use extract::{PageView, Schema, candidate_rows, fill_with};
use pages::{ReadPage, Verdict};
use score::{FieldAnswer, best_threshold, print_table};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// The precision that the threshold must reach on the answers that it is chosen on: a little more than is
/// wanted of other kinds of pages, where it is less.
const MIN_PRECISION: f64 = 0.91;
/// Rows are made from every so many pages: those of one site are alike.
const ROWS_FROM_EVERY: usize = 2;
/// What all wrong candidates of one field on one page weigh together, at most.
const MAX_WRONG_WEIGHT: f32 = 25.0;

fn recipe() -> Recipe {
    Recipe {
        trees: 140,
        depth: DEPTH,
        rate: 0.1,
        page_share: 0.6,
        column_share: 0.35,
        l2: 6.0,
        least_weight: 4.0,
        seed: 3,
    }
}

/// The rows of all candidates of all pages.
struct Rows {
    columns: Columns,
    labels: Vec<f32>,
    weights: Vec<f32>,
    pages: Vec<u32>,
}

impl Rows {
    fn from_pages(pages: &[ReadPage]) -> Result<Self, String> {
        let own = pages::own_fields(pages);
        let mut values: Vec<f32> = Vec::new();
        let mut rows =
            Self { columns: Columns::default(), labels: Vec::new(), weights: Vec::new(), pages: Vec::new() };
        for (number, page) in (0u32..).zip(pages).step_by(ROWS_FROM_EVERY) {
            let others: Vec<&Vec<(String, String)>> = own
                .iter()
                .filter(|(vertical, _)| **vertical != page.vertical)
                .map(|(_, fields)| fields)
                .collect();
            // One foreign field per kind, another one for each page.
            let foreign: Vec<(String, String)> = others
                .iter()
                .filter(|fields| !fields.is_empty())
                .map(|fields| fields[number as usize % fields.len()].clone())
                .collect();
            for question in pages::questions(page, &foreign) {
                let schema = Schema::parse(&question.schema).map_err(|error| error.to_string())?;
                let view = PageView { url: &page.url, page: &page.page, markdown: "" };
                let candidates = candidate_rows(&schema, view);
                let mut wrong: BTreeMap<&str, f32> = BTreeMap::new();
                let labels: Vec<f32> = candidates
                    .iter()
                    .map(|row| {
                        let marked = question.wanted.get(&row.pointer[1..]).map_or(&[][..], Vec::as_slice);
                        let label = pages::label(&row.value, marked);
                        *wrong.entry(&row.pointer).or_default() += f32::from(u8::from(label == 0.0));
                        label
                    })
                    .collect();
                for (row, label) in candidates.iter().zip(&labels) {
                    let count = wrong.get(row.pointer.as_str()).copied().unwrap_or(1.0).max(1.0);
                    let share = if *label == 0.0 { (MAX_WRONG_WEIGHT / count).min(1.0) } else { 1.0 };
                    values.extend(row.columns);
                    rows.labels.push(*label);
                    rows.weights.push(question.weight * share);
                    rows.pages.push(number);
                }
            }
        }
        rows.columns.add(&values, COLUMNS);
        Ok(rows)
    }

    fn train(&self, pages: &[ReadPage], without: Option<&str>) -> Ranker {
        let used: Vec<u32> = (0u32..)
            .zip(&self.pages)
            .filter(|(_, page)| without != Some(pages[**page as usize].vertical.as_str()))
            .map(|(row, _)| row)
            .collect();
        let lesson = Lesson {
            columns: &self.columns,
            rows: &used,
            labels: &self.labels,
            weights: &self.weights,
            pages: &self.pages,
        };
        to_ranker(&boost::train(&lesson, &recipe()), &self.columns)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the file stores single precision")]
fn to_ranker(forest: &Forest, columns: &Columns) -> Ranker {
    let trees = forest
        .trees
        .iter()
        .map(|tree| {
            let mut out = Tree {
                questions: [Question { column: 0, threshold: f32::INFINITY }; DEPTH],
                leaves: [0.0; 1 << DEPTH],
            };
            for (to, from) in out.questions.iter_mut().zip(&tree.questions) {
                to.column = u16::try_from(from.column).unwrap_or(0);
                // A bin begins at its cut, and the product asks for more than the threshold.
                to.threshold = columns.cuts[from.column as usize][usize::from(from.bin)].next_down();
            }
            for (to, from) in out.leaves.iter_mut().zip(&tree.leaves) {
                *to = *from as f32;
            }
            out
        })
        .collect();
    Ranker { start: forest.start as f32, least: -20.0, trees }
}

fn answer(page: &ReadPage, ranker: &Ranker) -> Result<(Map<String, Value>, Vec<FieldAnswer>), String> {
    let schema = Schema::parse(&pages::schema(page)).map_err(|error| error.to_string())?;
    let view = PageView { url: &page.url, page: &page.page, markdown: &page.markdown };
    let filled = fill_with(&schema, "", &[view], ranker);
    let Value::Object(given) = filled.value else { return Err("the answer is no object".to_owned()) };
    let mut answers = Vec::new();
    for (field, marked) in &page.fields {
        let pointer = format!("/{field}");
        let evidence = filled.evidence.iter().find(|evidence| evidence.pointer == pointer);
        let text = given.get(field).and_then(Value::as_str).filter(|text| !pages::squeeze(text).is_empty());
        answers.push(FieldAnswer {
            page: page.id.clone(),
            vertical: page.vertical.clone(),
            field: field.clone(),
            text: text.map(str::to_owned),
            verdict: text.map(|text| pages::judge(text, marked)),
            marked: marked.clone(),
            confidence: evidence.map_or(0.0, |evidence| f64::from(evidence.confidence)),
            how: evidence.map_or_else(String::new, |evidence| format!("{:?}", evidence.how)),
        });
    }
    Ok((given, answers))
}

#[expect(clippy::cast_possible_truncation, reason = "the model stores single precision")]
fn to_least(threshold: f64) -> f32 {
    crate::exact::ln(threshold.clamp(1e-6, 1.0 - 1e-6) / (1.0 - threshold.clamp(1e-6, 1.0 - 1e-6))) as f32
}

/// Judges by kinds of pages: each is answered by a model that saw none of them, at the threshold that the
/// answers to the other kinds give. Returns all answers.
fn validate(pages: &[ReadPage], rows: &Rows) -> Result<Vec<FieldAnswer>, String> {
    let started = Instant::now();
    let verticals: Vec<String> = pages
        .iter()
        .map(|page| page.vertical.clone())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let mut all: Vec<FieldAnswer> = Vec::new();
    for vertical in &verticals {
        let ranker = rows.train(pages, Some(vertical));
        for page in pages.iter().filter(|page| page.vertical == *vertical) {
            all.extend(answer(page, &ranker)?.1);
        }
        eprintln!("{vertical}: {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(all)
}

/// The answers that reach the threshold of the other kinds of pages.
fn with_thresholds(answers: &[FieldAnswer]) -> Vec<FieldAnswer> {
    let mut kept = Vec::new();
    let verticals: std::collections::BTreeSet<&str> =
        answers.iter().map(|answer| answer.vertical.as_str()).collect();
    for vertical in verticals {
        let others = answers.iter().filter(|answer| answer.vertical != vertical);
        let threshold = best_threshold(&others, MIN_PRECISION);
        eprintln!("{vertical}: threshold {threshold:.3}");
        kept.extend(
            answers
                .iter()
                .filter(|answer| answer.vertical == vertical)
                .map(|answer| answer.at_least(threshold)),
        );
    }
    kept
}

fn report(
    pages: &[ReadPage],
    answers: &[FieldAnswer],
    raw: &[FieldAnswer],
    options: &[&str],
) -> Result<(), String> {
    if options.contains(&"--wrong") {
        for (answer, raw) in answers.iter().zip(raw) {
            score::print_answer(answer, raw);
        }
    }
    if let Some(at) = options.iter().position(|option| *option == "--answers") {
        let path = Path::new(options.get(at + 1).ok_or("--answers needs a file")?);
        score::write_answers(path, &pages.iter().map(|page| page.id.as_str()).collect::<Vec<_>>(), answers)?;
    }
    Ok(())
}

/// `fields-validate PAGES [--answers FILE] [--wrong]`.
pub fn run_validate(path: &Path, options: &[&str]) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let rows = Rows::from_pages(&pages)?;
    eprintln!("{} rows of {} columns", rows.labels.len(), COLUMN_NAMES.len());
    let raw = validate(&pages, &rows)?;
    let answers = with_thresholds(&raw);
    print_table(&answers);
    report(&pages, &answers, &raw, options)
}

/// `fields-model PAGES MODEL`: from all pages, with the threshold that answers of models without their kind give.
pub fn run_model(path: &Path, out: &Path, options: &[&str]) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let rows = Rows::from_pages(&pages)?;
    let raw = validate(&pages, &rows)?;
    let answers = with_thresholds(&raw);
    print_table(&answers);
    report(&pages, &answers, &raw, options)?;
    let threshold = best_threshold(&raw.iter(), MIN_PRECISION);
    let mut ranker = rows.train(&pages, None);
    ranker.least = to_least(threshold);
    let bytes = ranker.to_bytes();
    eprintln!("{} bytes, threshold {threshold:.3}", bytes.len());
    let mut file =
        BufWriter::new(std::fs::File::create(out).map_err(|error| format!("{}: {error}", out.display()))?);
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(|error| error.to_string())
}

/// `fields-answers PAGES`: rows `{"id","json"}` and the table of the built-in model, which has seen the pages.
pub fn run_answers(path: &Path) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let mut all = Vec::new();
    let started = Instant::now();
    for page in &pages {
        let (json, answers) = answer(page, Ranker::built_in())?;
        println!("{}", serde_json::json!({"id": page.id, "json": json}));
        all.extend(answers);
    }
    eprintln!("{:.2} ms a page", started.elapsed().as_secs_f64() * 1e3 / pages.len().max(1) as f64);
    let given = |verdict| all.iter().filter(|answer: &&FieldAnswer| answer.verdict == Some(verdict)).count();
    eprintln!(
        "right {} near {} wrong {}",
        given(Verdict::Right),
        given(Verdict::Near),
        given(Verdict::Wrong)
    );
    Ok(())
}
