//! Trains the ranker of the extract crate from pages with marked values, and judges it on kinds of pages
//! that it has learnt nothing from.

mod pages;
mod score;
mod sites;

use crate::boost::{self, Forest, Lesson, Recipe};
use crate::columns::Columns;
use extract::ranking::{COLUMN_NAMES, COLUMNS, DEPTH, Question, Ranker, Tree};
use extract::{Filled, PageView, Schema, SitePages, candidate_rows, fill_each_with};
use pages::{ReadPage, Verdict};
use score::{FieldAnswer, best_threshold, print_sum, print_table};
use serde_json::Value;
use sites::{AtHand, Sites};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// The precision that the threshold must reach on the answers that it is chosen on.
const MIN_PRECISION: f64 = 0.915;
/// Precisions whose results are printed for comparison.
const COMPARED_PRECISIONS: [f64; 5] = [0.905, 0.91, 0.915, 0.92, 0.925];
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
        let sites = Sites::new(pages);
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
            // Each page by itself, and with two or all others of its site.
            let others =
                if (number as usize / ROWS_FROM_EVERY).is_multiple_of(2) { AtHand::All } else { AtHand::Two };
            let known = [SitePages::default(), sites.known_to(pages, number as usize, others)];
            let questions = pages::questions(page, &foreign);
            for (question, known) in
                questions.iter().flat_map(|question| known.iter().map(move |known| (question, known)))
            {
                let schema = Schema::parse(&question.schema).map_err(|error| error.to_string())?;
                let view = PageView { url: &page.url, page: &page.page, markdown: "" };
                let candidates = candidate_rows(&schema, view, known);
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
    Ranker { start: forest.start as f32, least: -20.0, least_on_site: -20.0, trees }
}

/// The answers to a page's fields.
fn answers(page: &ReadPage, filled: &Filled) -> Result<Vec<FieldAnswer>, String> {
    let Value::Object(given) = &filled.value else { return Err("the answer is no object".to_owned()) };
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
    Ok(answers)
}

/// What the ranker fills on pages of one kind, with as many pages of their sites at hand.
fn fill_pages(
    pages: &[ReadPage],
    judged: &[usize],
    at_hand: AtHand,
    ranker: &Ranker,
) -> Result<Vec<FieldAnswer>, String> {
    let sites = Sites::new(pages);
    let mut all = Vec::new();
    for &number in judged {
        let others = sites.others(number, at_hand);
        // A whole site is filled at once, when its first page comes.
        let whole = at_hand == AtHand::All;
        if whole && others.iter().any(|&other| other < number) {
            continue;
        }
        let schema = Schema::parse(&pages::schema(&pages[number])).map_err(|error| error.to_string())?;
        let numbers: Vec<usize> = std::iter::once(number).chain(others).collect();
        let views: Vec<PageView> = numbers.iter().map(|&number| pages[number].view()).collect();
        let filled = fill_each_with(&schema, "", &views, ranker);
        for (&number, filled) in numbers.iter().zip(&filled).take(if whole { numbers.len() } else { 1 }) {
            all.extend(answers(&pages[number], filled)?);
        }
    }
    Ok(all)
}

#[expect(clippy::cast_possible_truncation, reason = "the model stores single precision")]
fn to_least(threshold: f64) -> f32 {
    crate::exact::ln(threshold.clamp(1e-6, 1.0 - 1e-6) / (1.0 - threshold.clamp(1e-6, 1.0 - 1e-6))) as f32
}

