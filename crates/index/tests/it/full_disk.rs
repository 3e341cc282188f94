//! The disk is full while the index is written: the write fails, committed entries are found, and the same
//! index works again once there is space.

use crate::{Fixture, page, query, small};
use index::{Index, Options};
use std::path::PathBuf;
use std::process::Command;
use testkit::SmallDisk;

const CHILD: &str = "GANNET_INDEX_FULL_DISK";

#[test]
fn a_full_disk_does_not_stop_the_index_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(&folder.path().join("disk"), "3m");
    let words = disk.enter(folder.path());
    let output = Command::new(&words[0])
        .args(&words[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["full_disk::writes_on_a_small_disk", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, folder.path().join("disk"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("writing continued"), "{}", text(&output.stdout));
}

/// Runs in a process of its own on the small disk.
#[test]
#[ignore = "not a test: the process on the small disk"]
fn writes_on_a_small_disk() {
    let disk = PathBuf::from(std::env::var_os(CHILD).expect("started by another test only"));
    let index = Index::open(&disk.join("index"), small(Options::default())).unwrap();
    let mut fixture = Fixture { folder: tempfile::tempdir().unwrap(), seq: 0, index };
    let filler = disk.join("filler");
    let mut committed = 0;
    for round in 0..6 {
        // Fill the disk, leaving a little more space each time, so that the write fails at different places.
        let _ = std::fs::write(&filler, vec![1; 3 << 20]);
        let left = std::fs::metadata(&filler).unwrap().len().saturating_sub(round * 6_000);
        std::fs::OpenOptions::new().write(true).open(&filler).unwrap().set_len(left).unwrap();
        let mut failed = false;
        for attempt in 0..40 {
            fixture.seq = committed;
            if add(&mut fixture, round * 100 + attempt).is_err() {
                failed = true;
                break;
            }
            committed = fixture.seq;
        }
        assert!(failed, "round {round}: the disk was not full");
        assert_eq!(fixture.index.last_seq().unwrap(), committed);
        if committed > 0 {
            assert!(!fixture.ask("gannet").is_empty(), "committed entries are found");
        }
        // Some more attempts while the disk is full.
        for attempt in 50..53 {
            fixture.seq = committed;
            if add(&mut fixture, round * 100 + attempt).is_ok() {
                committed = fixture.seq;
            }
        }
        std::fs::remove_file(&filler).unwrap();
        fixture.seq = committed;
        add(&mut fixture, round * 100 + 99).expect("there is space again");
        committed = fixture.seq;
        assert_eq!(fixture.index.status().unwrap().documents, committed.cast_unsigned());
        assert_eq!(fixture.index.search(&query("gannet")).unwrap().searched, committed.cast_unsigned());
    }
    println!("writing continued");
}

/// Adds some pages and commits them.
fn add(fixture: &mut Fixture, number: u64) -> index::Result<()> {
    let pages = (0..5).map(|part| {
        let words: Vec<String> =
            (0..300).map(|word| format!("w{}", number * 7_919 + part * 104_729 + word * 31)).collect();
        page(
            &format!("https://{number}.example/{part}"),
            "page",
            &format!("The gannet dives. {}", words.join(" ")),
        )
    });
    let entries = pages.map(|document| fixture.entry(document)).collect();
    fixture.index.feed(entries)?;
    fixture.index.commit()?;
    Ok(())
}
