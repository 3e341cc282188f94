//! Reads HTML files below a folder and compares their markdown with them: code blocks byte for byte, titles,
//! cells of data tables, lists. Once for the whole page, where everything visible must be found, and once for
//! the main content, where the difference is what selection left out.

mod expected;
mod written;

use anyhow::Result;
use content::{ContentScope, Limits, Page, PageSource};
use expected::{Expected, Kind};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use url::Url;
use written::Written;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    folder: PathBuf,
    /// At most so many files, evenly from the folders in FOLDER, the same ones every time.
    #[arg(default_value_t = 2_000)]
    pages: usize,
    /// How many of what was not found to print for each kind.
    #[arg(default_value_t = 0)]
    examples: usize,
}

/// What was found of one kind of one package.
#[derive(Clone, Copy, Default)]
struct Count {
    all: usize,
    whole: usize,
    main: usize,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report { examples: arguments.examples, ..Report::default() };
    let files = choose_files(&arguments.folder, arguments.pages)?;
    for (package, file) in &files {
        check_page(package, file, &mut report)?;
    }
    println!("{} pages", files.len());
    report.print();
    Ok(())
}

#[derive(Default)]
struct Report {
    counts: BTreeMap<(Kind, String), Count>,
    examples: usize,
    shown: BTreeMap<(Kind, String, bool), usize>,
}

impl Report {
    fn add(&mut self, package: &str, file: &Path, item: &expected::Item, whole: bool, main: bool) {
        let count = self.counts.entry((item.kind, package.to_owned())).or_default();
        count.all += 1;
        count.whole += usize::from(whole);
        count.main += usize::from(main);
        if !whole || !main {
            let shown = self.shown.entry((item.kind, package.to_owned(), whole)).or_default();
            *shown += 1;
            if *shown <= self.examples {
                let by = if whole { "selection" } else { "writer" };
                let text: String = item.text.chars().take(90).collect();
                println!("{by}: {:?} {} {} {text:?}", item.kind, file.display(), item.place);
            }
        }
    }

    fn print(&self) {
        println!("{:<8} {:<24} {:>7} {:>18} {:>18}", "", "", "all", "whole page", "main content");
        let mut totals: BTreeMap<Kind, Count> = BTreeMap::new();
        for ((kind, package), count) in &self.counts {
            print_row(*kind, package, *count);
            let total = totals.entry(*kind).or_default();
            total.all += count.all;
            total.whole += count.whole;
            total.main += count.main;
        }
        for (kind, count) in totals {
            print_row(kind, "all", count);
        }
    }
}

fn print_row(kind: Kind, package: &str, count: Count) {
    let share = |found: usize| 100.0 * found as f64 / count.all.max(1) as f64;
    println!(
        "{:<8} {package:<24} {:>7} {:>8} {:>7.2} % {:>8} {:>7.2} %",
        format!("{kind:?}"),
        count.all,
        count.whole,
        share(count.whole),
        count.main,
        share(count.main)
    );
}

fn check_page(package: &str, file: &Path, report: &mut Report) -> Result<()> {
    let bytes = fs::read(file)?;
    let url = Url::parse("https://example.org/docs/page.html")?;
    let source = PageSource { bytes: &bytes, content_type: None, url: Some(&url), status: Some(200) };
    let page = Page::parse(&source, &Limits::default());
    let expected = Expected::from_dom(page.dom());
    let scope = |only_main_content| ContentScope { only_main_content, ..ContentScope::default() };
    let whole = Written::from_markdown(&page.markdown(&page.select(&scope(false))?, true));
    let main = Written::from_markdown(&page.markdown(&page.select(&scope(true))?, true));
    for item in &expected.items {
        report.add(package, file, item, whole.has(item), main.has(item));
    }
    Ok(())
}

/// The files to read with the folder each belongs to: evenly from all folders, evenly within each.
fn choose_files(folder: &Path, pages: usize) -> Result<Vec<(String, PathBuf)>> {
    let mut packages: Vec<(String, Vec<PathBuf>)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let mut files = html_files(entry.path())?;
        files.sort();
        if !files.is_empty() {
            packages.push((entry.file_name().to_string_lossy().into_owned(), files));
        }
    }
    packages.sort_by_key(|(name, files)| (files.len(), name.clone()));
    let mut chosen = Vec::new();
    let mut left = pages;
    let count = packages.len();
    for (at, (name, files)) in packages.into_iter().enumerate() {
        let share = (left / (count - at)).min(files.len());
        left -= share;
        let step = |n: usize| n * files.len() / share.max(1);
        chosen.extend((0..share).map(|n| (name.clone(), files[step(n)].clone())));
    }
    Ok(chosen)
}

/// All HTML files below a path, links not followed.
fn html_files(path: PathBuf) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![path]);
    while let Some(path) = open.pop() {
        let kind = fs::symlink_metadata(&path)?.file_type();
        if kind.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "html" || end == "htm") {
            found.push(path);
        }
    }
    Ok(found)
}
