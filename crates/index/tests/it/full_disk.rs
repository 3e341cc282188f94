//! A disk that is full while the index is written: the write fails, what was committed is found, and the same index goes on when
//! there is room again.

use crate::{Ground, page, query, small};
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
        .args(["full_disk::writes_on_a_small_disk", "--exact", "--nocapture"])
        .env(CHILD, folder.path().join("disk"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("it went on"), "{}", text(&output.stdout));
}

/// Runs on the small disk. Does nothing when it is run as a test.
#[test]
fn writes_on_a_small_disk() {
    let Some(disk) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let index = Index::open(&disk.join("index"), small(Options::default())).unwrap();
    let mut ground = Ground { folder: tempfile::tempdir().unwrap(), seq: 0, index };
    let filler = disk.join("filler");
    let mut committed = 0;
    for round in 0..6 {
        // As much as is left, and a little less each time: the write fails at one place or another.
        let _ = std::fs::write(&filler, vec![1; 3 << 20]);
        let left = std::fs::metadata(&filler).unwrap().len().saturating_sub(round * 6_000);
        std::fs::OpenOptions::new().write(true).open(&filler).unwrap().set_len(left).unwrap();
        let mut failed = false;
        for attempt in 0..40 {
            ground.seq = committed;
            if add(&mut ground, round * 100 + attempt).is_err() {
                failed = true;
                break;
            }
            committed = ground.seq;
        }
        assert!(failed, "round {round}: the disk was not full");
        assert_eq!(ground.index.last_seq().unwrap(), committed);
        if committed > 0 {
            assert!(!ground.ask("gannet").is_empty(), "what was committed is found");
        }
        // Some more tries while it is full.
        for attempt in 50..53 {
            ground.seq = committed;
            if add(&mut ground, round * 100 + attempt).is_ok() {
                committed = ground.seq;
            }
        }
        std::fs::remove_file(&filler).unwrap();
        ground.seq = committed;
        add(&mut ground, round * 100 + 99).expect("there is room again");
        committed = ground.seq;
        assert_eq!(ground.index.status().unwrap().documents, committed.cast_unsigned());
        assert_eq!(ground.index.search(&query("gannet")).unwrap().searched, committed.cast_unsigned());
    }
    println!("it went on");
}

/// Feeds some pages and commits them.
fn add(ground: &mut Ground, number: u64) -> index::Result<()> {
    let pages = (0..5).map(|part| {
        let words: Vec<String> =
            (0..300).map(|word| format!("w{}", number * 7_919 + part * 104_729 + word * 31)).collect();
        page(
            &format!("https://{number}.example/{part}"),
            "page",
            &format!("The gannet dives. {}", words.join(" ")),
        )
    });
    let entries = pages.map(|document| ground.entry(document)).collect();
    ground.index.feed(entries)?;
    ground.index.commit()?;
    Ok(())
}
