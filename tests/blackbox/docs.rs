//! The commands of README and docs, each run as it stands there, in the order of its page: against one real server, in
//! the folder that the server was started in, with the hosts of other people replaced by a site of this test. What is
//! not run is in a table with its reason (`docs/tables.rs`); a command that is neither run nor listed fails the test,
//! and so does an entry that no command has any more.

mod commands;
mod ground;
mod tables;

use commands::DocCommand;
use ground::Ground;
use std::path::{Path, PathBuf};
use tables::{BEFORE, CAPTURES, EXPECTED, INTERRUPTED, NOT_RUN};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).expect("docs").flatten().map(|entry| entry.path());
    let mut pages: Vec<_> = docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    pages.push(root.join("examples/README.md"));
    pages
}

/// The name of a page in the tables.
fn shown(page: &Path) -> String {
    let name = page.file_name().unwrap().to_string_lossy().into_owned();
    if page.parent().is_some_and(|folder| folder.ends_with("examples")) {
        format!("examples/{name}")
    } else {
        name
    }
}

/// The value of the entry that a command begins with; an entry without words is for all of its page.
fn find<T: Copy>(table: &[(&str, &str, T)], command: &DocCommand) -> Option<T> {
    let matches =
        |(page, start, _): &&(&str, &str, T)| command.page == *page && command.text.starts_with(*start);
    table.iter().find(matches).map(|(.., value)| *value)
}

#[tokio::test]
async fn the_commands_of_the_documentation_do_what_it_says() {
    let commands: Vec<DocCommand> = pages()
        .iter()
        .flat_map(|page| {
            let text = std::fs::read_to_string(page).expect("a page");
            commands::read(&shown(page), &text)
        })
        .collect();
    assert!(commands.len() > 100, "{} commands were found", commands.len());
    let entries = NOT_RUN.iter().map(|(page, start, _)| (*page, *start));
    let entries = entries.chain(EXPECTED.iter().map(|(page, start, _)| (*page, *start)));
    let entries = entries.chain(BEFORE.iter().map(|(page, start, _)| (*page, *start)));
    let entries = entries.chain(CAPTURES.iter().map(|(page, start, _)| (*page, *start)));
    let is_used = |(page, start): &(&str, &str)| {
        commands.iter().any(|command| command.page == *page && command.text.starts_with(start))
    };
    let stale: Vec<_> = entries.filter(|entry| !is_used(entry)).collect();
    assert!(stale.is_empty(), "no command begins like these entries of docs/tables.rs: {stale:?}");

    let mut ground = Ground::prepare().await;
    let (mut failed, mut ran) = (Vec::new(), 0);
    for command in &commands {
        if find(NOT_RUN, command).is_some() {
            continue;
        }
        ran += 1;
        let expected = find(EXPECTED, command).unwrap_or(0);
        let outcome = ground.run(command, find(BEFORE, command), expected != INTERRUPTED);
        let is_refused = expected == 0 && outcome.output.contains("\"success\":false");
        if outcome.code != Some(expected) || is_refused {
            failed.push(format!(
                "{}:{}: ended with {:?}, {expected} was expected\n{}\n{}",
                command.page, command.line, outcome.code, command.text, outcome.output
            ));
        }
        if let Some(name) = find(CAPTURES, command) {
            ground.capture(name, &outcome.output);
        }
    }
    println!("{ran} commands were run, {} are listed as not run", commands.len() - ran);
    assert!(failed.is_empty(), "{} of {ran} failed:\n\n{}", failed.len(), failed.join("\n\n"));
}
