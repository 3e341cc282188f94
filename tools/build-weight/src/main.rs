//! Prints where the machine code and the time of a finished build went. Owns the three tables and how files
//! are found; never builds anything itself.
//!
//! `cargo build --release --timings -p gannet && cargo run -p gannet-build-weight` prints, for
//! `target/release`:
//! 1. for each of our crates how much code its object has, and how much of that are functions of the crate
//!    itself. The rest are functions of other crates that were compiled here: generic ones, and the bodies of
//!    `async fn` that this crate polls;
//! 2. how much code stands in the program more than once, and which functions weigh most of it;
//! 3. the units that took longest to compile, when the build had `--timings`.
//!
//! Another folder can be named: `cargo run -p gannet-build-weight -- /somewhere/release`. It needs `nm` of
//! binutils, and a program with its symbols: a `dist` build has none.

mod libraries;
mod nm;
mod repeated;
mod timings;

use libraries::Library;
use nm::Symbol;
use repeated::Repeated;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const DEFAULT_FOLDER: &str = "target/release";
const PROGRAM: &str = "gannet";
const MAX_REPEATED: usize = 20;
const MAX_UNITS: usize = 20;

fn main() -> ExitCode {
    let folder = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => PathBuf::from(DEFAULT_FOLDER),
        [folder] if !folder.starts_with('-') => PathBuf::from(folder),
        _ => {
            eprintln!("usage: build-weight [FOLDER OF A PROFILE, such as {DEFAULT_FOLDER}]");
            return ExitCode::from(2);
        }
    };
    match run(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("build-weight: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> Result<(), String> {
    let libraries = libraries::find(&folder.join("deps"))?;
    let mut rows = Vec::new();
    for Library { crate_name, file, .. } in libraries.iter().filter(|library| library.is_ours) {
        let symbols = nm::read_symbols(file)?;
        rows.push((crate_name, own_bytes(&symbols, crate_name), nm::total_bytes(&symbols)));
    }
    if rows.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "no library of ours in {folder}/deps; build with `cargo build --release -p gannet` first"
        ));
    }
    rows.sort_by_key(|(_, _, all)| std::cmp::Reverse(*all));
    println!("{:<28} {:>9} {:>9} {:>5}", "crate", "code KB", "own KB", "own");
    for (name, own, all) in rows {
        println!("{name:<28} {:>9} {:>9} {:>4}%", all >> 10, own >> 10, own * 100 / all.max(1));
    }

    let program = folder.join(PROGRAM);
    let symbols = nm::read_symbols(&program)?;
    if symbols.is_empty() {
        return Err(format!("{} has no symbols; build it without `strip`", program.display()));
    }
    print_repeated(&symbols, &objects_of_symbols(&libraries)?);
    print_longest_units(&folder.join("../cargo-timings/cargo-timing.html"))
}

fn own_bytes(symbols: &[Symbol], crate_name: &str) -> u64 {
    symbols.iter().filter(|symbol| nm::belongs_to(&symbol.name, crate_name)).map(|symbol| symbol.bytes).sum()
}

fn print_repeated(symbols: &[Symbol], objects: &HashMap<String, usize>) {
    let repeated = repeated::find(symbols, objects);
    let bytes: u64 = repeated.iter().map(Repeated::extra_bytes).sum();
    let linked = symbols.iter().filter(|symbol| !objects.contains_key(&symbol.mangled));
    let linked: Vec<_> = linked.cloned().collect();
    println!("\n{} of code in the program", megabytes(nm::total_bytes(symbols)));
    println!(
        "{} of that in no library (compiled with the program, or Rust's own); {} are its own functions",
        megabytes(nm::total_bytes(&linked)),
        megabytes(own_bytes(&linked, PROGRAM))
    );
    println!(
        "{} of that under a name and size that occurs before, {} of those from another object",
        megabytes(repeated::same_name_bytes(symbols)),
        megabytes(bytes)
    );
    println!("{:>9} {:>7}  function", "extra KB", "times");
    for one in repeated.iter().take(MAX_REPEATED) {
        println!("{:>9} {:>7}  {}", one.extra_bytes() >> 10, one.extra_copies + 1, one.name);
    }
}

fn print_longest_units(report: &Path) -> Result<(), String> {
    let Ok(html) = fs::read_to_string(report) else {
        println!("\nno times of units: there is no {}; build with `--timings`", report.display());
        return Ok(());
    };
    let units = timings::parse(&html).map_err(|error| format!("{}: {error}", report.display()))?;
    println!("\n{:>9} {:>9}  unit", "seconds", "start");
    for unit in units.iter().take(MAX_UNITS) {
        println!("{:>9.1} {:>9.1}  {}", unit.seconds, unit.start, unit.name);
    }
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / f64::from(1 << 20))
}

/// Which library each symbol was compiled in.
fn objects_of_symbols(libraries: &[Library]) -> Result<HashMap<String, usize>, String> {
    let mut objects = HashMap::new();
    for (number, library) in libraries.iter().enumerate() {
        let symbols = nm::read_symbols(&library.file)?;
        objects.extend(symbols.into_iter().map(|symbol| (symbol.mangled, number)));
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_build_is_named_in_the_error() {
        let error = run(Path::new("/nowhere/release")).unwrap_err();
        assert!(error.starts_with("/nowhere/release/deps: "), "{error}");
    }
}
