//! Where the text is.

mod boxes;
mod quad;

pub(crate) use quad::Quad;

use crate::model::Model;
use crate::picture::Picture;
use documents::PictureError;

/// Pixels that the model is given at once. Its time and its memory grow with them.
const MAX_INPUT_PIXELS: f32 = 700_000.0;
/// Pictures are not made larger than this for the model: small ones have large letters.
const MAX_ENLARGEMENT: f32 = 1.5;
/// The model takes sides that are multiples of this.
const SIDE_UNIT: usize = 32;
/// Pictures that are longer than wide by more than this are cut into parts, so that their letters stay readable.
const MAX_PART_RATIO: f32 = 3.0;

/// The boxes around all lines of text in a picture, in its pixels.
pub(crate) fn find_lines(
    model: &Model,
    picture: &Picture,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<Vec<Quad>, PictureError> {
    let mut lines = Vec::new();
    for (from, to) in plan_parts(picture) {
        if is_stopped() {
            return Err(PictureError::Stopped);
        }
        let (width, height) = input_size(picture.width(), to - from);
        let planes = picture.planes(from, to, width, height);
        let output = model.run(&[1, 3, height, width], planes)?;
        let [_, _, map_height, map_width] = output.shape[..] else {
            return Err(PictureError::model("detection has an unexpected output"));
        };
        let scale = (picture.width() as f32 / map_width as f32, (to - from) as f32 / map_height as f32);
        let found = boxes::find_boxes(&output.values, map_width, map_height);
        lines.extend(
            found.into_iter().map(|quad| quad.map(|(x, y)| (x * scale.0, y * scale.1 + from as f32))),
        );
    }
    Ok(lines)
}

/// The size at which a part of a picture is given to the model.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
fn input_size(width: usize, height: usize) -> (usize, usize) {
    let scale = (MAX_INPUT_PIXELS / (width as f32 * height as f32)).sqrt().min(MAX_ENLARGEMENT);
    // A strip of one pixel would otherwise get a length that costs more than the picture has.
    let longest = MAX_INPUT_PIXELS / SIDE_UNIT as f32;
    let side = |length: usize| {
        let units = (length as f32 * scale).min(longest) / SIDE_UNIT as f32;
        (units.round() as usize).max(1) * SIDE_UNIT
    };
    (side(width), side(height))
}

/// The rows at which a long picture is cut: where the picture changes least from left to right, so that no line of
/// text is cut through.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
fn plan_parts(picture: &Picture) -> Vec<(usize, usize)> {
    let longest = ((picture.width().max(SIDE_UNIT) as f32 * MAX_PART_RATIO) as usize).max(1);
    let mut parts = Vec::new();
    let mut from = 0;
    while picture.height() - from > longest {
        let window = from + longest * 7 / 10..from + longest;
        let cut = window.min_by_key(|y| contrast(picture.row(*y))).unwrap_or(from + longest).max(from + 1);
        parts.push((from, cut));
        from = cut;
    }
    parts.push((from, picture.height()));
    parts
}

/// How much a row changes from pixel to pixel.
fn contrast(row: &[u8]) -> u64 {
    let green = row.iter().skip(1).step_by(3);
    green.clone().zip(green.skip(1)).map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_bounded_for_any_shape() {
        for (width, height) in [(1, 1), (1, 40_000), (40_000, 1), (5_000, 3_000), (600, 900), (10, 10_000)] {
            let (w, h) = input_size(width, height);
            assert!(w % SIDE_UNIT == 0 && h % SIDE_UNIT == 0 && w > 0 && h > 0);
            assert!(w * h < 1_000_000, "{width}x{height} becomes {w}x{h}");
        }
    }

    #[test]
    fn long_picture_is_cut_between_its_lines() {
        // Stripes of noise with white between: 30 rows of text, 10 rows white.
        let (width, height) = (200, 3_000);
        let mut rgb = vec![255_u8; width * height * 3];
        for y in (0..height).filter(|y| y % 40 < 30) {
            for (x, byte) in rgb[y * width * 3..(y + 1) * width * 3].iter_mut().enumerate() {
                *byte = if (x / 3) % 2 == 0 { 0 } else { 255 };
            }
        }
        let picture = Picture::from_rgb(width, height, rgb).expect("a picture");
        let parts = plan_parts(&picture);
        assert!(parts.len() > 3);
        assert_eq!((parts[0].0, parts[parts.len() - 1].1), (0, height));
        for pair in parts.windows(2) {
            assert_eq!(pair[0].1, pair[1].0);
            assert!(pair[0].1 % 40 >= 30, "cut at {}", pair[0].1);
        }
    }
}
