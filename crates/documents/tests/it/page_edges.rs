//! Long documents of many layouts: no row and no heading at the edge of a page is lost, and running heads and page
//! numbers are not part of the text.

use std::fmt::Write as _;

use gannet_documents::pdf::{PdfOptions, StopSignal, read_pdf};
use gannet_documents::{MarkdownOptions, to_markdown};

use crate::pdf_files::{bytes_of, make_document};

const PAGE_HEIGHT: f32 = 792.0;
const LEFT: f32 = 50.0;
const ROWS: usize = 160;
const CHAPTERS: usize = 300;

/// Texts that must be in the markdown so many times.
type Counts = Vec<(String, usize)>;

struct Layout {
    name: &'static str,
    pages: Vec<String>,
    expected: Counts,
}

/// A text with its baseline so many points below the top of the page.
fn text(x: f32, top: f32, size: f32, text: &str) -> String {
    set_text("F1", x, top, size, text)
}

fn bold(x: f32, top: f32, size: f32, text: &str) -> String {
    set_text("F2", x, top, size, text)
}

fn set_text(font: &str, x: f32, top: f32, size: f32, text: &str) -> String {
    format!("BT /{font} {size} Tf {x} {} Td ({text}) Tj ET\n", PAGE_HEIGHT - top)
}

/// Where the rows of a page stand.
#[derive(Clone, Copy)]
struct Rows {
    top: f32,
    pitch: f32,
    on_page: usize,
    columns: &'static [f32],
}

const EDGE_TO_EDGE: Rows = Rows { top: 30.0, pitch: 14.0, on_page: 53, columns: &[50.0, 130.0, 420.0] };
const BETWEEN_HEADS: Rows = Rows { top: 70.0, pitch: 14.0, on_page: 47, columns: &[50.0, 130.0, 420.0] };
const DOUBLE_SPACED: Rows = Rows { top: 36.0, pitch: 28.0, on_page: 26, columns: &[50.0, 130.0, 420.0] };

/// Pages of rows, each with what `edges` writes on it; it gets the number of the page, from 1, and that of all pages.
fn table(place: Rows, rows: &[Vec<String>], edges: impl Fn(usize, usize) -> String) -> Vec<String> {
    let chunks: Vec<_> = rows.chunks(place.on_page).collect();
    let all = chunks.len();
    let page = |(rows, number): (&[Vec<String>], usize)| {
        let mut content = edges(number, all);
        for (row, at) in rows.iter().zip(0_u8..) {
            for (cell, x) in row.iter().zip(place.columns) {
                content.push_str(&text(*x, place.top + f32::from(at) * place.pitch, 10.0, cell));
            }
        }
        content
    };
    chunks.into_iter().zip(1..).map(page).collect()
}

fn bare(_: usize, _: usize) -> String {
    String::new()
}

fn price_rows() -> Vec<Vec<String>> {
    let row = |at: usize| {
        vec![
            format!("item{at:04}"),
            format!("Screw {} mm", at % 9),
            format!("{}.{:02}", at * 7 % 90 + 10, at % 100),
        ]
    };
    (0..ROWS).map(row).collect()
}

fn once(names: impl IntoIterator<Item = String>) -> Counts {
    names.into_iter().map(|name| (name, 1)).collect()
}

fn never(names: &[&str]) -> Counts {
    names.iter().map(|name| ((*name).to_owned(), 0)).collect()
}

fn items() -> Counts {
    once((0..ROWS).map(|at| format!("item{at:04}")))
}

fn prose(page: usize, top: f32) -> String {
    (0..40_u8)
        .map(|line| {
            let words = format!(
                "line{page:03}x{line:02} of a text that goes on and fills its line with some more words"
            );
            text(LEFT, top + f32::from(line) * 14.0, 10.0, &words)
        })
        .collect()
}

fn prose_lines(pages: usize) -> Counts {
    once((1..=pages).flat_map(|page| (0..40).map(move |line| format!("line{page:03}x{line:02}"))))
}

