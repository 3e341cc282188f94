//! Folders and files: which of them are read, and as what.

use super::{Body, Fault, Import, LARGEST, Piece, Pieces, rows, warc};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use url::Url;

/// Folders within folders.
const DEEPEST: usize = 64;
/// Lines of what stands before a document and is about it.
const MOST_HEAD_LINES: usize = 100;

/// What a file is read as.
enum Form {
    Html,
    Markdown,
    Text,
    Lines,
    Json,
    Archive,
}

/// Everything in a file or a folder.
pub fn pieces(path: &Path, import: &Import) -> Pieces {
    match fs::metadata(path) {
        Err(error) => Box::new(std::iter::once(Err(Fault::new(path.display(), error)))),
        Ok(facts) if facts.is_dir() => {
            let (root, import) = (path.to_owned(), import.clone());
            let walk = Walk { open: vec![(root.clone(), 0)], files: Vec::new() };
            Box::new(walk.flat_map(move |file| match file {
                Ok(file) => of_file(&file, &root, &import),
                Err(fault) => Box::new(std::iter::once(Err(fault))),
            }))
        }
        Ok(_) => {
            let root = path.parent().unwrap_or(Path::new(""));
            if form(path).is_none() {
                let reason = "not a form that is known: .md, .html, .txt, .jsonl, .json, .warc, .warc.gz";
                return Box::new(std::iter::once(Err(Fault::new(path.display(), reason))));
            }
            of_file(path, root, import)
        }
    }
}

/// Files below a folder, in order; links and what is hidden are not followed.
struct Walk {
    open: Vec<(PathBuf, usize)>,
    /// The next last.
    files: Vec<PathBuf>,
}

impl Iterator for Walk {
    type Item = Result<PathBuf, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = self.files.pop() {
                return Some(Ok(file));
            }
            let (folder, depth) = self.open.pop()?;
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries.flatten(),
                Err(error) => return Some(Err(Fault::new(folder.display(), error))),
            };
            let mut folders = Vec::new();
            for entry in entries {
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !hidden && depth < DEEPEST {
                    folders.push((entry.path(), depth + 1));
                } else if kind.is_file() && !hidden && form(&entry.path()).is_some() {
                    self.files.push(entry.path());
                }
            }
            self.files.sort_unstable_by(|left, right| right.cmp(left));
            folders.sort_unstable_by(|left, right| right.cmp(left));
            self.open.extend(folders);
        }
    }
}

fn form(path: &Path) -> Option<Form> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    Some(match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "md" | "markdown" | "mdx" => Form::Markdown,
        "html" | "htm" | "xhtml" => Form::Html,
        "txt" | "text" | "rst" | "adoc" => Form::Text,
        "jsonl" | "ndjson" => Form::Lines,
        "json" => Form::Json,
        "warc" => Form::Archive,
        "gz" if name.ends_with(".warc.gz") => Form::Archive,
        "" if name == "readme" => Form::Text,
        _ => return None,
    })
}

fn of_file(path: &Path, root: &Path, import: &Import) -> Pieces {
    match form(path) {
        Some(Form::Lines) => rows::of_lines(path),
        Some(Form::Json) => rows::of_json(path),
        Some(Form::Archive) => warc::pieces(path),
        Some(form) => Box::new(std::iter::once(of_document(path, root, &form, import))),
        None => Box::new(std::iter::empty()),
    }
}

