//! What becomes of good, bad and hostile files.

use document_process::{
    DocumentParser, MAX_FILE_BYTES, Mode, ParseError, ParseJob, ParsedFile, ParserOptions,
};
use documents::{FileKind, MarkdownOptions, to_markdown};
use libtest_mimic::{Failed, Trial};
use sandbox::bytes_as_input;
use std::time::{Duration, Instant};
use testkit::pdf;
use uuid::Uuid;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_pdf_comes_back_as_its_blocks", pdf_comes_back),
        trial("max_pages_bounds_what_is_read_and_priced", max_pages),
        trial("a_scan_without_ocr_says_so_and_text_beside_a_scan_is_kept", scans),
        trial("what_is_no_document_is_a_typed_error", typed_errors),
        trial("out_of_time_is_an_error_in_time_and_the_next_file_works", out_of_time),
    ]
}

fn trial<F: Future<Output = ()> + 'static>(name: &str, test: fn() -> F) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        runtime.map_err(Failed::from)?.block_on(test());
        Ok(())
    })
}

const SECONDS: Duration = Duration::from_secs(20);

fn parser() -> DocumentParser {
    DocumentParser::new(ParserOptions { ocr: None, max_jobs: 2, warm_processes: 1 })
}

async fn parse(bytes: &[u8], job: ParseJob) -> Result<ParsedFile, ParseError> {
    let input = bytes_as_input(bytes).expect("memory");
    parser().parse(Uuid::from_u128(1), &input, &job, SECONDS).await
}

fn markdown(file: &ParsedFile) -> String {
    to_markdown(&file.document, MarkdownOptions::default()).text
}

async fn pdf_comes_back() {
    let file =
        parse(&pdf(&["Hello from page one", "And page two"]), ParseJob::default()).await.expect("a PDF");
    assert_eq!(file.kind, FileKind::Pdf);
    assert_eq!((file.pages_read(), file.document.total_pages), (2, 2));
    assert_eq!(markdown(&file), "Hello from page one\n\nAnd page two");
    let rtf = parse(br"{\rtf1 Hello {\b bold}\par}", ParseJob::default()).await.expect("RTF");
    assert_eq!((rtf.kind, markdown(&rtf).as_str()), (FileKind::Rtf, "Hello **bold**"));
}

async fn max_pages() {
    let job = ParseJob { max_pages: Some(1), ..ParseJob::default() };
    let file = parse(&pdf(&["One", "Two", "Three"]), job).await.expect("a PDF");
    assert_eq!((file.pages_read(), file.document.total_pages), (1, 3));
    assert_eq!(markdown(&file), "One");
    assert!(file.document.warnings.iter().any(|warning| warning.contains("1 of 3")), "{file:?}");
}

async fn scans() {
    for mode in [Mode::Fast, Mode::Auto, Mode::Ocr] {
        let job = ParseJob { mode, ..ParseJob::default() };
        let error = parse(&pdf(&["", ""]), job).await.expect_err("nothing to read");
        assert_eq!(error, ParseError::OcrRequired { pages: vec![1, 2] }, "{mode:?}");
    }
    let file = parse(&pdf(&["Some text that can be read", ""]), ParseJob::default()).await.expect("one page");
    assert_eq!(file.pages_needing_ocr, [2]);
    assert_eq!(markdown(&file), "Some text that can be read");
    assert!(!file.document.warnings.is_empty());
}

async fn typed_errors() {
    let job = ParseJob::default;
    assert_eq!(parse(b" \n", job()).await, Err(ParseError::Empty));
    assert_eq!(parse(b"<!doctype html><p>x", job()).await, Err(ParseError::Html));
    let picture = parse(b"\x89PNG\r\n\x1a\n and more", job()).await;
    assert_eq!(picture, Err(ParseError::OcrRequired { pages: Vec::new() }));
    assert!(matches!(parse(b"PK\x03\x04 no archive", job()).await, Err(ParseError::Damaged(_))));
    assert!(matches!(
        parse(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0", job()).await,
        Err(ParseError::Unsupported(_))
    ));
    let mut large = pdf(&["x"]);
    large.resize(usize::try_from(MAX_FILE_BYTES).expect("a size") + 1, b' ');
    assert!(matches!(parse(&large, job()).await, Err(ParseError::TooLarge(_))));
}

async fn out_of_time() {
    let parser = parser();
    let pages = vec!["A page of a long file"; 3000];
    let input = bytes_as_input(&pdf(&pages)).expect("memory");
    let started = Instant::now();
    let limit = Duration::from_millis(150);
    let result = parser.parse(Uuid::from_u128(1), &input, &ParseJob::default(), limit).await;
    assert_eq!(result, Err(ParseError::TimedOut));
    assert!(started.elapsed() < limit + Duration::from_secs(1), "{:?}", started.elapsed());
    let input = bytes_as_input(&pdf(&["Next"])).expect("memory");
    let next = parser.parse(Uuid::from_u128(1), &input, &ParseJob::default(), SECONDS).await.expect("a PDF");
    assert_eq!(markdown(&next), "Next");
}
