//! From a picture to its lines of text: find them, turn them upright, read them.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use documents::pdf::StopSignal;
use documents::{PictureError, RecognizedLine};

use crate::detection::{Quad, find_lines};
use crate::direction::turn_lines;
use crate::model::{Model, Threads};
use crate::picture::Picture;
use crate::recognition::{Reading, Recognizer};

/// Lines that the model is less sure of are left out: they are mostly not text.
const MIN_LINE_CONFIDENCE: f32 = 0.5;
/// A box this much higher than wide holds a line that runs up or down the page.
const SIDEWAYS_RATIO: f32 = 1.5;
/// Lines below this are read once more upside down where there is no model for the direction.
const DOUBTFUL_CONFIDENCE: f32 = 0.7;

/// The files of the models in a folder, by what they do.
pub const DETECTION_FILE: &str = "detection.onnx";
pub const RECOGNITION_FILE: &str = "recognition.onnx";
/// May be missing.
pub const DIRECTION_FILE: &str = "direction.onnx";

/// The open files of the models. They are loaded when the first picture comes, because most files need no OCR; a
/// process may open them while it still has the right to.
#[derive(Debug)]
pub struct ModelFiles {
    detection: File,
    recognition: File,
    direction: Option<File>,
}

impl ModelFiles {
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let direction = match File::open(folder.join(DIRECTION_FILE)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            file => Some(file?),
        };
        Ok(Self {
            detection: File::open(folder.join(DETECTION_FILE))?,
            recognition: File::open(folder.join(RECOGNITION_FILE))?,
            direction,
        })
    }
}

struct LoadedModels {
    detection: Model,
    recognizer: Recognizer,
    direction: Option<Model>,
}

/// Reads the text in pictures.
pub struct TextReader {
    files: ModelFiles,
    threads: usize,
    models: Mutex<Option<Arc<LoadedModels>>>,
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").field("files", &self.files).finish_non_exhaustive()
    }
}

impl TextReader {
    /// `threads` share the work on one picture; more than one is faster by the clock and costs more CPU time in all.
    pub fn new(files: ModelFiles, threads: usize) -> Self {
        Self { files, threads, models: Mutex::new(None) }
    }

    /// Loads the models now, and says whether they can be used.
    pub fn load(&self) -> Result<(), PictureError> {
        self.models().map(|_| ())
    }

    fn models(&self) -> Result<Arc<LoadedModels>, PictureError> {
        let mut loaded = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(models) = &*loaded {
            return Ok(models.clone());
        }
        let threads = Threads::new(self.threads);
        let models = Arc::new(LoadedModels {
            detection: Model::load(&self.files.detection, &threads)?,
            recognizer: Recognizer::new(Model::load(&self.files.recognition, &threads)?)?,
            direction: self.files.direction.as_ref().map(|file| Model::load(file, &threads)).transpose()?,
        });
        *loaded = Some(models.clone());
        Ok(models)
    }

    /// The lines of text in a picture, in no particular order.
    pub fn read_picture(
        &self,
        picture: &Picture,
        stop: &StopSignal<'_>,
    ) -> Result<Vec<RecognizedLine>, PictureError> {
        let models = self.models()?;
        let mut quads = find_lines(&models.detection, picture, || stop.is_set())?;
        for quad in &mut quads {
            if quad.height() > quad.width() * SIDEWAYS_RATIO {
                // Text that runs down the page begins at the top right.
                *quad = quad.turned(1);
            }
        }
        if stop.is_set() {
            return Err(PictureError::Stopped);
        }
        if let Some(direction) = &models.direction {
            turn_lines(direction, picture, &mut quads)?;
        }
        let mut readings = models.recognizer.read_lines(picture, &quads, || stop.is_set())?;
        if models.direction.is_none() {
            read_doubtful_again(&models.recognizer, picture, &mut quads, &mut readings, stop)?;
        }
        Ok(quads.into_iter().zip(&readings).filter_map(|(quad, reading)| to_line(&quad, reading)).collect())
    }
}

fn to_line(quad: &Quad, reading: &Reading) -> Option<RecognizedLine> {
    let text = reading.text.trim();
    (reading.confidence >= MIN_LINE_CONFIDENCE && !text.is_empty()).then(|| RecognizedLine {
        text: text.to_owned(),
        corners: quad.0,
        confidence: reading.confidence,
    })
}

/// Without a model for the direction, a line that makes no sense is tried upside down.
fn read_doubtful_again(
    recognizer: &Recognizer,
    picture: &Picture,
    quads: &mut [Quad],
    readings: &mut [Reading],
    stop: &StopSignal<'_>,
) -> Result<(), PictureError> {
    let doubtful: Vec<usize> =
        (0..quads.len()).filter(|index| readings[*index].confidence < DOUBTFUL_CONFIDENCE).collect();
    let turned: Vec<Quad> = doubtful.iter().map(|index| quads[*index].turned(2)).collect();
    let again = recognizer.read_lines(picture, &turned, || stop.is_set())?;
    for ((index, quad), reading) in doubtful.into_iter().zip(turned).zip(again) {
        if reading.confidence > readings[index].confidence {
            quads[index] = quad;
            readings[index] = reading;
        }
    }
    Ok(())
}