fn of_document(path: &Path, root: &Path, form: &Form, import: &Import) -> Result<Piece, Fault> {
    let fault = |reason: &dyn std::fmt::Display| Fault::new(path.display(), reason);
    let facts = fs::metadata(path).map_err(|error| fault(&error))?;
    if facts.len() > LARGEST as u64 {
        return Err(fault(&"larger than 16 MB"));
    }
    let bytes = fs::read(path).map_err(|error| fault(&error))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_readme = name.eq_ignore_ascii_case("readme");
    let mut piece = Piece {
        url: address(path, root, import).ok_or_else(|| fault(&"has no address"))?,
        kind: Some(if is_readme { "readme" } else { "doc" }.to_owned()),
        published: facts.modified().ok().and_then(|time| {
            let age = time.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(age.as_millis()).ok()
        }),
        ..Piece::default()
    };
    if name.eq_ignore_ascii_case("skill") {
        piece.attributes.insert("skill".to_owned(), "true".to_owned());
    }
    let fallback = if is_readme { None } else { Some(name.replace(['-', '_'], " ")) };
    piece.body = match form {
        Form::Html => Body::Html { bytes, content_type: None },
        Form::Markdown => {
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = front_matter(&text);
            apply(&mut piece, head);
            if piece.title.is_none() && !body.lines().any(|line| line.starts_with("# ")) {
                piece.title = fallback;
            }
            Body::Markdown(body.to_owned())
        }
        _ => {
            piece.title = fallback;
            Body::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
    };
    Ok(piece)
}

/// Below the address that was given, or on this machine.
fn address(path: &Path, root: &Path, import: &Import) -> Option<String> {
    let Some(base) = &import.base else {
        let whole = path.canonicalize().ok()?;
        return Url::from_file_path(whole).ok().map(Into::into);
    };
    let relative = path.strip_prefix(root).ok()?;
    let mut url = base.clone();
    {
        let mut parts = url.path_segments_mut().ok()?;
        parts.pop_if_empty();
        for part in relative.components() {
            parts.push(&part.as_os_str().to_string_lossy());
        }
    }
    Some(url.into())
}

/// The lines between `---` at the start of a document, as names and values, and the document after them. Only plain values: what is
/// nested is about how a site is built.
fn front_matter(text: &str) -> (BTreeMap<&str, &str>, &str) {
    let mut values = BTreeMap::new();
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (values, text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n').take(MOST_HEAD_LINES) {
        at += line.len();
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return (values, &rest[at..]);
        }
        if !line.starts_with([' ', '-', '#'])
            && let Some((name, value)) = line.split_once(':')
        {
            values.insert(name.trim(), value.trim().trim_matches(['"', '\'']));
        }
    }
    (BTreeMap::new(), text)
}

fn apply(piece: &mut Piece, head: BTreeMap<&str, &str>) {
    for (name, value) in head.into_iter().filter(|(_, value)| !value.is_empty()) {
        match name {
            "title" => piece.title = Some(value.to_owned()),
            "description" | "summary" => piece.description = Some(value.to_owned()),
            "lang" | "language" => piece.language = Some(value.to_owned()),
            "date" | "updated" | "last_updated" => {
                piece.published = super::super::page::moment(value).or(piece.published);
            }
            "url" | "canonical" | "canonical_url" if Url::parse(value).is_ok() => {
                value.clone_into(&mut piece.url);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    fn write(folder: &TempDir, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_tree_of_documents_is_read_in_order() {
        let folder = TempDir::new();
        write(&folder, "README.md", "# Tool\nuse it");
        write(&folder, "guide/first-steps.md", "---\ntitle: \"First steps\"\nnested:\n  - x\n---\nbegin");
        write(&folder, "guide/b.html", "<p>page</p>");
        write(&folder, "notes.txt", "text");
        write(&folder, ".git/config.md", "hidden");
        write(&folder, "picture.png", "no");
        let base = Some(Url::parse("https://docs.test/v1/").unwrap());
        let import = Import { collection: "developer".into(), base, ..Import::default() };
        let read: Vec<Piece> = pieces(folder.path(), &import).map(Result::unwrap).collect();
        let urls: Vec<&str> = read.iter().map(|piece| piece.url.as_str()).collect();
        let of = |name: &str| format!("https://docs.test/v1/{name}");
        assert_eq!(urls, [of("README.md"), of("notes.txt"), of("guide/b.html"), of("guide/first-steps.md")]);
        assert_eq!(read[0].kind.as_deref(), Some("readme"));
        assert_eq!((read[3].title.as_deref(), read[3].kind.as_deref()), (Some("First steps"), Some("doc")));
        assert_eq!(read[3].body, Body::Markdown("begin".into()));
        assert_eq!(read[1].title.as_deref(), Some("notes"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = TempDir::new();
        write(&folder, "a.exe", "x");
        let fault = |name: &str| {
            let read: Vec<_> = pieces(&folder.join(name), &Import::default()).collect();
            assert_eq!(read.len(), 1);
            read[0].clone().unwrap_err().to_string()
        };
        assert!(fault("missing.md").contains("missing.md"));
        assert!(fault("a.exe").contains(".warc.gz"));
    }

    #[test]
    fn a_head_that_does_not_end_is_text() {
        for text in ["---\ntitle: x\nbody", "--- x", "", "---"] {
            assert_eq!(front_matter(text), (BTreeMap::new(), text));
        }
        assert_eq!(front_matter("---\r\na: b\r\n---\r\nc").1, "c");
    }
}
