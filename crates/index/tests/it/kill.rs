//! A process that is killed while it writes: what it had committed is there, and the feed goes on from it.

use crate::{Ground, page, query, small};
use index::{Index, Opened, Options};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CHILD: &str = "GANNET_INDEX_KILLED";
/// Entries of one commit.
const BATCH: i64 = 20;

/// What is killed: feeds for ever, and says how far it has come. Does nothing when it is run as a test.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let index = Index::open(&folder, small(Options::default())).unwrap();
    let mut ground = Ground { folder: tempfile::tempdir().unwrap(), seq: index.last_seq().unwrap(), index };
    loop {
        let numbers = ground.seq..ground.seq + BATCH;
        let pages =
            numbers.map(|number| page(&format!("https://{number}.example/"), "page", "The gannet dives."));
        ground.add(pages.collect::<Vec<_>>());
        println!("\ncommitted {}", ground.seq);
    }
}

#[test]
fn a_killed_process_loses_nothing_it_had_committed() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 1..=4 {
        let said = kill_after(folder.path(), round);
        let index = Index::open(folder.path(), small(Options::default())).unwrap();
        assert_eq!(index.opened(), &Opened::Existing);
        let last = index.last_seq().unwrap();
        assert!(last >= said && said > before, "it said {said}, there is {last}");
        let found = index.search(&query("gannet")).unwrap();
        assert_eq!(
            (found.searched, index.status().unwrap().documents),
            (last.cast_unsigned(), last.cast_unsigned())
        );
        before = last;
    }
}

/// Lets a process write, kills it after so many commits, and returns how far it said it had come.
fn kill_after(folder: &Path, commits: usize) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::writes_until_it_is_killed", "--exact", "--nocapture"])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("committed ").and_then(|seq| seq.parse().ok()))
        .nth(commits - 1);
    child.kill().unwrap();
    child.wait().unwrap();
    said.unwrap()
}
