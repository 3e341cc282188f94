//! The kinds of files that are parsed, as callers see them: made from the kinds that are recognised, so that the list
//! agrees with what is accepted.

use documents::FileKind;
use std::fmt::Write;
use wire::parse::{ParseFormat, ParseFormats};

/// All kinds; pictures are available where there is OCR.
pub fn list(has_ocr: bool) -> ParseFormats {
    let formats = FileKind::ALL.into_iter().map(|kind| ParseFormat {
        format: kind.extensions().first().copied().unwrap_or_default(),
        kind: if kind.is_image() { "image" } else { "document" },
        extensions: kind.extensions(),
        mime_types: vec![kind.media_type()],
        available: is_read(kind, has_ocr),
    });
    ParseFormats { formats: formats.collect() }
}

/// Whether files of a kind can be read. AVIF is recognised, but there is no decoder for it.
fn is_read(kind: FileKind, has_ocr: bool) -> bool {
    kind != FileKind::Avif && (has_ocr || !kind.is_image())
}

/// The kinds as a table in markdown, for the documentation.
pub fn formats_table() -> String {
    let mut text =
        String::from("| kind of file | names end in | media type | |\n| --- | --- | --- | --- |\n");
    for kind in FileKind::ALL {
        let endings: Vec<String> = kind.extensions().iter().map(|ending| format!("`.{ending}`")).collect();
        let needs = match (is_read(kind, false), is_read(kind, true)) {
            (true, _) => "",
            (false, true) => "with OCR",
            (false, false) => "recognised, not read",
        };
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "| {} | {} | `{}` | {needs} |", kind.name(), endings.join(" "), kind.media_type());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_has_every_kind_once_and_what_the_contract_names() {
        let listed = list(false).formats;
        let names: BTreeSet<_> = listed.iter().map(|format| format.format).collect();
        assert_eq!(names.len(), FileKind::ALL.len());
        let contract =
            "html htm xhtml pdf docx doc docm odt ods odp rtf xlsx xls xlsm xlsb pptx ppt pptm epub csv";
        for extension in contract.split(' ') {
            let format = listed.iter().find(|format| format.extensions.contains(&extension));
            let format = format.unwrap_or_else(|| panic!("{extension} is not listed"));
            assert!(format.available && format.kind == "document", "{format:?}");
        }
        let image =
            |formats: &[ParseFormat]| formats.iter().find(|format| format.format == "png").cloned().unwrap();
        assert!(!image(&listed).available && image(&list(true).formats).available);
        assert_eq!(image(&listed).kind, "image");
        let unread: Vec<_> = list(true).formats.into_iter().filter(|format| !format.available).collect();
        assert_eq!(unread.iter().map(|format| format.format).collect::<Vec<_>>(), ["avif"]);
    }
}
