//! Whether text in pictures can be read.

use super::{CheckResult, CheckStatus};
use crate::ocr::OcrParts;
use crate::settings::Settings;

/// Compares the version of the program and the checksums of the models, and has the program load them.
pub fn check(settings: &Settings) -> CheckResult {
    let part = "ocr";
    let parts = OcrParts::find(settings);
    let (verdict, text) = if let (Ok(program), Ok(folder)) = (&parts.program, &parts.models) {
        match program.check_models(folder) {
            Ok(()) => (CheckStatus::Ok, format!("{} with {}", program.path().display(), folder.display())),
            Err(reason) => (CheckStatus::Broken, reason),
        }
    } else {
        let verdict = if parts.are_only_missing() { CheckStatus::Missing } else { CheckStatus::Broken };
        let problems = parts.describe_problems();
        (verdict, format!("pictures and scanned pages are not read: {problems}"))
    };
    CheckResult { part, verdict, text }
}