fn prose_pages(pages: usize, top: f32, edges: impl Fn(usize, usize) -> String) -> Vec<String> {
    (1..=pages).map(|page| edges(page, pages) + &prose(page, top)).collect()
}

fn tables() -> Vec<Layout> {
    let heads = |page: usize, all: usize| {
        text(LEFT, 30.0, 10.0, "ACME price list")
            + &text(500.0, 30.0, 10.0, &format!("Page {page} of {all}"))
            + &text(LEFT, 770.0, 8.0, "Prices without tax")
    };
    let statement = |page: usize, _: usize| {
        text(LEFT, 28.0, 12.0, "Statement of account")
            + &["Date", "Text", "Amount"]
                .iter()
                .zip(BETWEEN_HEADS.columns)
                .fold(String::new(), |page, (head, x)| page + &bold(*x, 54.0, 10.0, head))
            + &text(LEFT, 755.0, 10.0, "Balance carried forward")
            + &text(420.0, 755.0, 10.0, &format!("carried{page:02}"))
    };
    let entry = |at: usize| {
        vec![format!("{:02}.03.2024", at % 28 + 1), format!("item{at:04}"), format!("-{}.00", at % 5)]
    };
    let numbers =
        |at: usize| (0..3).map(|column| (100_003 + at * 131 + column * 40_009).to_string()).collect();
    let number_rows: Vec<Vec<String>> = (0..ROWS).map(numbers).collect();
    let singles: Vec<Vec<String>> = (0..ROWS).map(|at| vec![(at + 201).to_string()]).collect();
    let readings: Vec<Vec<String>> = (0..ROWS).map(|at| vec![format!("Reading {at:03}")]).collect();
    let equal: Vec<Vec<String>> =
        (0..ROWS).map(|_| vec!["Sensor".into(), "in order".into(), "0.00".into()]).collect();
    let total = |page: usize, _: usize| {
        text(LEFT, 770.0, 10.0, "Total") + &text(420.0, 770.0, 10.0, &format!("{}.50", page * 1_117))
    };
    let grid = |page: usize, all: usize| {
        let mut lines = String::new();
        for x in [45, 125, 415, 500] {
            let _ = writeln!(lines, "{x} 30 m {x} 762 l S");
        }
        for row in 0..=51 {
            let _ = writeln!(lines, "45 {y} m 500 {y} l S", y = 762 - row * 14 - row.min(1) * 12);
        }
        for (head, x) in ["Number", "Name", "Price"].iter().zip(EDGE_TO_EDGE.columns) {
            lines.push_str(&bold(*x, 48.0, 10.0, head));
        }
        lines + &text(280.0, 780.0, 10.0, &format!("{page} / {all}"))
    };
    let in_grid = Rows { top: 66.0, on_page: 50, ..EDGE_TO_EDGE };
    let with = |counts: Counts, more: Counts| counts.into_iter().chain(more).collect::<Counts>();
    vec![
        Layout { name: "price list", pages: table(EDGE_TO_EDGE, &price_rows(), bare), expected: items() },
        Layout {
            name: "price list with heads",
            pages: table(BETWEEN_HEADS, &price_rows(), heads),
            expected: with(items(), never(&["ACME price list", "Page 2", "Prices without tax"])),
        },
        Layout {
            name: "statement",
            pages: table(BETWEEN_HEADS, &(0..ROWS).map(entry).collect::<Vec<_>>(), statement),
            expected: with(items(), once((1..=4).map(|page| format!("carried{page:02}")))),
        },
        Layout {
            name: "double spaced",
            pages: table(DOUBLE_SPACED, &price_rows(), |page, _| text(300.0, 775.0, 10.0, &page.to_string())),
            expected: items(),
        },
        Layout {
            name: "numbers",
            pages: table(EDGE_TO_EDGE, &number_rows, bare),
            expected: once(number_rows.concat()),
        },
        Layout {
            name: "one column",
            pages: table(DOUBLE_SPACED, &singles, bare),
            expected: once(singles.concat()),
        },
        Layout {
            name: "readings",
            pages: table(EDGE_TO_EDGE, &readings, bare),
            expected: once(readings.concat()),
        },
        Layout {
            name: "equal rows",
            pages: table(EDGE_TO_EDGE, &equal, bare),
            expected: vec![("Sensor".into(), ROWS), ("0 00".into(), ROWS)],
        },
        Layout {
            name: "totals apart",
            pages: table(Rows { on_page: 50, ..EDGE_TO_EDGE }, &price_rows(), total),
            expected: with(items(), once((1..=4).map(|page| format!("{} 50", page * 1_117)))),
        },
        Layout {
            name: "grid with repeated headings",
            pages: table(in_grid, &price_rows(), grid),
            expected: with(items(), vec![("Number".into(), 1), ("2 4".into(), 0)]),
        },
    ]
}

