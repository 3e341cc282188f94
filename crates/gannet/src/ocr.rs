//! OCR of this installation: whether its program and its models are here, and how to get what is missing.
//! Never reads a picture.

use crate::settings::Settings;
use document_process::{INSTALL_OCR_MODELS, OcrProgram, OcrProgramError, OcrSetup};
use model::ModelDir;
use std::path::PathBuf;

/// The name of the models.
pub const MODELS: &str = "ocr";

/// The two parts, each with what is wrong with it.
#[derive(Debug)]
pub struct OcrParts {
    pub program: Result<OcrProgram, OcrProgramError>,
    /// Their folder, if they are installed and unchanged.
    pub models: Result<PathBuf, model::Error>,
}

impl OcrParts {
    pub fn find(settings: &Settings) -> Self {
        let models = ModelDir::new(settings.models_folder()).verify(MODELS);
        Self { program: OcrProgram::find(), models }
    }

    /// Whether nothing is wrong but that a part is not installed.
    pub fn are_only_missing(&self) -> bool {
        matches!(self.program, Ok(_) | Err(OcrProgramError::Missing(_)))
            && matches!(self.models, Ok(_) | Err(model::Error::Missing(_)))
    }

    /// What is wrong, and how to get what is missing; empty where nothing is.
    pub fn describe_problems(&self) -> String {
        let program = self.program.as_ref().err().map(ToString::to_string);
        let models = self.models.as_ref().err().map(|error| match error {
            model::Error::Missing(_) => {
                format!("the models are not installed; to install them: {INSTALL_OCR_MODELS}")
            }
            error => error.to_string(),
        });
        program.into_iter().chain(models).collect::<Vec<_>>().join("; ")
    }
}

/// What files are read with, where both parts are here. One that cannot be used is as good as none: files are
/// still read, without OCR.
pub fn find_ocr(settings: &Settings) -> Option<OcrSetup> {
    let models = match ModelDir::new(settings.models_folder()).find_unchanged(MODELS) {
        // The process that opens them starts in another folder.
        Ok(folder) => std::path::absolute(&folder).unwrap_or(folder),
        Err(model::Error::Missing(_)) => return None,
        Err(error) => {
            tracing::warn!(%error, "the OCR models cannot be used");
            return None;
        }
    };
    match OcrProgram::find_known(&models) {
        Ok(program) => Some(OcrSetup { program, models }),
        Err(error) => {
            tracing::warn!(%error, "the OCR models are installed and cannot be used");
            None
        }
    }
}
