//! PDFs as files: good, damaged, locked and hostile ones.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use gannet_documents::pdf::{PdfError, PdfMode, PdfOptions, StopSignal, read_pdf};
use gannet_documents::{BlockKind, Content, MarkdownOptions, PageStatus, to_markdown};
use lopdf::Object;
use testkit::lock_pdf;

use crate::pdf_files::{bytes_of, make_document};

fn text_at(x: u32, y: u32, text: &str) -> String {
    format!("BT /F1 11 Tf {x} {y} Td ({text}) Tj ET\n")
}

fn read_bytes(bytes: &[u8]) -> Result<gannet_documents::pdf::PdfDocument, PdfError> {
    read_pdf(bytes, &PdfOptions::default(), &StopSignal::default())
}

fn sample() -> Vec<u8> {
    let first =
        [text_at(72, 700, "The first page has a sentence."), text_at(72, 650, "And another one.")].concat();
    bytes_of(make_document(&[&first, &text_at(72, 700, "The second page.")]))
}

#[test]
fn text_of_all_pages_is_read_in_order() {
    let file = read_bytes(&sample()).unwrap();
    let markdown = to_markdown(&file.document, MarkdownOptions::default()).text;
    assert_eq!(markdown, "The first page has a sentence.\n\nAnd another one.\n\nThe second page.");
    assert_eq!(file.document.total_pages, 2);
    assert_eq!((file.document.pages[0].width, file.document.pages[0].height), (612.0, 792.0));
}

#[test]
fn page_limit_is_kept_and_told() {
    let options = PdfOptions { max_pages: Some(1), ..PdfOptions::default() };
    let file = read_pdf(&sample(), &options, &StopSignal::default()).unwrap();
    assert_eq!((file.document.pages.len(), file.document.total_pages), (1, 2));
    assert_eq!(file.document.warnings, ["Only the first 1 of 2 pages were read."]);
}

#[test]
fn drawn_grid_is_a_table() {
    let mut content = String::new();
    for y in [700, 680, 660, 640] {
        let _ = writeln!(content, "72 {y} m 372 {y} l S");
    }
    for x in [72, 172, 272, 372] {
        let _ = writeln!(content, "{x} 640 m {x} 700 l S");
    }
    for (row, y) in [685, 665, 645].into_iter().enumerate() {
        for (column, x) in [80, 180, 280].into_iter().enumerate() {
            content.push_str(&text_at(x, y, &format!("r{row}c{column}")));
        }
    }
    let file = read_bytes(&bytes_of(make_document(&[&content]))).unwrap();
    let block = &file.document.pages[0].blocks[0];
    assert_eq!(block.kind, BlockKind::Table);
    let Content::Table(table) = &block.content else { panic!("no table") };
    assert_eq!((table.rows.len(), table.rows[0].len()), (3, 3));
    let bbox = block.bbox.unwrap();
    assert!((bbox.left - 72.0 / 612.0).abs() < 0.01 && (bbox.top - 92.0 / 792.0).abs() < 0.01);
}

#[test]
fn pieces_of_text_over_each_other_are_read() {
    let mut content = String::new();
    let pieces = [
        (490.746_65, 114.320_01, 8.3, "Long:"),
        (516.582_9, 114.320_01, 8.3, "94 823477"),
        (430.76, 114.320_01, 8.3, "Lat: 44.673173, Long: -94.823477"),
        (65.2, 114.320_01, 8.3, "they could find."),
        (65.12, 90.62, 8.3, "Yield & Income Factors:"),
        (452.003_67, 66.820_01, 6.64, " not significantly different"),
        (488.76, 53.280_03, 6.64, "AgSCI Copyright 2012"),
        (108.66, 42.900_026, 6.64, "10/5/2012"),
        (153.54, 42.900_026, 6.64, "Revised:"),
    ];
    for (x, y, size, text) in pieces {
        let _ = writeln!(content, "BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET");
    }
    let file = read_bytes(&bytes_of(make_document(&[&content]))).unwrap();
    let text = to_markdown(&file.document, MarkdownOptions::default()).text;
    for word in ["44.673173", "they could find", "Income Factors", "significantly", "AgSCI", "Revised"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn every_page_is_named_when_ocr_is_asked_for() {
    let options = PdfOptions { mode: PdfMode::Ocr, ..PdfOptions::default() };
    let file = read_pdf(&sample(), &options, &StopSignal::default()).unwrap();
    assert_eq!(file.pages_needing_ocr.iter().map(|page| page.page).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(file.document.pages[0].status, PageStatus::Ok);
}

#[test]
fn other_files_are_refused_with_their_reason() {
    assert_eq!(read_bytes(b""), Err(PdfError::NotPdf));
    assert_eq!(read_bytes(b"PK\x03\x04 not a pdf at all"), Err(PdfError::NotPdf));
    assert!(matches!(read_bytes(b"%PDF-1.5\nnothing else"), Err(PdfError::Damaged(_))));
}

#[test]
fn stop_flag_is_obeyed() {
    let flag = AtomicBool::new(true);
    let stop = StopSignal { deadline: None, flag: Some(&flag) };
    assert_eq!(read_pdf(&sample(), &PdfOptions::default(), &stop), Err(PdfError::Stopped));
}

fn read_with_password(bytes: &[u8], password: Option<&str>) -> Result<String, PdfError> {
    let options = PdfOptions { password: password.map(ToOwned::to_owned), ..PdfOptions::default() };
    let file = read_pdf(bytes, &options, &StopSignal::default())?;
    Ok(to_markdown(&file.document, MarkdownOptions::default()).text)
}

#[test]
fn locked_files_open_with_either_password_and_with_no_other() {
    let locked = lock_pdf(&sample(), "owner", "user");
    let open = "The first page has a sentence.\n\nAnd another one.\n\nThe second page.";
    for password in ["user", "owner"] {
        assert_eq!(read_with_password(&locked, Some(password)).as_deref(), Ok(open), "{password}");
    }
    assert_eq!(read_with_password(&locked, None), Err(PdfError::PasswordRequired));
    assert_eq!(read_with_password(&locked, Some("other")), Err(PdfError::WrongPassword));
    // Only printing is restricted: nobody is asked for a password.
    let restricted = lock_pdf(&sample(), "owner", "");
    assert_eq!(read_with_password(&restricted, None).as_deref(), Ok(open));
    assert_eq!(read_with_password(&restricted, Some("not needed")).as_deref(), Ok(open));
}

#[test]
fn page_tree_that_contains_itself_ends() {
    let mut document = make_document(&[&text_at(72, 700, "Once only.")]);
    let tree = document.catalog().unwrap().get(b"Pages").unwrap().as_reference().unwrap();
    let pages = document.get_dictionary_mut(tree).unwrap();
    let Ok(Object::Array(kids)) = pages.get_mut(b"Kids") else { panic!("no kids") };
    kids.push(Object::Reference(tree));
    let file = read_bytes(&bytes_of(document)).unwrap();
    let text = to_markdown(&file.document, MarkdownOptions::default()).text;
    assert_eq!(text.matches("Once only.").count(), 1, "{:#?}", file.document);
}

#[test]
fn cut_and_changed_files_never_panic() {
    let whole = sample();
    for end in (0..whole.len()).step_by(37) {
        let _ = read_bytes(&whole[..end]);
    }
    let mut state = 12_345u32;
    for _ in 0..200 {
        let mut changed = whole.clone();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = state as usize % changed.len();
            changed[at] = (state >> 24) as u8;
        }
        let _ = read_bytes(&changed);
    }
}
