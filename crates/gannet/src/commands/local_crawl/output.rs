//! Writes documents: one per line into a file, or one per file into a folder with an index. An incomplete
//! line is removed when the output is opened again, so that no document is missing or duplicated.

use super::OutputTarget;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const INDEX_FILE: &str = "index.jsonl";
const STATE_SUFFIX: &str = ".gannet";
const MAX_NAME_BYTES: usize = 80;

/// The contents of the file of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// A single format as text.
    Text(&'static str),
    /// The whole document.
    Json,
}

impl OutputTarget {
    /// Whether documents are lines of a file.
    fn is_file(&self) -> bool {
        self.out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
    }

    /// The state folder, kept until everything is written.
    pub fn state(&self) -> PathBuf {
        if self.is_file() {
            let mut name = self.out.clone().into_os_string();
            name.push(STATE_SUFFIX);
            name.into()
        } else {
            self.out.join(STATE_SUFFIX)
        }
    }

    fn lines(&self) -> PathBuf {
        if self.is_file() { self.out.clone() } else { self.out.join(INDEX_FILE) }
    }

    /// Removes a file of documents that has none, so that the same command can be run again.
    pub fn remove_empty_output(&self) {
        let lines = self.lines();
        if lines.metadata().is_ok_and(|facts| facts.len() == 0) {
            // What stays is in nobody's way but this command's.
            let _ = std::fs::remove_file(lines);
        }
    }

    /// Whether there is output of something else.
    pub fn has_output(&self) -> bool {
        self.lines().exists() || (!self.is_file() && self.out.is_file())
    }
}

#[derive(Debug)]
pub struct Output {
    /// The file of documents, or the index of the folder.
    lines: File,
    path: PathBuf,
    written: u64,
    folder: Option<PathBuf>,
    format: OutputFormat,
}

impl Output {
    pub fn open(target: &OutputTarget) -> Result<Self> {
        let folder = (!target.is_file()).then(|| target.out.clone());
        let path = target.lines();
        let shown = || format!("cannot write {}", path.display());
        let mut lines = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(shown)?;
        let written = truncate_incomplete_line(&mut lines).with_context(shown)?;
        Ok(Self { lines, path, written, folder, format: target.format })
    }

    /// The number of documents written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends documents, which must continue the numbering.
    pub fn write(&mut self, documents: &[(u64, Vec<u8>)]) -> Result<()> {
        let mut text = Vec::new();
        for (number, document) in documents {
            if *number != self.written + 1 {
                bail!(
                    "{} has {} documents, and the next one is number {number}",
                    self.path.display(),
                    self.written
                );
            }
            match &self.folder {
                None => text.extend_from_slice(document),
                Some(folder) => {
                    let entry = write_page_file(folder, self.format, *number, document)?;
                    serde_json::to_writer(&mut text, &entry)?;
                }
            }
            text.push(b'\n');
            self.written = *number;
        }
        self.lines.write_all(&text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Removes an incomplete line at the end and seeks to the end; returns the number of complete lines.
fn truncate_incomplete_line(file: &mut File) -> std::io::Result<u64> {
    let (mut lines, mut end) = (0, 0);
    let mut reader = BufReader::new(&mut *file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        (lines, end) = (lines + 1, end + read);
    }
    drop(reader);
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(lines)
}

/// Writes the file of a page and returns its entry for the index.
fn write_page_file(folder: &Path, format: OutputFormat, number: u64, document: &[u8]) -> Result<Value> {
    let parsed: Value = serde_json::from_slice(document)?;
    let metadata = &parsed["metadata"];
    let url = metadata["sourceURL"].as_str().unwrap_or_default();
    let (extension, text) = match format {
        OutputFormat::Json => ("json", document),
        OutputFormat::Text(format) => {
            let extension = if format == "markdown" { "md" } else { "html" };
            (extension, parsed[format].as_str().unwrap_or_default().as_bytes())
        }
    };
    let name = page_file_name(number, url, extension);
    let path = folder.join(&name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(json!({ "file": name, "url": url, "title": metadata["title"], "statusCode": metadata["statusCode"] }))
}

/// The name of the file of a page in a folder of several.
pub fn page_file_name(number: u64, url: &str, extension: &str) -> String {
    format!("{number:05}-{}.{extension}", file_name_for(url))
}

/// The URL as a file name that is valid on every file system.
fn file_name_for(url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut name = String::new();
    for letter in bare.chars() {
        let plain = letter.is_ascii_alphanumeric() || letter == '.';
        if plain {
            name.push(letter);
        } else if !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= MAX_NAME_BYTES {
            break;
        }
    }
    name.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(out: PathBuf) -> OutputTarget {
        OutputTarget { out, ledger: None, format: OutputFormat::Text("markdown"), json: false }
    }

    #[test]
    fn an_incomplete_line_is_removed_and_written_again() {
        let dir = testkit::TempDir::new();
        let target = target(dir.join("pages.jsonl"));
        assert!(!target.has_output());
        let mut output = Output::open(&target).unwrap();
        output.write(&[(1, b"{\"a\":1}".to_vec()), (2, b"{\"a\":2}".to_vec())]).unwrap();
        std::fs::OpenOptions::new().append(true).open(&target.out).unwrap().write_all(b"{\"a\":").unwrap();
        let mut output = Output::open(&target).unwrap();
        assert_eq!(output.written(), 2);
        assert!(output.write(&[(2, b"{}".to_vec())]).is_err(), "it was already written");
        output.write(&[(3, b"{\"a\":3}".to_vec())]).unwrap();
        let text = std::fs::read_to_string(&target.out).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
        assert_eq!(target.state(), dir.join("pages.jsonl.gannet"));
    }

    #[test]
    fn a_folder_has_a_file_for_each_page_and_an_index() {
        let dir = testkit::TempDir::new();
        let target = target(dir.join("site"));
        std::fs::create_dir(&target.out).unwrap();
        let document =
            json!({ "markdown": "# Hello", "metadata": { "sourceURL": "https://a.example/x/../y?z=1" } });
        let mut output = Output::open(&target).unwrap();
        output.write(&[(1, document.to_string().into_bytes())]).unwrap();
        let page = std::fs::read_to_string(dir.join("site/00001-a.example-x-..-y-z-1.md")).unwrap();
        assert_eq!(page, "# Hello");
        assert_eq!(Output::open(&target).unwrap().written(), 1);
        assert!(target.has_output());
    }

    #[test]
    fn file_names_are_valid_everywhere() {
        assert_eq!(file_name_for("https://a.example/"), "a.example");
        assert_eq!(file_name_for("https://a.example/../../etc/passwd"), "a.example-..-..-etc-passwd");
        assert_eq!(file_name_for("x"), "x");
        assert!(file_name_for(&format!("http://{}", "é/".repeat(500))).len() <= MAX_NAME_BYTES);
    }
}
