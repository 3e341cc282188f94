//! Pages of two releases of documentation, such as the HTML of two versions of a package. Both folders have a folder
//! for each package, named `NAME-VERSION`, the same names in both; a pair are two files of the same path below them.
//! Files that are byte for byte the same are left out: they would only flatter.

use super::Printing;
use super::classes::{Class, classify};
use super::score::Score;
use super::watched::{Reading, Watched, parse_page};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The packages of the earlier release.
    before: PathBuf,
    /// Those of the later one.
    after: PathBuf,
    /// At most so many pairs, evenly from the packages, the same ones every time.
    #[arg(long, default_value_t = 300)]
    pairs: usize,
    #[command(flatten)]
    printing: Printing,
}

/// A package in both releases.
struct Package {
    name: String,
    before: PathBuf,
    after: PathBuf,
    versions: (String, String),
    /// Paths of pages that are in both and differ.
    pages: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let printing = &arguments.printing;
    let packages = find_packages(&arguments.before, &arguments.after)?;
    let (mut all, mut by_package) = (Score::default(), BTreeMap::<&str, Score>::new());
    let mut by_class = BTreeMap::<Class, Score>::new();
    for (package, page) in choose_pages(&packages, arguments.pairs) {
        let url = format!("https://docs.example/{}/{}", package.name, page.display());
        let html = |folder: &Path| fs::read(folder.join(page)).with_context(|| page.display().to_string());
        let before = parse_page(&html(&package.before)?, &url);
        let after = parse_page(&html(&package.after)?, &url);
        let (from, to) = &package.versions;
        let class = classify((before.dom(), from), (after.dom(), to));
        let is_change = class == Class::Change;
        let mut watched = Watched::begin(Reading::from_page(&before, printing.text_only)?)?;
        // A release stays.
        let later = Reading::from_page(&after, printing.text_only)?;
        let checked = watched.check_until_told(&later, is_change);
        checked.print(&format!("{url} {from} -> {to}, {class:?}"), printing);
        all.add(checked.outcome, is_change);
        by_package.entry(&package.name).or_default().add(checked.outcome, is_change);
        by_class.entry(class).or_default().add(checked.outcome, is_change);
    }
    for (name, score) in &by_package {
        println!("{name:24} {score}");
    }
    for (class, score) in &by_class {
        println!("{:24} {score}", format!("{class:?}"));
    }
    println!("{:24} {all}", "all");
    Ok(())
}

fn find_packages(before: &Path, after: &Path) -> Result<Vec<Package>> {
    let folders = |folder: &Path| -> Result<BTreeMap<String, (String, PathBuf)>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let named =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
            let Some((name, version)) = named else { continue };
            found.insert(name.to_owned(), (version.to_owned(), path.clone()));
        }
        Ok(found)
    };
    let (before, mut after) = (folders(before)?, folders(after)?);
    let mut packages = Vec::new();
    for (name, (from, before)) in before {
        let Some((to, after)) = after.remove(&name) else { continue };
        let mut pages = different_pages(&before, &after)?;
        pages.sort();
        packages.push(Package { name, before, after, versions: (from, to), pages });
    }
    ensure!(!packages.is_empty(), "no folder NAME-VERSION that is in both");
    Ok(packages)
}

/// The pages that both have, with other bytes; links are not followed.
fn different_pages(before: &Path, after: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![before.to_path_buf()]);
    while let Some(path) = open.pop() {
        let kind = fs::symlink_metadata(&path)?.file_type();
        if kind.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "html" || end == "htm") {
            let page = path.strip_prefix(before)?;
            let other = after.join(page);
            if other.is_file() && fs::read(&path)? != fs::read(&other)? {
                found.push(page.to_path_buf());
            }
        }
    }
    Ok(found)
}

/// So many pairs, evenly from all packages and evenly within each.
fn choose_pages(packages: &[Package], pairs: usize) -> Vec<(&Package, &PathBuf)> {
    let mut packages: Vec<&Package> = packages.iter().collect();
    packages.sort_by_key(|package| package.pages.len());
    let (mut chosen, mut left) = (Vec::new(), pairs);
    for (at, package) in packages.iter().enumerate() {
        let share = (left / (packages.len() - at)).min(package.pages.len());
        left -= share;
        chosen.extend((0..share).map(|n| (*package, &package.pages[n * package.pages.len() / share])));
    }
    chosen
}