fn registers() -> Vec<Layout> {
    let index = |page: usize, _: usize| {
        let letter = ["C", "I", "L", "V", "X"][page % 5];
        bold(LEFT, 36.0, 10.0, letter) + &text(300.0, 776.0, 10.0, &(page + 700).to_string())
    };
    let entries: Vec<Vec<String>> =
        (0..ROWS).map(|at| vec![format!("item{at:04}, {}, {}", at + 3, at + 90)]).collect();
    let guide = |page: usize, _: usize| {
        text(LEFT, 30.0, 10.0, &format!("first{page:02}"))
            + &text(500.0, 30.0, 10.0, &format!("last{page:02}"))
    };
    let numbered: Vec<Vec<String>> =
        (0..ROWS).map(|at| vec![format!("{}. item{at:04} is to be done", at + 1)]).collect();
    let guides = (1..=4).flat_map(|page| [format!("first{page:02}"), format!("last{page:02}")]);
    vec![
        Layout {
            name: "index with letters",
            pages: table(Rows { on_page: 40, ..BETWEEN_HEADS }, &entries, index),
            expected: [items(), once(["I", "L", "V", "X"].map(str::to_owned)), never(&["703"])].concat(),
        },
        Layout {
            name: "dictionary with guide words",
            pages: table(Rows { on_page: 40, ..BETWEEN_HEADS }, &entries, guide),
            expected: [items(), once(guides)].concat(),
        },
        Layout { name: "numbered list", pages: table(EDGE_TO_EDGE, &numbered, bare), expected: items() },
    ]
}

fn chapters() -> Vec<Layout> {
    let names = || once((1..=CHAPTERS).map(|page| format!("Chapter {page} of"))).into_iter();
    let number = |page: usize| text(300.0, 776.0, 10.0, &page.to_string());
    let short = |heading: &dyn Fn(usize) -> String| -> Vec<String> {
        let page = |page: usize| {
            heading(page) + &text(LEFT, 110.0, 10.0, &format!("of words{page:03} and others")) + &number(page)
        };
        (1..=CHAPTERS).map(page).collect()
    };
    let years: Vec<String> = (2001..2040)
        .map(|year| {
            text(LEFT, 50.0, 10.0, &year.to_string()) + &text(LEFT, 110.0, 10.0, "was a year of words")
        })
        .collect();
    let with_words = || names().chain(once((1..=CHAPTERS).map(|page| format!("words{page:03}")))).collect();
    vec![
        Layout {
            name: "chapters in large type",
            pages: short(&|page| text(LEFT, 60.0, 20.0, &format!("Chapter {page}"))),
            expected: with_words(),
        },
        Layout {
            name: "chapters in bold type",
            pages: short(&|page| bold(LEFT, 60.0, 10.0, &format!("Chapter {page}"))),
            expected: with_words(),
        },
        Layout {
            name: "chapters in plain type",
            pages: short(&|page| text(LEFT, 60.0, 10.0, &format!("Chapter {page}"))),
            expected: with_words(),
        },
        Layout {
            name: "large numbers of chapters",
            pages: short(&|page| text(LEFT, 60.0, 24.0, &format!("{}", page + 4000))),
            expected: once((1..=CHAPTERS).map(|page| (page + 4000).to_string())),
        },
        Layout { name: "years", pages: years, expected: once((2001..2040).map(|year| year.to_string())) },
    ]
}

