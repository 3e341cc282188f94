//! Which way up lines of text are.

use documents::PictureError;

use crate::detection::Quad;
use crate::line_picture::{LINE_HEIGHT, draw_line, natural_width};
use crate::model::Model;
use crate::picture::Picture;

/// The model looks at this much of a line.
const INPUT_WIDTH: usize = 192;
/// How sure the model must be that a line is upside down, and that it is not.
const MIN_CONFIDENCE: f32 = 0.9;
/// Lines that are looked at to find out whether any of a picture are upside down at all.
const MAX_SAMPLE: usize = 6;
const MAX_BATCH: usize = 16;

/// Turns the boxes whose text is upside down. Nearly all pictures have none, so a few long lines are asked first. Where the
/// model cannot tell, a line is as most of the lines that run along the same side of the picture: a scan is upside down
/// as a whole.
pub(crate) fn turn_lines(model: &Model, picture: &Picture, quads: &mut [Quad]) -> Result<(), PictureError> {
    let mut by_width: Vec<usize> = (0..quads.len()).collect();
    by_width.sort_by(|a, b| quads[*b].width().total_cmp(&quads[*a].width()));
    let (sample, rest) = by_width.split_at(by_width.len().min(MAX_SAMPLE));
    let mut lines = score_lines(model, picture, quads, sample)?;
    if lines.iter().any(|(_, score)| *score > MIN_CONFIDENCE) {
        lines.extend(score_lines(model, picture, quads, rest)?);
        turn_scored(quads, &lines);
    }
    Ok(())
}

/// Turns lines by their scores: 1 is upside down, 0 is not.
fn turn_scored(quads: &mut [Quad], lines: &[(usize, f32)]) {
    for is_sideways in [false, true] {
        let of_side: Vec<(usize, f32)> =
            lines.iter().copied().filter(|(index, _)| runs_sideways(&quads[*index]) == is_sideways).collect();
        let count = |is_so: fn(f32) -> bool| of_side.iter().filter(|(_, score)| is_so(*score)).count();
        let is_mostly_down =
            count(|score| score > MIN_CONFIDENCE) > count(|score| score < 1.0 - MIN_CONFIDENCE);
        let least = if is_mostly_down { 1.0 - MIN_CONFIDENCE } else { MIN_CONFIDENCE };
        for (index, _) in of_side.iter().filter(|(_, score)| *score > least) {
            quads[*index] = quads[*index].turned(2);
        }
    }
}

/// Whether its text runs up or down the picture.
fn runs_sideways(quad: &Quad) -> bool {
    let [a, b, ..] = quad.0;
    (b.1 - a.1).abs() > (b.0 - a.0).abs()
}

/// How sure the model is of each of these lines that it is upside down.
fn score_lines(
    model: &Model,
    picture: &Picture,
    quads: &[Quad],
    which: &[usize],
) -> Result<Vec<(usize, f32)>, PictureError> {
    let mut lines = Vec::with_capacity(which.len());
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
        lines.extend(batch.iter().copied().zip(output.values.chunks_exact(2).map(|scores| scores[1])));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::turn_scored;
    use crate::detection::Quad;

    fn line(row: u8, is_sideways: bool) -> Quad {
        let (x, y) = (0.0, f32::from(row) * 20.0);
        let flat = Quad([(x, y), (x + 100.0, y), (x + 100.0, y + 10.0), (x, y + 10.0)]);
        let upwards = Quad([(x, y + 100.0), (x, y), (x + 10.0, y), (x + 10.0, y + 100.0)]);
        if is_sideways { upwards } else { flat }
    }

    #[test]
    fn lines_that_the_model_cannot_tell_are_as_most_others_of_their_side() {
        let before: Vec<Quad> = (0..7).map(|row| line(row, row >= 4)).collect();
        let turned = |scores: [f32; 7]| {
            let mut quads = before.clone();
            turn_scored(&mut quads, &scores.into_iter().enumerate().collect::<Vec<_>>());
            quads.iter().zip(&before).map(|(quad, before)| quad != before).collect::<Vec<_>>()
        };
        // A page upside down: the line of which the model is not sure goes with it, one that is surely upright does not.
        let mostly_down = turned([0.99, 0.4, 0.95, 0.02, 0.01, 0.5, 0.03]);
        assert_eq!(mostly_down, [true, true, true, false, false, false, false]);
        // One line of an upright page.
        let mostly_up = turned([0.01, 0.4, 0.95, 0.02, 0.97, 0.5, 0.93]);
        assert_eq!(mostly_up, [false, false, true, false, true, true, true]);
    }
}
