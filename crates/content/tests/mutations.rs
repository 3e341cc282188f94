//! The inputs the fuzzer found worth keeping, cut up and put together anew: whatever comes out is read, judged and written
//! without a panic, and what must hold for any page holds. A few hundred pages each time; with `GANNET_TEST_SOAK=1`
//! as many as ten minutes allow.

use gannet_content::dom::{Dom, NodeId};
use gannet_content::{Limits, Page, Source, Wanted};
use std::time::{Duration, Instant};

const FEW: usize = 300;
const LONGEST: usize = 20_000;

/// Pieces of markup that matter to the parser or the writer, to be put anywhere.
const PIECES: [&[u8]; 16] = [
    b"<table><tr><td>",
    b"</td></tr></table>",
    b"<pre><code>",
    b"```",
    b"<ul><li>",
    b"</ul>",
    b"<a href=x><img src=y alt=z>",
    b"</a>",
    b"<b><i>",
    b"<template>",
    b"<svg><title>",
    b"<select><option>",
    b"<noscript>",
    b"&#xD800;\0",
    b"\xff\xfe",
    b"<!--",
];

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % most.max(1)
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for target in ["parse", "select", "write"] {
        let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        seeds.extend(files.into_iter().map(|file| std::fs::read(file).unwrap()));
    }
    seeds
}

/// Another input made of one or two seeds: parts cut, doubled, swapped in, pieces put in, bytes changed.
fn mutate(seeds: &[Vec<u8>], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = seeds[draw.below(seeds.len())].clone();
    for _ in 0..=draw.below(6) {
        let from = draw.below(bytes.len());
        let to = bytes.len().min(from + draw.below(400));
        match draw.below(5) {
            0 => drop(bytes.drain(from..to)),
            1 => bytes.splice(from..from, bytes[from..to].to_vec().repeat(1 + draw.below(40))).for_each(drop),
            2 => {
                let other = &seeds[draw.below(seeds.len())];
                let start = draw.below(other.len());
                let part = &other[start..other.len().min(start + draw.below(800))];
                bytes.splice(from..to, part.iter().copied()).for_each(drop);
            }
            3 => bytes.splice(from..from, PIECES[draw.below(PIECES.len())].iter().copied()).for_each(drop),
            _ => bytes[from..to].iter_mut().take(3).for_each(|byte| *byte = byte.wrapping_add(128)),
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

fn check_tree(dom: &Dom) {
    for id in (0..u32::try_from(dom.len()).unwrap()).map(NodeId) {
        let end = dom.subtree_end(id);
        assert!(end > id && end.index() <= dom.len());
        let mut previous = None;
        for child in dom.children(id) {
            assert_eq!(dom.parent(child), Some(id));
            assert_eq!(dom.prev_sibling(child), previous);
            previous = Some(child);
        }
    }
}

fn check(bytes: &[u8]) {
    let page = Page::read(
        &Source { bytes, content_type: Some("text/html"), ..Source::default() },
        &Limits::default(),
    );
    check_tree(page.dom());
    let whole = page.select(&Wanted { only_main_content: false, ..Wanted::default() }).unwrap();
    let main = page.select(&Wanted::default()).unwrap();
    assert!(main.keep.iter().all(|id| id.index() < page.dom().len()));
    let markdown = page.markdown(&whole, true);
    assert!(markdown.is_empty() || markdown.ends_with('\n'));
    assert_eq!(page.markdown(&main, true), page.markdown(&main, true));
    page.html(&main);
    page.metadata().to_wire();
    page.links();
    page.images();
    page.tables(&whole);
    page.verdict();
}

#[test]
fn any_mixture_of_the_corpus_is_read_judged_and_written() {
    let seeds = seeds();
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let soak = std::env::var_os("GANNET_TEST_SOAK").is_some();
    let (start, mut done) = (Instant::now(), 0);
    let enough = |done| if soak { start.elapsed() > Duration::from_mins(10) } else { done >= FEW };
    while !enough(done) {
        let bytes = mutate(&seeds, &mut draw);
        // The input of a panic, which no assertion names.
        let outcome = std::panic::catch_unwind(|| check(&bytes));
        assert!(outcome.is_ok(), "input {done}: {:?}", String::from_utf8_lossy(&bytes));
        done += 1;
    }
    println!("{done} inputs");
}
