//! Tables with separators: CSV, TSV and their kin.

use crate::block::{Block, BlockKind, Cell, Content, Document, Page, Span, Table};
use crate::table::MAX_COLUMNS;

const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
/// Lines that decide which character separates.
const SAMPLE_LINES: usize = 64;
const MAX_CELLS: usize = 1_000_000;

/// The character that separates, if the text is a table at all.
fn find_delimiter(text: &str) -> Option<char> {
    let sample: String = text.split_inclusive('\n').take(SAMPLE_LINES).collect();
    let scored = DELIMITERS.into_iter().filter_map(|delimiter| {
        let rows = Records::new(&sample, delimiter).map(|row| row.len()).collect::<Vec<_>>();
        let usual = most_common(&rows)?;
        let same = rows.iter().filter(|count| **count == usual).count();
        // How much of the text agrees, then how many columns there are.
        (usual > 1).then_some((same * 100 / rows.len().max(1), usual, delimiter))
    });
    scored.max_by_key(|(agreement, columns, _)| (*agreement, *columns)).map(|(_, _, delimiter)| delimiter)
}

/// Whether a text without a name is a table: every line has the same number of fields, at least two.
pub(crate) fn is_regular_table(text: &str) -> bool {
    let Some(delimiter) = find_delimiter(text) else { return false };
    let sample: String = text.split_inclusive('\n').take(SAMPLE_LINES).collect();
    let rows = Records::new(&sample, delimiter).map(|row| row.len()).collect::<Vec<_>>();
    rows.len() > 2 && rows.iter().all(|count| *count == rows[0]) && rows[0] > 1
}

fn most_common(counts: &[usize]) -> Option<usize> {
    let best =
        counts.iter().max_by_key(|count| (counts.iter().filter(|other| other == count).count(), **count));
    best.copied()
}

pub(crate) fn parse_delimited(text: &str) -> Document {
    // Excel writes the separator into the first line when it is asked to.
    let (named, text) = match text.strip_prefix("sep=") {
        Some(rest) => (rest.chars().next(), rest.split_once('\n').map_or("", |(_, rest)| rest)),
        None => (None, text),
    };
    let delimiter = named.or_else(|| find_delimiter(text)).unwrap_or(',');
    let mut document = Document { total_pages: 1, ..Document::default() };
    let mut rows = Vec::new();
    let mut cells = 0;
    for record in Records::new(text, delimiter) {
        if cells >= MAX_CELLS {
            document.warnings.push(format!("Only the first {MAX_CELLS} cells were read."));
            break;
        }
        let fields = record.into_iter().take(MAX_COLUMNS).enumerate();
        let row: Vec<Cell> = fields
            .map(|(column, field)| Cell::new(column, vec![Span::plain(field.trim().to_owned())]))
            .collect();
        cells += row.len();
        rows.push(row);
    }
    let table = Table { rows, header_rows: 1 };
    let blocks = vec![Block::native(BlockKind::Table, Content::Table(table))];
    document.pages = vec![Page::whole(blocks)];
    document
}

/// The records of a text: fields may be in quotes, and a quoted field may hold separators, line ends and, doubled,
/// quotes.
struct Records<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    delimiter: char,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, delimiter: char) -> Self {
        Self { rest: text.chars().peekable(), delimiter }
    }

    fn record(&mut self) -> Option<Vec<String>> {
        self.rest.peek()?;
        let mut fields = Vec::new();
        let mut field = String::new();
        let mut quoted = false;
        let mut at_start = true;
        while let Some(c) = self.rest.next() {
            if quoted {
                match c {
                    '"' if self.rest.peek() == Some(&'"') => {
                        self.rest.next();
                        field.push('"');
                    }
                    '"' => quoted = false,
                    c => field.push(c),
                }
                continue;
            }
            match c {
                '"' if at_start => quoted = true,
                c if c == self.delimiter => {
                    fields.push(std::mem::take(&mut field));
                    at_start = true;
                    continue;
                }
                '\n' => break,
                '\r' => continue,
                ' ' if at_start => continue,
                c => field.push(c),
            }
            at_start = false;
        }
        fields.push(field);
        Some(fields)
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        loop {
            let record = self.record()?;
            // An empty line is no record.
            if record.len() > 1 || record.iter().any(|field| !field.trim().is_empty()) {
                return Some(record);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find_delimiter, parse_delimited};
    use crate::{MarkdownOptions, to_markdown};

    fn markdown(text: &str) -> String {
        to_markdown(&parse_delimited(text), MarkdownOptions::default()).text
    }

    #[test]
    fn the_separator_is_found() {
        assert_eq!(find_delimiter("a,b,c\n1,2,3\n"), Some(','));
        assert_eq!(find_delimiter("name;price\nx;1,5\ny;2,5\n"), Some(';'));
        assert_eq!(find_delimiter("a\tb\n1,5\t2\n"), Some('\t'));
        assert_eq!(find_delimiter("a|b\n\"x|y\"|2\n"), Some('|'));
        assert_eq!(find_delimiter("just a line\nand another\n"), None);
    }

    #[test]
    fn quotes_hold_separators_lines_and_quotes() {
        let table = markdown("a,b\r\n\"x, y\",\"say \"\"hi\"\"\nagain\"\r\n\r\n3\r\n");
        assert_eq!(table, "| a | b |\n| --- | --- |\n| x, y | say \"hi\" again |\n| 3 |  |");
    }

    #[test]
    fn a_quote_that_never_closes_ends_with_the_file() {
        assert_eq!(markdown("a,b\n\"1,2\n3,4"), "| a | b |\n| --- | --- |\n| 1,2 3,4 |  |");
    }
}
