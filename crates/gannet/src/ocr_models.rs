//! The OCR models of these settings: where they are, and how to get them.

use crate::settings::Settings;
use model::ModelDir;
use std::path::PathBuf;

pub const NAME: &str = "ocr";
/// How to install them.
pub const INSTALL: &str =
    "pip download --no-deps rapidocr==3.10.0 && gannet models add ocr rapidocr-3.10.0-py3-none-any.whl";

/// The folder of the models, if they are installed and unchanged. A damaged model is as good as none: files are still
/// read, without OCR.
pub fn find_ocr_models(settings: &Settings) -> Option<PathBuf> {
    match ModelDir::new(settings.models_folder()).verify(NAME) {
        // The process that opens them starts in another folder.
        Ok(folder) => Some(std::path::absolute(&folder).unwrap_or(folder)),
        Err(model::Error::Missing(_)) => None,
        Err(error) => {
            tracing::warn!(%error, "the OCR models cannot be used");
            None
        }
    }
}
