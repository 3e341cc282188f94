//! Which way up lines of text are.

use documents::PictureError;

use crate::detection::Quad;
use crate::line_picture::{LINE_HEIGHT, draw_line, natural_width};
use crate::model::Model;
use crate::picture::Picture;

/// The model looks at this much of a line.
const INPUT_WIDTH: usize = 192;
/// How sure the model must be that a line is upside down.
const MIN_CONFIDENCE: f32 = 0.9;
/// Lines that are looked at to find out whether any of a picture are upside down at all.
const MAX_SAMPLE: usize = 6;
const MAX_BATCH: usize = 16;

/// Turns the boxes whose text is upside down. Nearly all pictures have none, so a few long lines are asked first.
pub(crate) fn turn_lines(model: &Model, picture: &Picture, quads: &mut [Quad]) -> Result<(), PictureError> {
    let mut by_width: Vec<usize> = (0..quads.len()).collect();
    by_width.sort_by(|a, b| quads[*b].width().total_cmp(&quads[*a].width()));
    let (sample, rest) = by_width.split_at(by_width.len().min(MAX_SAMPLE));
    if turn_some(model, picture, quads, sample)? > 0 {
        turn_some(model, picture, quads, rest)?;
    }
    Ok(())
}

/// How many were turned.
fn turn_some(
    model: &Model,
    picture: &Picture,
    quads: &mut [Quad],
    which: &[usize],
) -> Result<usize, PictureError> {
    let mut turned = 0;
    for batch in which.chunks(MAX_BATCH) {
        let line = 3 * LINE_HEIGHT * INPUT_WIDTH;
        let mut planes = vec![0.0_f32; line * batch.len()];
        for (part, index) in planes.chunks_exact_mut(line).zip(batch) {
            let width = natural_width(&quads[*index], INPUT_WIDTH);
            draw_line(picture, &quads[*index], width, INPUT_WIDTH, part);
        }
        let output = model.run(&[batch.len(), 3, LINE_HEIGHT, INPUT_WIDTH], planes)?;
        if output.values.len() != batch.len() * 2 {
            return Err(PictureError::model("direction has an unexpected output"));
        }
        for (scores, index) in output.values.chunks_exact(2).zip(batch) {
            if scores[1] > MIN_CONFIDENCE {
                quads[*index] = quads[*index].turned(2);
                turned += 1;
            }
        }
    }
    Ok(turned)
}
