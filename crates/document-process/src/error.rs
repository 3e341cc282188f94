//! Why a file could not be read. The texts are for the person who sent the file.

use documents::pdf::PdfError;
use documents::{DocumentError, PictureError};
use sandbox::JobError;
use serde::{Deserialize, Serialize};

/// Why a file could not be read at all; what is missing from a file that could be read is a warning instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ParseError {
    #[error("Files of this kind are not supported: {0}.")]
    Unsupported(String),
    /// Read by the caller, as a web page.
    #[error("HTML files are read as web pages.")]
    Html,
    #[error("The file is empty.")]
    Empty,
    #[error("The file is damaged and could not be read: {0}.")]
    Damaged(String),
    #[error("The file is protected with a password.")]
    PasswordRequired,
    #[error("The password does not open the file.")]
    WrongPassword,
    /// None of its pages has text; `pages` is empty for a picture.
    #[error(
        "The file has no text that can be read without OCR, and OCR was not used or is not available on this server."
    )]
    OcrRequired { pages: Vec<u32> },
    #[error("The PDF has no pages.")]
    NoPages,
    #[error("Reading the file took longer than the request allows.")]
    TimedOut,
    #[error("Reading the file needs more memory than is allowed for one file.")]
    OutOfMemory,
    /// The file made its process crash; the text says where, for the log, and quotes nothing of the file.
    #[error("The file could not be read: it made the reader crash.")]
    Crashed(String),
    #[error("The file is too large: {0}.")]
    TooLarge(String),
    /// Not the fault of the file.
    #[error("Files cannot be read at the moment: {0}.")]
    Unavailable(String),
}

impl From<DocumentError> for ParseError {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Empty => Self::Empty,
            DocumentError::Unsupported(kind) => Self::Unsupported(kind),
            DocumentError::Encrypted => Self::PasswordRequired,
            DocumentError::WrongPassword => Self::WrongPassword,
            DocumentError::Damaged(why) => Self::Damaged(why),
            DocumentError::TooLarge(why) => Self::TooLarge(why),
            DocumentError::Html => Self::Html,
            DocumentError::NeedsOcr => Self::OcrRequired { pages: Vec::new() },
            DocumentError::Stopped => Self::TimedOut,
        }
    }
}

impl From<PdfError> for ParseError {
    fn from(error: PdfError) -> Self {
        match error {
            PdfError::NoPages => Self::NoPages,
            error => DocumentError::from(error).into(),
        }
    }
}

impl From<PictureError> for ParseError {
    fn from(error: PictureError) -> Self {
        match error {
            PictureError::Unsupported(kind) => Self::Unsupported(kind),
            PictureError::TooLarge(why) => Self::TooLarge(why),
            PictureError::Stopped => Self::TimedOut,
            PictureError::Damaged(why) => Self::Damaged(why),
            error => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<JobError> for ParseError {
    fn from(error: JobError) -> Self {
        match error {
            JobError::TimedOut => Self::TimedOut,
            JobError::OutOfMemory => Self::OutOfMemory,
            JobError::TooLarge { max_bytes, .. } => {
                Self::TooLarge(format!("its text has more than {} MB", max_bytes / (1024 * 1024)))
            }
            error @ (JobError::Crashed { .. } | JobError::Protocol(_)) => Self::Crashed(error.to_string()),
            error => Self::Unavailable(error.to_string()),
        }
    }
}
