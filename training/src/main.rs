//! Trains the content model from annotated pages, and judges it by cross-validation.
//!
//!     gannet-training model PAGES.jsonl MODEL [--quick]                    the model file, from all pages
//!     gannet-training validate PAGES.jsonl [--nested] [--answers FILE]     F1 per page kind by five folds
//!
//! `--quick` grows a tenth of the trees: every step of the way, to see that it works, and no model to use.
//! Reads and writes only the files named on the command line.

mod align;
mod boost;
mod columns;
mod exact;
mod export;
mod judge;
mod lexicons;
mod pages;
mod table;

use boost::Recipe;
use content::select::{self, context::MAX_CLEARLY_OUT_PROBABILITY, model, outline::Outline};
use content::{Limits, PageSource};
use lexicons::Ballot;
use pages::FOLDS;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use table::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["model", pages, out] => build_model(Path::new(pages), Path::new(out), 1),
        ["model", pages, out, "--quick"] => build_model(Path::new(pages), Path::new(out), 10),
        ["validate", pages, ref options @ ..] => validate(Path::new(pages), options),
        _ => Err("usage: gannet-training model PAGES.jsonl MODEL [--quick] | validate PAGES.jsonl [--nested] [--answers FILE]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|error| format!("{}: {error}", path.display()))
}

fn first_recipe() -> Recipe {
    Recipe {
        trees: 150,
        depth: model::DEPTH,
        rate: 0.08,
        page_share: 0.6,
        column_share: 0.3,
        l2: 4.0,
        least_weight: 15.0,
        seed: 1,
    }
}

fn second_recipe() -> Recipe {
    Recipe { trees: 300, rate: 0.05, seed: 2, ..first_recipe() }
}

/// Trains on all pages and writes the model file, with one in so many of the trees.
fn build_model(pages: &Path, out: &Path, one_in: usize) -> Result<(), String> {
    let started = Instant::now();
    let fewer = |recipe: Recipe| Recipe { trees: recipe.trees / one_in, ..recipe };
    let (first_recipe, second_recipe) = (fewer(first_recipe()), fewer(second_recipe()));
    let pages = pages::read_pages(open(pages)?)?;
    let ballot = Ballot::from_pages(&pages);
    let mut table = Table::from_pages(&pages);
    let tables = table.read_for(&ballot, None);
    let first_width = table.names.len();
    // The second pass must learn from judgements like those it will meet: by models that never saw the page.
    let mut chances = vec![0.0f32; table.labels.len()];
    for fold in 0..FOLDS {
        let forest = table.fit(&table.rows(|found| found != fold), &first_recipe);
        table.judge(&forest, &table.rows(|found| found == fold), &mut chances);
        eprintln!("first pass, fold {fold}: {:.0} s", started.elapsed().as_secs_f64());
    }
    let all = table.rows(|_| true);
    let first = table.fit(&all, &first_recipe);
    table.read_context(&chances);
    let second = table.fit(&still_open(all, &chances), &second_recipe);
    let columns = &table.columns;
    let file =
        export::parts(&table.names, first_width, tables, [(&first, columns), (&second, columns)]).to_bytes();
    eprintln!("{} bytes, {:.0} s", file.len(), started.elapsed().as_secs_f64());
    std::fs::write(out, file).map_err(|error| format!("{}: {error}", out.display()))
}

/// The rows that the first pass leaves to the second.
fn still_open(rows: Vec<u32>, chances: &[f32]) -> Vec<u32> {
    rows.into_iter().filter(|&row| chances[row as usize] >= MAX_CLEARLY_OUT_PROBABILITY).collect()
}

/// Cross-validation. The plain kind trains the second pass of a fold on first-pass judgements by models that saw
/// that fold; `--nested` makes them anew for each fold, from the fold's own training pages alone.
fn validate(path: &Path, options: &[&str]) -> Result<(), String> {
    let started = Instant::now();
    let pages = pages::read_pages(open(path)?)?;
    let ballot = Ballot::from_pages(&pages);
    let mut table = Table::from_pages(&pages);
    eprintln!("{} rows, {:.0} s", table.labels.len(), started.elapsed().as_secs_f64());
    let nested = options.contains(&"--nested");
    let mut first = vec![0.0f32; table.labels.len()];
    let mut second = first.clone();
    if !nested {
        for fold in 0..FOLDS {
            table.read_for(&ballot, Some(fold));
            let forest = table.fit(&table.rows(|found| found != fold), &first_recipe());
            table.judge(&forest, &table.rows(|found| found == fold), &mut first);
            eprintln!("first pass, fold {fold}: {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    for fold in 0..FOLDS {
        table.read_for(&ballot, Some(fold));
        let mut chances = first.clone();
        if nested {
            for inner in (0..FOLDS).filter(|&inner| inner != fold) {
                let forest = table.fit(&table.rows(|found| found != fold && found != inner), &first_recipe());
                table.judge(&forest, &table.rows(|found| found == inner), &mut chances);
            }
            let forest = table.fit(&table.rows(|found| found != fold), &first_recipe());
            table.judge(&forest, &table.rows(|found| found == fold), &mut chances);
            for row in table.rows(|found| found == fold) {
                first[row as usize] = chances[row as usize];
            }
        }
        table.read_context(&chances);
        let open = |rows: Vec<u32>| still_open(rows, &chances);
        let forest = table.fit(&open(table.rows(|found| found != fold)), &second_recipe());
        for row in table.rows(|found| found == fold) {
            second[row as usize] = chances[row as usize];
        }
        table.judge(&forest, &open(table.rows(|found| found == fold)), &mut second);
        eprintln!("second pass, fold {fold}: {:.0} s", started.elapsed().as_secs_f64());
    }
    judge::print("blocks, perfect", &pages, &judge::page_scores(&table, &table.labels));
    judge::print("first pass", &pages, &judge::page_scores(&table, &first));
    judge::print("second pass", &pages, &judge::page_scores(&table, &second));
    let starts = table.starts.clone();
    match options.iter().position(|option| *option == "--answers") {
        Some(at) => {
            let answers = Path::new(options.get(at + 1).ok_or("--answers needs a file")?);
            write_answers(path, answers, &second, &starts)
        }
        None => Ok(()),
    }
}

/// Writes each page as the product would, chosen by the model that did not see it: rows `{"id","markdown"}` for a scorer.
fn write_answers(pages: &Path, answers: &Path, chances: &[f32], starts: &[usize]) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", answers.display());
    let mut out = BufWriter::new(File::create(answers).map_err(fail)?);
    let rows = open(pages)?.lines().filter(|line| line.as_ref().is_ok_and(|line| !line.trim().is_empty()));
    let mut widened = 0;
    for (number, line) in rows.enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let row: pages::Annotated = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let source = PageSource {
            bytes: row.html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            ..PageSource::default()
        };
        let page = content::Page::parse(&source, &Limits::default());
        let outline = Outline::from_dom(page.dom());
        let chances = &chances[starts[number]..starts[number + 1]];
        if chances.len() != outline.blocks.len() {
            return Err(format!("page {} was read differently the second time", row.id));
        }
        let selection = select::choose(page.dom(), &outline, chances);
        widened += usize::from(selection.widened);
        let answer = serde_json::json!({"id": row.id, "markdown": page.markdown(&selection, true)});
        writeln!(out, "{answer}").map_err(fail)?;
    }
    println!("the guard widened {widened} pages");
    out.flush().map_err(fail)
}
