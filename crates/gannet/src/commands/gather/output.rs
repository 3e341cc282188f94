//! Where documents go: one line each into a file, or one file each into a folder with an index. Whatever was cut off in the middle
//! is taken away when it is opened again, so nothing is there twice and nothing by half.

use super::Place;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const INDEX: &str = "index.jsonl";
const STATE: &str = ".gannet";
const LONGEST_NAME: usize = 80;

/// What the file of a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// This format alone.
    Text(&'static str),
    /// The whole document.
    Json,
}

impl Place {
    /// One line a document, rather than one file.
    fn is_file(&self) -> bool {
        self.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
    }

    /// Where the state lies until everything is written.
    pub fn state(&self) -> PathBuf {
        if self.is_file() {
            let mut name = self.out.clone().into_os_string();
            name.push(STATE);
            name.into()
        } else {
            self.out.join(STATE)
        }
    }

    fn lines(&self) -> PathBuf {
        if self.is_file() { self.out.clone() } else { self.out.join(INDEX) }
    }

    /// Whether something is there that would be mixed with ours.
    pub fn has_output(&self) -> bool {
        self.lines().exists() || (!self.is_file() && self.out.is_file())
    }
}

#[derive(Debug)]
pub struct Output {
    /// One line a document, or the index of the folder.
    lines: File,
    path: PathBuf,
    written: u64,
    folder: Option<PathBuf>,
    form: Form,
}

impl Output {
    pub fn open(place: &Place) -> Result<Self> {
        let folder = (!place.is_file()).then(|| place.out.clone());
        let path = place.lines();
        let shown = || format!("cannot write {}", path.display());
        let mut lines = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(shown)?;
        let written = whole_lines(&mut lines).with_context(shown)?;
        Ok(Self { lines, path, written, folder, form: place.form })
    }

    /// How many documents are there.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Adds documents, the next ones by number.
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
                    let entry = page_file(folder, self.form, *number, document)?;
                    serde_json::to_writer(&mut text, &entry)?;
                }
            }
            text.push(b'\n');
            self.written = *number;
        }
        self.lines.write_all(&text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Takes a broken line off the end and stands there; how many whole ones there are.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
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

/// Writes the file of a page; its entry in the index.
fn page_file(folder: &Path, form: Form, number: u64, document: &[u8]) -> Result<Value> {
    let parsed: Value = serde_json::from_slice(document)?;
    let metadata = &parsed["metadata"];
    let url = metadata["sourceURL"].as_str().unwrap_or_default();
    let (ending, text) = match form {
        Form::Json => ("json", document),
        Form::Text(format) => {
            let ending = if format == "markdown" { "md" } else { "html" };
            (ending, parsed[format].as_str().unwrap_or_default().as_bytes())
        }
    };
    let name = format!("{number:05}-{}.{ending}", slug(url));
    let path = folder.join(&name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(json!({ "file": name, "url": url, "title": metadata["title"], "statusCode": metadata["statusCode"] }))
}

/// The address in letters that every file system takes.
fn slug(url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut name = String::new();
    for letter in bare.chars() {
        let plain = letter.is_ascii_alphanumeric() || letter == '.';
        if plain {
            name.push(letter);
        } else if !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    name.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(out: PathBuf) -> Place {
        Place { out, ledger: None, form: Form::Text("markdown") }
    }

    #[test]
    fn a_broken_line_is_taken_away_and_written_again() {
        let dir = testkit::TempDir::new();
        let place = place(dir.join("pages.jsonl"));
        assert!(!place.has_output());
        let mut output = Output::open(&place).unwrap();
        output.write(&[(1, b"{\"a\":1}".to_vec()), (2, b"{\"a\":2}".to_vec())]).unwrap();
        std::fs::OpenOptions::new().append(true).open(&place.out).unwrap().write_all(b"{\"a\":").unwrap();
        let mut output = Output::open(&place).unwrap();
        assert_eq!(output.written(), 2);
        assert!(output.write(&[(2, b"{}".to_vec())]).is_err(), "that one is there");
        output.write(&[(3, b"{\"a\":3}".to_vec())]).unwrap();
        let text = std::fs::read_to_string(&place.out).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
        assert_eq!(place.state(), dir.join("pages.jsonl.gannet"));
    }

    #[test]
    fn a_folder_has_a_file_for_each_page_and_an_index() {
        let dir = testkit::TempDir::new();
        let place = place(dir.join("site"));
        std::fs::create_dir(&place.out).unwrap();
        let document =
            json!({ "markdown": "# Hello", "metadata": { "sourceURL": "https://a.example/x/../y?z=1" } });
        let mut output = Output::open(&place).unwrap();
        output.write(&[(1, document.to_string().into_bytes())]).unwrap();
        let page = std::fs::read_to_string(dir.join("site/00001-a.example-x-..-y-z-1.md")).unwrap();
        assert_eq!(page, "# Hello");
        assert_eq!(Output::open(&place).unwrap().written(), 1);
        assert!(place.has_output());
    }

    #[test]
    fn names_are_names_everywhere() {
        assert_eq!(slug("https://a.example/"), "a.example");
        assert_eq!(slug("https://a.example/../../etc/passwd"), "a.example-..-..-etc-passwd");
        assert_eq!(slug("x"), "x");
        assert!(slug(&format!("http://{}", "é/".repeat(500))).len() <= LONGEST_NAME);
    }
}