/// Judges by kinds of pages: each is answered by a model that saw none of them. Returns all answers, by how many
/// pages of a site are at hand.
fn validate(pages: &[ReadPage], rows: &Rows) -> Result<[Vec<FieldAnswer>; 3], String> {
    let started = Instant::now();
    let verticals: std::collections::BTreeSet<&str> =
        pages.iter().map(|page| page.vertical.as_str()).collect();
    let mut all = [const { Vec::new() }; 3];
    for vertical in verticals {
        let ranker = rows.train(pages, Some(vertical));
        for (at_hand, all) in AtHand::EACH.into_iter().zip(&mut all) {
            let judged: Vec<usize> =
                (0..pages.len()).filter(|&number| pages[number].vertical == vertical).collect();
            all.extend(fill_pages(pages, &judged, at_hand, &ranker)?);
        }
        eprintln!("{vertical}: {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(all)
}

/// The answers that reach the threshold of the other kinds of pages.
fn with_thresholds(answers: &[FieldAnswer], min_precision: f64) -> Vec<FieldAnswer> {
    let mut kept = Vec::new();
    let verticals: std::collections::BTreeSet<&str> =
        answers.iter().map(|answer| answer.vertical.as_str()).collect();
    for vertical in verticals {
        let others = answers.iter().filter(|answer| answer.vertical != vertical);
        let threshold = best_threshold(&others, min_precision);
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

/// Prints the tables; answers and mistakes are written of pages by themselves, with `--sites` of whole sites.
fn print_all(pages: &[ReadPage], raw: &[Vec<FieldAnswer>; 3], options: &[&str]) -> Result<(), String> {
    for (at_hand, raw) in AtHand::EACH.into_iter().zip(raw) {
        println!("{}", at_hand.name());
        let answers = with_thresholds(raw, MIN_PRECISION);
        print_table(&answers);
        for precision in COMPARED_PRECISIONS {
            print_sum(&format!("at {precision}"), &with_thresholds(raw, precision));
        }
        let reported = if options.contains(&"--sites") { AtHand::All } else { AtHand::Alone };
        if at_hand == reported {
            report(pages, &answers, raw, options)?;
        }
    }
    Ok(())
}

/// `fields-validate PAGES [--sites] [--answers FILE] [--wrong]`.
pub fn run_validate(path: &Path, options: &[&str]) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let rows = Rows::from_pages(&pages)?;
    eprintln!("{} rows of {} columns", rows.labels.len(), COLUMN_NAMES.len());
    print_all(&pages, &validate(&pages, &rows)?, options)
}

/// `fields-model PAGES MODEL`: from all pages, with the thresholds that answers of models without their kind give.
pub fn run_model(path: &Path, out: &Path, options: &[&str]) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let rows = Rows::from_pages(&pages)?;
    let raw = validate(&pages, &rows)?;
    print_all(&pages, &raw, options)?;
    let threshold = best_threshold(&raw[0].iter(), MIN_PRECISION);
    let on_site = best_threshold(&raw[1].iter().chain(&raw[2]), MIN_PRECISION);
    let mut ranker = rows.train(&pages, None);
    ranker.least = to_least(threshold);
    ranker.least_on_site = to_least(on_site);
    let bytes = ranker.to_bytes();
    eprintln!("{} bytes, thresholds {threshold:.3} and {on_site:.3}", bytes.len());
    let mut file =
        BufWriter::new(std::fs::File::create(out).map_err(|error| format!("{}: {error}", out.display()))?);
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(|error| error.to_string())
}

/// `fields-answers PAGES [--sites]`: rows `{"id","json"}` and the table of the built-in model, which has seen the
/// pages; with `--sites`, the other pages of its site are at hand for each page.
pub fn run_answers(path: &Path, options: &[&str]) -> Result<(), String> {
    let pages = pages::read_pages(crate::open(path)?)?;
    let at_hand = if options.contains(&"--sites") { AtHand::All } else { AtHand::Alone };
    let started = Instant::now();
    let judged: Vec<usize> = (0..pages.len()).collect();
    let all = fill_pages(&pages, &judged, at_hand, Ranker::built_in())?;
    for page in &pages {
        let given = all.iter().filter(|answer| answer.page == page.id);
        let json: BTreeMap<&str, &str> =
            given.filter_map(|answer| Some((answer.field.as_str(), answer.text.as_deref()?))).collect();
        println!("{}", serde_json::json!({"id": page.id, "json": json}));
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
