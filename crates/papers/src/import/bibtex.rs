//! BibTeX files: seeds and anchors from a bibliography, without citations. TeX commands in names and titles
//! are decoded.

use std::io::BufRead;
use std::path::Path;

use super::ris::name_by_title;
use super::{Batch, Sink, input_error, read_whole};
use crate::error::Result;
use crate::ids::{Identifier, PaperRef};
use crate::work::{Date, Work};

pub fn import_file(path: &Path, mut input: Box<dyn BufRead + Send>, sink: Sink<'_>) -> Result<()> {
    let bytes = read_whole(path, &mut input)?;
    let line_of = |place: usize| super::line_of(&bytes, place);
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| input_error(path, line_of(error.valid_up_to()), "not UTF-8"))?;
    let mut batch = Batch { bytes: bytes.len() as u64, ..Batch::default() };
    let mut place = 0;
    while let Some(found) = text[place..].find('@') {
        let start = place + found;
        let (entry, end) =
            entry(text, start).ok_or_else(|| input_error(path, line_of(start), "entry is not closed"))?;
        if let Some(mut work) = entry {
            name_by_title(&mut work);
            batch.push(work);
        }
        place = end;
    }
    sink(batch)
}

/// Parses the entry at `start`; `None` if it is not closed. Comments and strings are not works.
fn entry(text: &str, start: usize) -> Option<(Option<Work>, usize)> {
    let rest = &text[start + 1..];
    let kind_length = rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(rest.len());
    let kind = rest[..kind_length].to_ascii_lowercase();
    let open = rest[kind_length..].trim_start();
    if kind.is_empty() || !open.starts_with(['{', '(']) {
        // An "@" in other text.
        return Some((None, start + 1));
    }
    let body_at = text.len() - open.len() + 1;
    let end = body_at + balanced(&text[body_at..])?;
    if matches!(kind.as_str(), "comment" | "string" | "preamble") {
        return Some((None, end + 1));
    }
    let mut work = Work::default();
    let mut prefix = String::new();
    let mut eprint = String::new();
    let body = &text[body_at..end];
    for (name, value) in fields(body.split_once(',').map_or("", |(_, fields)| fields)) {
        let plain = untex(&value);
        match name.as_str() {
            "title" => work.title = plain,
            "abstract" => work.abstract_text = plain,
            "author" => work.authors = plain.split(" and ").map(person).collect(),
            "year" | "date" => work.created = work.created.or_else(|| Date::parse(&plain)),
            "doi" => work.ids.extend(Identifier::new("doi", &value.replace('\\', ""))),
            "pmid" => work.ids.extend(Identifier::new("pmid", &value)),
            "eprint" => eprint = value,
            "archiveprefix" | "eprinttype" => prefix = value.to_ascii_lowercase(),
            "keywords" => {
                work.categories = plain
                    .split([',', ';'])
                    .map(|word| word.trim().to_owned())
                    .filter(|word| !word.is_empty())
                    .collect();
            }
            "url" => {
                if let Some(PaperRef::Named(id)) = PaperRef::parse(&value.replace('\\', "")) {
                    work.ids.push(id);
                }
            }
            _ => {}
        }
    }
    if prefix.is_empty() || prefix == "arxiv" {
        work.ids.extend(Identifier::new("arxiv", &eprint));
    }
    Some((Some(work), end + 1))
}

/// Offset of the bracket that closes a body; braces nest, and a backslash escapes the next character.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut hidden = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if hidden => hidden = false,
            b'\\' => hidden = true,
            b'{' => depth += 1,
            b'}' | b')' if depth == 0 => return Some(place),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `name = {value}`, `name = "value"`, `name = word`, separated by commas.
fn fields(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name
            .trim_matches(|character: char| character.is_whitespace() || character == ',')
            .to_ascii_lowercase();
        let after = after.trim_start();
        let (value, length) = match after.bytes().next() {
            Some(b'{') => {
                balanced(&after[1..]).map_or((&after[1..], after.len()), |end| (&after[1..=end], end + 2))
            }
            Some(b'"') => {
                quoted(&after[1..]).map_or((&after[1..], after.len()), |end| (&after[1..=end], end + 2))
            }
            _ => after.find(',').map_or((after, after.len()), |end| (&after[..end], end)),
        };
        out.push((name, super::collapse_whitespace(value)));
        rest = after.get(length..).unwrap_or("");
    }
    out
}

