//! Whether text in pictures can be read.

use super::{CheckResult, CheckStatus};
use crate::ocr_models;
use crate::settings::Settings;
use ::model::{Error, ModelDir};

/// Compares the files of the models with their checksums and loads them.
pub fn check(settings: &Settings) -> CheckResult {
    let part = "ocr";
    let models = ModelDir::new(settings.models_folder());
    let folder = match models.verify(ocr_models::NAME) {
        Ok(folder) => folder,
        Err(Error::Missing(_)) => {
            let text = format!(
                "not installed; pictures and scanned pages are not read. Install: {}",
                ocr_models::INSTALL
            );
            return CheckResult { part, verdict: CheckStatus::Missing, text };
        }
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: error.to_string() },
    };
    let loaded = ::ocr::ModelFiles::open(&folder)
        .map_err(|error| error.to_string())
        .and_then(|files| ::ocr::TextReader::new(files, 1).load().map_err(|error| error.to_string()));
    match loaded {
        Ok(()) => CheckResult { part, verdict: CheckStatus::Ok, text: folder.display().to_string() },
        Err(text) => CheckResult { part, verdict: CheckStatus::Broken, text },
    }
}
