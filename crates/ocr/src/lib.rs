//! Text in pictures: image files and pages of PDFs to lines of text, with the PP-OCRv6 models on a pure Rust runtime.
//!
//! [`TextReader`] finds the lines of a [`Picture`] and reads them. [`ImagePages`] makes pictures of image
//! files, [`PageDrawer`] of PDF pages, both within limits: the files are hostile. Called in a process that
//! can be killed: the program `gannet-ocr`, which is `main.rs`.

mod converter;
mod decode;
mod detection;
mod direction;
mod draw;
mod line_picture;
mod model;
mod picture;
mod picture_reader;
mod reader;
mod recognition;

pub use converter::Converter;
pub use decode::{ImagePages, MAX_PAGES, MAX_PIXELS, MAX_SIDE};
pub use draw::PageDrawer;
pub use picture::Picture;
pub use reader::{DETECTION_FILE, DIRECTION_FILE, ModelFiles, RECOGNITION_FILE, TextReader};
