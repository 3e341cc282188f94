//! What a line of text says.

use documents::PictureError;

use crate::detection::Quad;
use crate::line_picture::{LINE_HEIGHT, draw_line, natural_width};
use crate::model::{Model, Output};
use crate::picture::Picture;

/// The widest line that the model is given; longer ones are squeezed.
const MAX_LINE_WIDTH: usize = 2_400;
/// Narrower lines are given with empty space beside them, as in training.
const MIN_INPUT_WIDTH: usize = 160;
/// Columns of all lines that are given at once. The output has a value for each character the model knows, for each
/// eight columns, which is the most memory that reading takes.
const MAX_BATCH_COLUMNS: usize = 4_800;
/// Lines of one batch are padded to the widest of them; more than this share is not wasted on padding.
const MAX_PADDING: f32 = 0.15;
const WIDTH_UNIT: usize = 8;

/// The text of a line and how sure the model is of it, 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) confidence: f32,
}

/// The recognition model with the characters that its outputs stand for.
pub(crate) struct Recognizer {
    model: Model,
    characters: Vec<String>,
}

impl Recognizer {
    /// The model file carries its characters.
    pub(crate) fn new(model: Model) -> Result<Self, PictureError> {
        let list = model.metadata("character").ok_or_else(|| PictureError::model("no list of characters"))?;
        // Output 0 is "nothing here", the last one a space.
        let characters =
            std::iter::once("").chain(list.lines()).chain([" "]).map(ToOwned::to_owned).collect();
        Ok(Self { model, characters })
    }

    /// Reads the lines in these boxes, in their order.
    pub(crate) fn read_lines(
        &self,
        picture: &Picture,
        quads: &[Quad],
        mut is_stopped: impl FnMut() -> bool,
    ) -> Result<Vec<Reading>, PictureError> {
        let mut readings = vec![Reading::default(); quads.len()];
        for batch in plan_batches(quads) {
            if is_stopped() {
                return Err(PictureError::Stopped);
            }
            let line = 3 * LINE_HEIGHT * batch.width;
            let mut planes = vec![0.0_f32; line * batch.lines.len()];
            for (part, index) in planes.chunks_exact_mut(line).zip(&batch.lines) {
                let width = natural_width(&quads[*index], MAX_LINE_WIDTH).min(batch.width);
                draw_line(picture, &quads[*index], width, batch.width, part);
            }
            let output = self.model.run(&[batch.lines.len(), 3, LINE_HEIGHT, batch.width], planes)?;
            for (reading, index) in self.decode(&output)?.into_iter().zip(&batch.lines) {
                readings[*index] = reading;
            }
        }
        Ok(readings)
    }

    /// The likeliest character of each column; one that repeats is one character, unless "nothing" stands between.
    fn decode(&self, output: &Output) -> Result<Vec<Reading>, PictureError> {
        let [_, columns, classes] = output.shape[..] else {
            return Err(PictureError::model("recognition has an unexpected output"));
        };
        if classes != self.characters.len() || columns == 0 {
            return Err(PictureError::model("recognition does not fit its list of characters"));
        }
        let lines = output.values.chunks_exact(columns * classes);
        Ok(lines.map(|line| self.decode_line(line.chunks_exact(classes))).collect())
    }

    fn decode_line<'a>(&self, columns: impl Iterator<Item = &'a [f32]>) -> Reading {
        let mut text = String::new();
        let (mut sum, mut count, mut previous) = (0.0_f32, 0_u32, 0);
        for column in columns {
            let (best, score) = likeliest(column);
            if best != 0 && best != previous {
                text.push_str(&self.characters[best]);
                sum += score;
                count += 1;
            }
            previous = best;
        }
        Reading { text, confidence: if count == 0 { 0.0 } else { (sum / count as f32).clamp(0.0, 1.0) } }
    }
}

fn likeliest(scores: &[f32]) -> (usize, f32) {
    // In blocks, so that the compiler can compare many values at once.
    let (mut best, mut score) = (0, f32::MIN);
    for (block, values) in scores.chunks(64).enumerate() {
        let highest = values.iter().copied().fold(f32::MIN, f32::max);
        if highest > score {
            score = highest;
            let place = values.iter().position(|value| *value >= highest).unwrap_or(0);
            best = block * 64 + place;
        }
    }
    (best, score)
}

/// Lines that are read together, all at the same width.
#[derive(Debug, PartialEq)]
struct LineBatch {
    width: usize,
    lines: Vec<usize>,
}

/// Lines of like widths go together.
fn plan_batches(quads: &[Quad]) -> Vec<LineBatch> {
    let mut by_width: Vec<(usize, usize)> = quads
        .iter()
        .enumerate()
        .map(|(index, quad)| {
            let width = natural_width(quad, MAX_LINE_WIDTH).max(MIN_INPUT_WIDTH);
            (width.div_ceil(WIDTH_UNIT) * WIDTH_UNIT, index)
        })
        .collect();
    by_width.sort_unstable();
    let mut batches: Vec<LineBatch> = Vec::new();
    let mut narrowest = 0;
    for (width, index) in by_width {
        match batches.last_mut() {
            Some(batch)
                if (batch.lines.len() + 1) * width <= MAX_BATCH_COLUMNS
                    && width as f32 <= narrowest as f32 * (1.0 + MAX_PADDING) =>
            {
                batch.width = width;
                batch.lines.push(index);
            }
            _ => {
                narrowest = width;
                batches.push(LineBatch { width, lines: vec![index] });
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn likeliest_is_found_wherever_it_stands() {
        for place in [0, 1, 63, 64, 65, 199] {
            let mut scores = vec![0.1; 200];
            scores[place] = 0.8;
            assert_eq!(likeliest(&scores), (place, 0.8));
        }
        assert_eq!(likeliest(&[f32::NAN, f32::NAN]).0, 0);
    }

    proptest! {
        #[test]
        fn each_line_is_in_one_batch_that_is_wide_enough(
            sizes in proptest::collection::vec((1_u16..5000, 1_u16..200), 0..200),
        ) {
            let quads: Vec<Quad> = sizes
                .iter()
                .map(|(width, height)| {
                    let (w, h) = (f32::from(*width), f32::from(*height));
                    Quad([(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)])
                })
                .collect();
            let batches = plan_batches(&quads);
            let mut seen: Vec<usize> = batches.iter().flat_map(|batch| batch.lines.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..quads.len()).collect::<Vec<_>>());
            for batch in batches {
                prop_assert!(batch.lines.len() == 1 || batch.lines.len() * batch.width <= MAX_BATCH_COLUMNS);
                for line in batch.lines {
                    prop_assert!(natural_width(&quads[line], MAX_LINE_WIDTH) <= batch.width);
                }
            }
        }
    }
}
