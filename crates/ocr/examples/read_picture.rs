//! Prints the markdown of image files and of PDFs, read by OCR: `read_picture MODELS_FOLDER FILE…`. With `--lines` it
//! prints each line with its confidence and its corners.

use std::path::Path;

use documents::pdf::{PdfMode, PdfOptions, StopSignal, read_pdf};
use documents::{Document, FileHint, FileKind, MarkdownOptions, PictureReader as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let lines = arguments.iter().any(|argument| argument == "--lines");
    arguments.retain(|argument| argument != "--lines");
    let [folder, files @ ..] = &arguments[..] else {
        return Err("usage: read_picture MODELS_FOLDER FILE…".into());
    };
    let reader = ocr::TextReader::new(ocr::ModelFiles::open(Path::new(folder))?, 1);
    let stop = StopSignal::default();
    for file in files {
        let bytes = std::fs::read(file)?;
        let kind = documents::detect(&bytes, FileHint { name: Some(file), content_type: None })?;
        if lines && kind != FileKind::Pdf {
            for line in
                reader.read_image(kind, &bytes, None, &stop)?.pages.into_iter().flat_map(|page| page.lines)
            {
                println!("{:.3} {:?} {}", line.confidence, line.corners, line.text);
            }
            continue;
        }
        let document: Document = if kind == FileKind::Pdf {
            let options = PdfOptions { mode: PdfMode::Ocr, ..PdfOptions::default() };
            let mut pdf = read_pdf(&bytes, &options, &stop)?;
            documents::read_pages_by_ocr(&mut pdf, &bytes, None, &reader, &stop);
            pdf.document
        } else {
            documents::parse_picture(&bytes, kind, None, &reader, &stop)?
        };
        println!("{}", documents::to_markdown(&document, MarkdownOptions::default()).text);
        for warning in &document.warnings {
            eprintln!("{file}: {warning}");
        }
    }
    Ok(())
}
