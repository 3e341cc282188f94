//! Why a file could not be read. The texts are for the person who sent the file.

use crate::pdf::PdfError;

/// What went wrong with a file as a whole; what is missing from a file that could be read is a warning instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("The file is empty.")]
    Empty,
    #[error("Files of this kind are not supported: {0}.")]
    Unsupported(String),
    #[error("The file is protected with a password.")]
    Encrypted,
    #[error("The password does not open the file.")]
    WrongPassword,
    #[error("The file is damaged and could not be read: {0}.")]
    Damaged(String),
    #[error("The file is too large to be read: {0}.")]
    TooLarge(String),
    /// The kind is known and read by another part of the service.
    #[error("HTML files are read as web pages.")]
    Html,
    #[error("The file is a picture, and its text can be read only with OCR.")]
    NeedsOcr,
    #[error("Reading the file took too long.")]
    Stopped,
}

impl From<PdfError> for DocumentError {
    fn from(error: PdfError) -> Self {
        match error {
            PdfError::PasswordRequired => Self::Encrypted,
            PdfError::WrongPassword => Self::WrongPassword,
            PdfError::Damaged(why) => Self::damaged(why),
            PdfError::NotPdf => Self::damaged("it is not a PDF"),
            PdfError::NoPages => Self::damaged("it has no pages"),
            PdfError::Stopped => Self::Stopped,
        }
    }
}

impl DocumentError {
    #[expect(clippy::needless_pass_by_value, reason = "handed to `map_err`, which gives the error away")]
    pub(crate) fn damaged(why: impl ToString) -> Self {
        Self::Damaged(why.to_string().trim_end_matches('.').to_owned())
    }
}
