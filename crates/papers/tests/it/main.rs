//! The research index from the outside: files in, papers out.

// Counts in these tests are small.
#![allow(clippy::cast_possible_truncation)]

mod damage;
mod graph;
mod imports;
mod ranking;
mod vectors;

use papers::{BuildOptions, Facts, Index, Library, PaperRef, Result, Source};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A library in a temporary folder.
struct Shelf {
    folder: tempfile::TempDir,
    library: Library,
}

impl Shelf {
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

    fn import(&self, source: Source, path: &Path) -> Result<Facts> {
        // A tiny budget, so that lists are turned round in many ranges.
        let options = BuildOptions { budget_bytes: 4_000, now: 1_700_000_000 };
        self.library.import(source, &[path.to_owned()], &options, &|_, _, _| {})
    }

    fn index(&self) -> Arc<Index> {
        self.library.current().unwrap()
    }

    fn of(lines: &[String]) -> Self {
        let shelf = Self::new();
        let path = shelf.file("works.jsonl", lines.join("\n"));
        shelf.import(Source::Jsonl, &path).unwrap();
        shelf
    }
}

fn node(index: &Index, name: &str) -> Option<u32> {
    index.resolve(&PaperRef::parse(name)?)
}

fn work(number: usize, title: &str, text: &str, references: &[usize]) -> String {
    let references: Vec<String> = references.iter().map(|number| format!("doi:10.1/{number}")).collect();
    serde_json::json!({ "ids": { "doi": [format!("10.1/{number}")] }, "title": title, "abstract": text, "references": references }).to_string()
}
