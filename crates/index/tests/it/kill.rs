//! A process is killed while it writes: everything committed is kept, and the feed continues from it.

use crate::{Fixture, page, query, small};
use index::{Index, OpenState, Options};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CHILD: &str = "GANNET_INDEX_KILLED";
/// Entries of one commit.
const BATCH: i64 = 20;

/// Writes for ever and prints how far it has come.
#[test]
#[ignore = "not a test: the process that is killed"]
fn writes_until_it_is_killed() {
    let folder = PathBuf::from(std::env::var_os(CHILD).expect("started by another test only"));
    let index = Index::open(&folder, small(Options::default())).unwrap();
    let mut fixture = Fixture { folder: tempfile::tempdir().unwrap(), seq: index.last_seq().unwrap(), index };
    loop {
        let numbers = fixture.seq..fixture.seq + BATCH;
        let pages =
            numbers.map(|number| page(&format!("https://{number}.example/"), "page", "The gannet dives."));
        fixture.add(pages.collect::<Vec<_>>());
        println!("\ncommitted {}", fixture.seq);
    }
}

#[test]
fn a_killed_process_loses_nothing_it_had_committed() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 1..=4 {
        let printed = kill_after(folder.path(), round);
        let index = Index::open(folder.path(), small(Options::default())).unwrap();
        assert_eq!(index.opened(), &OpenState::Existing);
        let last = index.last_seq().unwrap();
        assert!(last >= printed && printed > before, "it printed {printed}, the index has {last}");
        let found = index.search(&query("gannet")).unwrap();
        assert_eq!(
            (found.searched, index.status().unwrap().documents),
            (last.cast_unsigned(), last.cast_unsigned())
        );
        before = last;
    }
}

/// Starts a writing process, kills it after `commits` commits, and returns the last number that it printed.
fn kill_after(folder: &Path, commits: usize) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::writes_until_it_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let printed = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("committed ").and_then(|seq| seq.parse().ok()))
        .nth(commits - 1);
    child.kill().unwrap();
    child.wait().unwrap();
    printed.unwrap()
}
