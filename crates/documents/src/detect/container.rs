//! Zip packages and compound files, by what is inside.

use std::io::Cursor;

use super::FileKind;
use crate::error::DocumentError;
use crate::package::Archive;

pub(super) fn zip_kind(bytes: &[u8]) -> Result<FileKind, DocumentError> {
    let mut archive = Archive::open(bytes)?;
    if let Ok(Some(media_type)) = archive.part("mimetype") {
        let media_type = String::from_utf8_lossy(&media_type).trim().to_ascii_lowercase();
        let open_document = media_type.strip_prefix("application/vnd.oasis.opendocument.");
        let kind = match open_document.map(|rest| rest.trim_end_matches("-template")) {
            Some("text" | "text-master" | "text-web") => Some(FileKind::Odt),
            Some("presentation" | "graphics") => Some(FileKind::Odp),
            Some("spreadsheet") => Some(FileKind::Ods),
            _ if media_type == "application/epub+zip" => Some(FileKind::Epub),
            _ => None,
        };
        if let Some(kind) = kind {
            return Ok(kind);
        }
    }
    let has = |name: &str| archive.names().any(|other| other.eq_ignore_ascii_case(name));
    let has_folder = |folder: &str| archive.names().any(|name| name.to_ascii_lowercase().starts_with(folder));
    if has("xl/workbook.bin") {
        return Ok(FileKind::Xlsb);
    }
    if has("[Content_Types].xml") {
        // The folder names are a habit of every program, the main part of each is a rule.
        for (folder, kind) in [("word/", FileKind::Docx), ("ppt/", FileKind::Pptx), ("xl/", FileKind::Xlsx)] {
            if has_folder(folder) {
                return Ok(kind);
            }
        }
    }
    if has("META-INF/container.xml") {
        return Ok(FileKind::Epub);
    }
    Err(DocumentError::Unsupported("a zip archive that is no office document".to_owned()))
}

pub(super) fn compound_kind(bytes: &[u8]) -> Result<FileKind, DocumentError> {
    let file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(DocumentError::damaged)?;
    // An encrypted document of the newer formats is wrapped into a compound file.
    if file.is_stream("/EncryptedPackage") {
        return Err(DocumentError::Encrypted);
    }
    let streams = [
        ("/WordDocument", FileKind::Doc),
        ("/PowerPoint Document", FileKind::Ppt),
        ("/Workbook", FileKind::Xls),
        ("/Book", FileKind::Xls),
        ("/__properties_version1.0", FileKind::Msg),
    ];
    let found = streams.into_iter().find(|(name, _)| file.is_stream(name));
    found
        .map(|(_, kind)| kind)
        .ok_or_else(|| DocumentError::Unsupported("a compound file that is no office document".to_owned()))
}
