//! Folders and files: which of them are read, and as what.

use crate::search_page::moment;
use crate::{Body, Import, ImportError, MAX_PIECE_BYTES, Piece, Pieces, is_web_address, rows, warc};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use stored_data::hashed_keys::KeyHasher;
use url::Url;

/// Folders within folders.
const MAX_DEPTH: usize = 64;
/// Lines of what stands before a document and is about it.
const MAX_HEAD_LINES: usize = 100;
/// Characters of the name of a folder or file that begin the addresses of what is in it.
const MAX_NAME_CHARS: usize = 40;

/// What a file is read as.
enum FileFormat {
    Html,
    Markdown,
    Text,
    Lines,
    Json,
    Archive,
}

/// Everything in a file or a folder.
pub fn pieces(path: &Path, import: &Import) -> Pieces {
    let base = import.base.clone().or_else(|| local_base(path));
    let import = &Import { base, ..import.clone() };
    match fs::metadata(path) {
        Err(error) => Box::new(std::iter::once(Err(ImportError::new(path.display(), error)))),
        Ok(facts) if facts.is_dir() => {
            let (root, import) = (path.to_owned(), import.clone());
            let walk = Walk { open: vec![(root.clone(), 0)], files: Vec::new() };
            Box::new(walk.flat_map(move |file| match file {
                Ok(file) => of_file(&file, &root, &import),
                Err(import_error) => Box::new(std::iter::once(Err(import_error))),
            }))
        }
        Ok(_) => {
            let root = path.parent().unwrap_or(Path::new(""));
            if form(path).is_none() {
                let reason = "not a form that is known: .md, .html, .txt, .jsonl, .json, .warc, .warc.gz";
                return Box::new(std::iter::once(Err(ImportError::new(path.display(), reason))));
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
    type Item = Result<PathBuf, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = self.files.pop() {
                return Some(Ok(file));
            }
            let (folder, depth) = self.open.pop()?;
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries.flatten(),
                Err(error) => return Some(Err(ImportError::new(folder.display(), error))),
            };
            let mut folders = Vec::new();
            for entry in entries {
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !hidden && depth < MAX_DEPTH {
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

fn form(path: &Path) -> Option<FileFormat> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    Some(match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "md" | "markdown" | "mdx" => FileFormat::Markdown,
        "html" | "htm" | "xhtml" => FileFormat::Html,
        "txt" | "text" | "rst" | "adoc" => FileFormat::Text,
        "jsonl" | "ndjson" => FileFormat::Lines,
        "json" => FileFormat::Json,
        "warc" => FileFormat::Archive,
        "gz" if name.ends_with(".warc.gz") => FileFormat::Archive,
        "" if name == "readme" => FileFormat::Text,
        _ => return None,
    })
}

fn of_file(path: &Path, root: &Path, import: &Import) -> Pieces {
    match form(path) {
        Some(FileFormat::Lines) => rows::of_lines(path),
        Some(FileFormat::Json) => rows::of_json(path),
        Some(FileFormat::Archive) => warc::pieces(path),
        Some(form) => Box::new(std::iter::once(of_document(path, root, &form, import))),
        None => Box::new(std::iter::empty()),
    }
}

fn of_document(path: &Path, root: &Path, form: &FileFormat, import: &Import) -> Result<Piece, ImportError> {
    let import_error = |reason: &dyn std::fmt::Display| ImportError::new(path.display(), reason);
    let facts = fs::metadata(path).map_err(|error| import_error(&error))?;
    if facts.len() > MAX_PIECE_BYTES as u64 {
        return Err(import_error(&"larger than 16 MB"));
    }
    let bytes = fs::read(path).map_err(|error| import_error(&error))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_readme = name.eq_ignore_ascii_case("readme");
    let mut piece = Piece {
        url: address(path, root, import).ok_or_else(|| import_error(&"has no address"))?,
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
        FileFormat::Html => Body::Html { bytes, content_type: None },
        FileFormat::Markdown => {
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = front_matter(&text);
            if let Err(reason) = apply(&mut piece, head) {
                piece.warning = Some(import_error(&reason));
            }
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

/// What the addresses of an import begin with when nobody said it: `import:///NAME-NUMBER/`. The number keeps
/// two folders of one name apart, and is the same whenever the same folder is imported.
fn local_base(path: &Path) -> Option<Url> {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.file_stem()?.to_string_lossy();
    let legal = |char: char| if char.is_alphanumeric() || "._-".contains(char) { char } else { '-' };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(legal).collect();
    let folder = if whole.is_dir() { &whole } else { whole.parent()? };
    let mut fields = KeyHasher::new("import");
    fields.add(&folder.to_string_lossy());
    let number = u32::from_be_bytes(*fields.finish().first_chunk()?);
    Url::parse(&format!("import:///{name}-{number:08x}/")).ok()
}

/// Below the address that the import begins with.
fn address(path: &Path, root: &Path, import: &Import) -> Option<String> {
    let relative = path.strip_prefix(root).ok()?;
    let mut url = import.base.clone()?;
    {
        let mut parts = url.path_segments_mut().ok()?;
        parts.pop_if_empty();
        for part in relative.components() {
            parts.push(&part.as_os_str().to_string_lossy());
        }
    }
    Some(url.into())
}

/// The lines between `---` at the start of a document, as names and values, and the document after them. Only
/// plain values: what is nested is about how a site is built.
fn front_matter(text: &str) -> (BTreeMap<&str, &str>, &str) {
    let mut values = BTreeMap::new();
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (values, text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n').take(MAX_HEAD_LINES) {
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

/// An error says what was left out.
fn apply(piece: &mut Piece, head: BTreeMap<&str, &str>) -> Result<(), String> {
    let mut applied = Ok(());
    for (name, value) in head.into_iter().filter(|(_, value)| !value.is_empty()) {
        match name {
            "title" => piece.title = Some(value.to_owned()),
            "description" | "summary" => piece.description = Some(value.to_owned()),
            "lang" | "language" => piece.language = Some(value.to_owned()),
            "date" | "updated" | "last_updated" => {
                piece.published = moment(value).or(piece.published);
            }
            "url" | "canonical" | "canonical_url" if is_web_address(value) => {
                value.clone_into(&mut piece.url);
            }
            // Anything else that is absolute would be shown to callers as a link; a path is about how a site
            // is built.
            "url" | "canonical" | "canonical_url" if Url::parse(value).is_ok() => {
                applied = Err(format!("its `{name}` is not an http or https address and was left out"));
            }
            _ => {}
        }
    }
    applied
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
    fn addresses_say_nothing_of_this_machine() {
        let folder = TempDir::new();
        write(&folder, "one/docs/a b.md", "# A");
        write(&folder, "two/docs/a b.md", "# B");
        let urls = |name: &str| -> Vec<String> {
            pieces(&folder.join(name), &Import::default()).map(|piece| piece.unwrap().url).collect()
        };
        let (one, two) = (urls("one/docs"), urls("two/docs"));
        assert!(one[0].starts_with("import:///docs-") && one[0].ends_with("/a%20b.md"), "{one:?}");
        assert_ne!(one, two, "two folders of one name");
        assert_eq!(one, urls("one/../one/docs"), "the same folder");
        let single = urls("one/docs/a b.md");
        assert!(single[0].starts_with("import:///a-b-") && single[0].ends_with("/a%20b.md"), "{single:?}");
        let parent = folder.path().file_name().unwrap().to_str().unwrap();
        assert!(one.iter().chain(&single).all(|url| !url.contains(parent)), "{one:?} {single:?}");
    }

    #[test]
    fn a_document_names_addresses_of_the_web_only() {
        let folder = TempDir::new();
        write(&folder, "a.md", "---\nurl: https://docs.test/a\n---\nbody");
        write(&folder, "b.md", "---\nurl: javascript:alert(1)\n---\nbody");
        write(&folder, "c.md", "---\ncanonical: file:///etc/passwd\n---\nbody");
        write(&folder, "d.md", "---\nurl: /guide/d/\n---\nbody");
        let read: Vec<Piece> = pieces(folder.path(), &Import::default()).map(Result::unwrap).collect();
        assert_eq!(read[0].url, "https://docs.test/a");
        assert!(read[1..].iter().all(|piece| piece.url.starts_with("import:///")), "{read:?}");
        let warned: Vec<bool> = read.iter().map(|piece| piece.warning.is_some()).collect();
        assert_eq!(warned, [false, true, true, false]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = TempDir::new();
        write(&folder, "a.exe", "x");
        let import_error = |name: &str| {
            let read: Vec<_> = pieces(&folder.join(name), &Import::default()).collect();
            assert_eq!(read.len(), 1);
            read[0].clone().unwrap_err().to_string()
        };
        assert!(import_error("missing.md").contains("missing.md"));
        assert!(import_error("a.exe").contains(".warc.gz"));
    }

    #[test]
    fn a_head_that_does_not_end_is_text() {
        for text in ["---\ntitle: x\nbody", "--- x", "", "---"] {
            assert_eq!(front_matter(text), (BTreeMap::new(), text));
        }
        assert_eq!(front_matter("---\r\na: b\r\n---\r\nc").1, "c");
    }
}