fn quoted(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 => return Some(place),
            _ => {}
        }
    }
    None
}

/// `Surname, Given` as `Given Surname`.
fn person(name: &str) -> String {
    match name.split_once(',') {
        Some((surname, given)) => format!("{} {}", given.trim(), surname.trim()),
        None => name.trim().to_owned(),
    }
}

/// Removes braces, decodes escapes and accents: `{\"o}` becomes ö.
fn untex(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '{' | '}' | '$' => {}
            '~' => out.push(' '),
            '\\' => match characters.next() {
                Some(mark @ ('"' | '\'' | '`' | '^' | '~' | '=' | '.')) => {
                    while characters.next_if(|next| *next == '{').is_some() {}
                    let Some(letter) = characters.next() else { break };
                    out.push(accented(letter, mark));
                }
                Some(letter) if letter.is_ascii_alphabetic() => {
                    let mut command = String::from(letter);
                    while let Some(next) = characters.next_if(char::is_ascii_alphabetic) {
                        command.push(next);
                    }
                    characters.next_if(|next| *next == ' ');
                    out.push_str(match command.as_str() {
                        "ss" => "ß",
                        "o" => "ø",
                        "O" => "Ø",
                        "ae" => "æ",
                        "aa" => "å",
                        "l" => "ł",
                        "alpha" => "α",
                        "beta" => "β",
                        "gamma" => "γ",
                        _ => "",
                    });
                }
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    super::collapse_whitespace(&out)
}

fn accented(letter: char, mark: char) -> char {
    const TABLE: [(char, &str, &str); 5] = [
        ('"', "aeiouAOU", "äëïöüÄÖÜ"),
        ('\'', "aeiouyAEOU", "áéíóúýÁÉÓÚ"),
        ('`', "aeiou", "àèìòù"),
        ('^', "aeiou", "âêîôû"),
        ('~', "anoAN", "ãñõÃÑ"),
    ];
    let row = TABLE.iter().find(|(known, _, _)| *known == mark);
    let found = row.and_then(|(_, plain, marked)| {
        plain.chars().position(|known| known == letter).and_then(|place| marked.chars().nth(place))
    });
    found.unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(text: &str) -> Result<u64> {
        let mut count = 0;
        let input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        import_file(Path::new("x.bib"), input, &mut |batch| {
            count += batch.works;
            Ok(())
        })?;
        Ok(count)
    }

    #[test]
    fn an_entry_is_read() {
        let text = "@article{key,\n title = {The {DNA} of {\\\"o}ther},\n author=\"M{\\\"u}ller, A. and B C\", year = 2020,\n doi={10.1000/a\\_b}, eprint = {2101.00001}, archivePrefix={arXiv}}";
        let (work, _) = entry(text, 0).unwrap();
        let work = work.unwrap();
        assert_eq!(work.title, "The DNA of öther");
        assert_eq!(work.authors, ["A. Müller", "B C"]);
        assert_eq!(
            work.ids.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["doi:10.1000/a_b", "arxiv:2101.00001"]
        );
        assert_eq!(work.created.unwrap().year(), 2020);
    }

    #[test]
    fn odd_files() {
        assert_eq!(works("").unwrap(), 0);
        assert_eq!(
            works("mail a@b.c @comment{x} @string{a=\"b\"} @misc{k, title={Only a title}}").unwrap(),
            1
        );
        let told = works("\n\n@article{k, title={never closed").unwrap_err().to_string();
        assert!(told.starts_with("x.bib:3:"), "{told}");
        assert_eq!(
            works(&format!("@a{{k, title={}x{}}}", "{".repeat(100_000), "}".repeat(100_000))).unwrap(),
            1
        );
    }
}
