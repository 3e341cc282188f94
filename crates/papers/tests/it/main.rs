//! Tests of the public interface: import files, query papers.

// Counts in these tests are small.
#![allow(clippy::cast_possible_truncation)]

mod citing_sentences;
mod damage;
mod graph;
mod imports;
mod learning;
mod ranking;
mod vectors;

use papers::{BuildOptions, Facts, Index, Library, PaperRef, PaperSource, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A library in a temporary folder.
struct Fixture {
    folder: tempfile::TempDir,
    library: Library,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open(&folder.path().join("library")).unwrap();
        Self { folder, library }
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn import(&self, source: PaperSource, path: &Path) -> Result<Facts> {
        // A tiny memory budget, so that lists are inverted in many ranges.
        let options = BuildOptions { budget_bytes: 4_000, now: 1_700_000_000, learn: false };
        self.library.import(source, &[path.to_owned()], &options, &|_, _, _| {})
    }

    fn index(&self) -> Arc<Index> {
        self.library.current().unwrap()
    }

    fn with_works(lines: &[String]) -> Self {
        let fixture = Self::new();
        let path = fixture.file("works.jsonl", lines.join("\n"));
        fixture.import(PaperSource::Jsonl, &path).unwrap();
        fixture
    }
}

fn node(index: &Index, name: &str) -> Option<u32> {
    index.resolve(&PaperRef::parse(name)?)
}

fn work(number: usize, title: &str, text: &str, references: &[usize]) -> String {
    let references: Vec<String> = references.iter().map(|number| format!("doi:10.1/{number}")).collect();
    serde_json::json!({ "ids": { "doi": [format!("10.1/{number}")] }, "title": title, "abstract": text, "references": references }).to_string()
}
