//! Trains the content model from annotated pages, and judges it by cross-validation.
//!
//!     gannet-training model MODEL PAGES.jsonl… [--quick] [--table] the model file, from all pages
//!     gannet-training judge MODEL PAGES.jsonl… [--answers FILE]   figures of a model file: honest for pages that
//!                                                                 it was not trained on
//!     gannet-training validate PAGES.jsonl… [--nested] [--answers FILE] [--chances FILE]
//!                                                                 figures of each file by five folds
//!     gannet-training fields-model PAGES.jsonl MODEL                       the ranker of field values
//!     gannet-training fields-validate PAGES.jsonl [--sites] [--wrong] [--answers FILE]   by kinds of pages held out
//!     gannet-training fields-answers PAGES.jsonl [--sites]                 answers of the built-in ranker
//!
//! `--quick` grows a tenth of the trees: every step of the way, to see that it works, and no model to use.
//! `--table` then prints figures by five folds that share the model's first pass: sooner than `validate`.
//! `--answers` writes the markdown of each page for another scorer. `--chances` keeps the judgements in a file and
//! takes them from there when it exists, so that a change to the choice alone is judged without training.
//! Reads and writes only the files named on the command line.

mod align;
mod boost;
mod columns;
mod exact;
mod export;
mod fields;
mod judge;
mod lexicons;
mod official;
mod pages;
mod table;

use boost::Recipe;
use content::select::{context::MAX_CLEARLY_OUT_PROBABILITY, model};
use lexicons::Ballot;
use official::Judge;
use pages::FOLDS;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use table::Table;

const USAGE: &str = "usage: gannet-training model MODEL PAGES.jsonl… [--quick] [--table] | \
    judge MODEL PAGES.jsonl… [--answers FILE] | validate PAGES.jsonl… [--nested] [--answers FILE] [--chances FILE] | \
    fields-model PAGES.jsonl MODEL | fields-validate PAGES.jsonl [--sites] [--wrong] [--answers FILE] | fields-answers PAGES.jsonl [--sites]";

/// What was asked for on the command line.
#[derive(Default)]
struct Options {
    files: Vec<PathBuf>,
    quick: bool,
    table: bool,
    nested: bool,
    answers: Option<PathBuf>,
    chances: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut file = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} needs a file"));
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--table" => options.table = true,
                "--nested" => options.nested = true,
                "--answers" => options.answers = Some(file()?),
                "--chances" => options.chances = Some(file()?),
                other if other.starts_with("--") => return Err(USAGE.to_owned()),
                _ => options.files.push(PathBuf::from(argument)),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["fields-model", pages, out, options @ ..] => {
            fields::run_model(Path::new(pages), Path::new(out), options)
        }
        ["fields-validate", pages, options @ ..] => fields::run_validate(Path::new(pages), options),
        ["fields-answers", pages, options @ ..] => fields::run_answers(Path::new(pages), options),
        _ => run_content(arguments.into_iter()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The commands about the content model.
fn run_content(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let command = arguments.next().unwrap_or_default();
    let options = Options::parse(arguments)?;
    match (command.as_str(), &options.files[..]) {
        ("model", [out, files @ ..]) if !files.is_empty() => build_model(files, out, &options),
        ("judge", [model, files @ ..]) if !files.is_empty() => judge_model(model, files, &options),
        ("validate", [_, ..]) => validate(&options),
        _ => Err(USAGE.to_owned()),
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

/// Trains on all pages and writes the model file.
fn build_model(files: &[PathBuf], out: &Path, options: &Options) -> Result<(), String> {
    let started = Instant::now();
    let one_in = if options.quick { 10 } else { 1 };
    let fewer = |recipe: Recipe| Recipe { trees: recipe.trees / one_in, ..recipe };
    let (first_recipe, second_recipe) = (fewer(first_recipe()), fewer(second_recipe()));
    let pages = pages::read_pages(files)?;
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
    std::fs::write(out, file).map_err(|error| format!("{}: {error}", out.display()))?;
    if !options.table {
        return Ok(());
    }
    let mut second = chances.clone();
    for fold in 0..FOLDS {
        let forest = table.fit(&still_open(table.rows(|found| found != fold), &chances), &second_recipe);
        table.judge(&forest, &still_open(table.rows(|found| found == fold), &chances), &mut second);
        eprintln!("second pass, fold {fold}: {:.0} s", started.elapsed().as_secs_f64());
    }
    report(files, options, &table, &chances, &second)
}

/// The rows that the first pass leaves to the second.
fn still_open(rows: Vec<u32>, chances: &[f32]) -> Vec<u32> {
    rows.into_iter().filter(|&row| chances[row as usize] >= MAX_CLEARLY_OUT_PROBABILITY).collect()
}

/// Cross-validation. The plain kind trains the second pass of a fold on first-pass judgements by models that saw
/// that fold; `--nested` makes them anew for each fold, from the fold's own training pages alone.
fn cross_validate(options: &Options) -> Result<(), String> {
    let started = Instant::now();
    let pages = pages::read_pages(&options.files)?;
    let ballot = Ballot::from_pages(&pages);
    let mut table = Table::from_pages(&pages);
    eprintln!("{} rows, {:.0} s", table.labels.len(), started.elapsed().as_secs_f64());
    let nested = options.nested;
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
    report(&options.files, options, &table, &first, &second)
}

/// Prints the figures of both passes, and keeps the judgements where that was asked for.
fn report(
    files: &[PathBuf],
    options: &Options,
    table: &Table,
    first: &[f32],
    second: &[f32],
) -> Result<(), String> {
    judge::print("blocks, perfect", files.len(), table, &table.labels);
    judge::print("first pass", files.len(), table, first);
    judge::print("second pass", files.len(), table, second);
    let by_page: Vec<Vec<f32>> =
        table.starts.windows(2).map(|range| second[range[0]..range[1]].to_vec()).collect();
    if let Some(file) = &options.chances {
        let text = serde_json::to_string(&by_page).map_err(|error| error.to_string())?;
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    official::judge(files, Judge::Chances(&by_page), options.answers.as_deref())
}

/// Judges each page by models that did not see its site, and prints the figures of each file.
fn validate(options: &Options) -> Result<(), String> {
    let Some(file) = options.chances.as_deref().filter(|file| file.exists()) else {
        return cross_validate(options);
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let chances: Vec<Vec<f32>> =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    official::judge(&options.files, Judge::Chances(&chances), options.answers.as_deref())
}

/// Prints the figures of a model file over the pages of each file.
fn judge_model(model: &Path, files: &[PathBuf], options: &Options) -> Result<(), String> {
    let file = std::fs::read(model).map_err(|error| format!("{}: {error}", model.display()))?;
    let parsed = model::Model::parse(&file, content::select::columns().1)
        .map_err(|error| format!("{}: {error:?}", model.display()))?;
    official::judge(files, Judge::Model(&parsed), options.answers.as_deref())
}
