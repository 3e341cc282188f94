//! Text as it was recognised in pictures, before it becomes blocks.

/// A line of text in a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct RecognizedLine {
    pub text: String,
    /// In pixels, clockwise from where the text begins: text that is upside down begins at the bottom right.
    pub corners: [(f32, f32); 4],
    /// 0 to 1.
    pub confidence: f32,
}

/// A page after recognition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecognizedPage {
    /// From 1.
    pub number: u32,
    /// In pixels.
    pub width: f32,
    pub height: f32,
    pub lines: Vec<RecognizedLine>,
}

/// The pages of an image file after recognition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecognizedImage {
    pub pages: Vec<RecognizedPage>,
    /// Pages of the file, also those that were not read.
    pub total_pages: u32,
    /// Pages that could not be read, with the reason.
    pub failures: Vec<(u32, PictureError)>,
}

/// Why a picture could not be read. The texts go into sentences of warnings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    #[error("pictures of this kind are not supported: {0}")]
    Unsupported(String),
    #[error("the picture is damaged: {0}")]
    Damaged(String),
    #[error("the picture is too large: {0}")]
    TooLarge(String),
    #[error("there was no time left")]
    Stopped,
    /// A fault of this installation.
    #[error("the OCR models cannot be used: {0}")]
    Model(String),
}

impl PictureError {
    #[expect(clippy::needless_pass_by_value, reason = "handed to `map_err`, which gives the error away")]
    pub fn damaged(why: impl ToString) -> Self {
        Self::Damaged(why.to_string().trim_end_matches('.').to_owned())
    }

    #[expect(clippy::needless_pass_by_value, reason = "handed to `map_err`, which gives the error away")]
    pub fn model(why: impl ToString) -> Self {
        Self::Model(why.to_string().trim_end_matches('.').to_owned())
    }
}
