//! RIS files: seeds and anchors from a reference manager, without citations.

use std::io::BufRead;
use std::path::Path;

use super::{Batch, Sink, input_error, read_whole};
use crate::error::Result;
use crate::hash::stable_hash;
use crate::ids::{Identifier, PaperRef};
use crate::work::{Date, Work};

pub fn import_file(path: &Path, mut input: Box<dyn BufRead + Send>, sink: Sink<'_>) -> Result<()> {
    let bytes = read_whole(path, &mut input)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| input_error(path, super::line_of(&bytes, error.valid_up_to()), "not UTF-8"))?;
    let mut batch = Batch { bytes: bytes.len() as u64, ..Batch::default() };
    let mut open: Option<(u64, Work)> = None;
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let number = number as u64 + 1;
        let Some((tag, value)) = tag_and_value(line) else { continue };
        match (tag, &mut open) {
            ("TY", Some(_)) => {
                return Err(input_error(path, number, "record starts before the previous one ended (ER)"));
            }
            ("TY", None) => open = Some((number, Work::default())),
            ("ER", _) => {
                let (_, mut work) = open
                    .take()
                    .ok_or_else(|| input_error(path, number, "record ends without a start (TY)"))?;
                name_by_title(&mut work);
                batch.push(work);
            }
            (_, Some((_, work))) => field(work, tag, value),
            (_, None) => {}
        }
    }
    if let Some((line, _)) = open {
        return Err(input_error(path, line, "the file ends within this record"));
    }
    sink(batch)
}

/// `TY  - JOUR`.
fn tag_and_value(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = (line.get(..2)?, line.get(2..)?);
    let value = rest.trim_start().strip_prefix('-')?;
    tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).then_some((tag, value.trim()))
}

fn field(work: &mut Work, tag: &str, value: &str) {
    match tag {
        "TI" | "T1" if work.title.is_empty() => work.title = super::collapse_whitespace(value),
        "AB" | "N2" if work.abstract_text.is_empty() => {
            work.abstract_text = super::collapse_whitespace(value);
        }
        "AU" | "A1" => work.authors.push(super::collapse_whitespace(value)),
        "KW" => work.categories.push(super::collapse_whitespace(value)),
        "PY" | "Y1" | "DA" if work.created.is_none() => {
            work.created = Date::parse(value.trim_end_matches('/')).or_else(|| Date::parse(value.get(..4)?));
        }
        "DO" => work.ids.extend(Identifier::new("doi", value)),
        "UR" | "L1" | "LK" => {
            if let Some(PaperRef::Named(id)) = PaperRef::parse(value) {
                work.ids.push(id);
            }
        }
        "AN" => work.ids.extend(Identifier::new("pmid", value.trim_start_matches("PMID:"))),
        _ => {}
    }
}

/// Identifies a record without identifiers by its title.
pub fn name_by_title(work: &mut Work) {
    if work.ids.is_empty() && !work.title.is_empty() {
        let number = stable_hash(&[work.title.to_lowercase().as_bytes()]);
        work.ids.extend(Identifier::new("local", &format!("{number:016x}")));
    }
}