fn books() -> Vec<Layout> {
    let mirrored = |page: usize, _: usize| {
        if page.is_multiple_of(2) {
            text(LEFT, 36.0, 9.0, &page.to_string()) + &text(400.0, 36.0, 9.0, "Journal of Tests")
        } else {
            text(LEFT, 36.0, 9.0, "A title of a paper") + &text(540.0, 36.0, 9.0, &page.to_string())
        }
    };
    let two_lines = |page: usize, _: usize| {
        text(LEFT, 762.0, 8.0, "ACME Ltd, Example Street") + &text(300.0, 774.0, 8.0, &format!("- {page} -"))
    };
    let brand = |page: usize, all: usize| {
        text(LEFT, 40.0, 18.0, "ACME") + &text(500.0, 775.0, 10.0, &format!("Seite {page} von {all}"))
    };
    let roman = |page: usize, _: usize| {
        text(300.0, 775.0, 10.0, ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"][page - 1])
    };
    let dated = |page: usize, _: usize| text(LEFT, 30.0, 8.0, &format!("12.03.2024 10:15 | Report | {page}"));
    let footers = |page: usize, _: usize| text(LEFT, 775.0, 8.0, &format!("Handbook of tests {page}"));
    let book = |name, top, edges: &dyn Fn(usize, usize) -> String, more: Counts| Layout {
        name,
        pages: prose_pages(9, top, edges),
        expected: [prose_lines(9), more].concat(),
    };
    vec![
        book("no heads", 30.0, &bare, Vec::new()),
        book("mirrored heads", 80.0, &mirrored, never(&["Journal of Tests", "A title of a paper"])),
        book("feet of two lines", 60.0, &two_lines, never(&["ACME Ltd", "3"])),
        book("brand in large type", 80.0, &brand, vec![("ACME".into(), 1), ("Seite".into(), 0)]),
        book("roman numbers", 60.0, &roman, never(&["ii", "iv", "ix"])),
        book("heads with a date", 80.0, &dated, never(&["Report", "10 15"])),
        book("feet with a number", 60.0, &footers, never(&["Handbook"])),
    ]
}

/// The words alone, each with a space of its own on both sides.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| [" ", word, " "]).collect()
}

#[test]
fn no_row_and_no_heading_at_the_edge_of_a_page_is_lost() {
    let mut faults = String::new();
    let mut layouts = tables();
    layouts.extend(registers());
    layouts.extend(chapters());
    layouts.extend(books());
    for layout in layouts {
        let pages: Vec<&str> = layout.pages.iter().map(String::as_str).collect();
        let bytes = bytes_of(make_document(&pages));
        let file = read_pdf(&bytes, &PdfOptions::default(), &StopSignal::default()).expect("a PDF");
        let markdown = words_of(&to_markdown(&file.document, MarkdownOptions::default()).text);
        let found = |name: &str| markdown.matches(&words_of(name)).count();
        let wrong: Vec<String> = layout
            .expected
            .iter()
            .map(|(name, count)| (name, *count, found(name)))
            .filter(|(_, expected, found)| expected != found)
            .map(|(name, expected, found)| format!("{name}: {found} of {expected}"))
            .collect();
        if !wrong.is_empty() {
            let _ = writeln!(
                faults,
                "{}: {} wrong, {:?}",
                layout.name,
                wrong.len(),
                &wrong[..wrong.len().min(8)]
            );
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
