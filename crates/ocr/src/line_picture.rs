//! Lines of text cut out of a picture, straightened, at the height that the models take.

use crate::detection::Quad;
use crate::picture::Picture;

/// Height at which the models take lines.
pub(crate) const LINE_HEIGHT: usize = 48;
/// Samples along each side of a new pixel, where a line is made smaller.
const MAX_SAMPLES: usize = 4;

/// How wide a line is at the height that the models take.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the caller")]
pub(crate) fn natural_width(quad: &Quad, max_width: usize) -> usize {
    let ratio = quad.width() / quad.height().max(1.0);
    ((LINE_HEIGHT as f32 * ratio).ceil().clamp(1.0, max_width as f32)) as usize
}

/// Draws a line into three planes (blue, green, red) of `row` pixels width, values from -1 to 1. The rest of the
/// planes to its right stays as it is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(crate) fn draw_line(picture: &Picture, quad: &Quad, width: usize, row: usize, planes: &mut [f32]) {
    let plane = row * LINE_HEIGHT;
    let samples =
        |length: f32, pixels: usize| ((length / pixels as f32).round() as usize).clamp(1, MAX_SAMPLES);
    let (across, down) = (samples(quad.width(), width), samples(quad.height(), LINE_HEIGHT));
    let scale = 2.0 / (255.0 * (across * down) as f32);
    for y in 0..LINE_HEIGHT {
        for x in 0..width {
            let mut sum = [0.0_f32; 3];
            for v in 0..down {
                for u in 0..across {
                    let share = |index: usize, part: usize, parts: usize, whole: usize| {
                        (index as f32 + (part as f32 + 0.5) / parts as f32) / whole as f32
                    };
                    let (px, py) = quad.at(share(x, u, across, width), share(y, v, down, LINE_HEIGHT));
                    let colour = picture.sample(px - 0.5, py - 0.5);
                    for (sum, value) in sum.iter_mut().zip(colour) {
                        *sum += value;
                    }
                }
            }
            for (channel, value) in sum.iter().rev().enumerate() {
                planes[channel * plane + y * row + x] = value.mul_add(scale, -1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Black on the left, white on the right.
    fn halves() -> Picture {
        let rgb = (0..100 * 50).flat_map(|index| [if index % 100 < 50 { 0 } else { 255_u8 }; 3]).collect();
        Picture::from_rgb(100, 50, rgb).expect("a picture")
    }

    #[test]
    fn line_is_drawn_in_reading_direction() {
        let quad = Quad([(0.0, 0.0), (100.0, 0.0), (100.0, 50.0), (0.0, 50.0)]);
        let width = natural_width(&quad, 1000);
        assert_eq!(width, 96);
        let mut planes = vec![0.0; 3 * LINE_HEIGHT * 100];
        draw_line(&halves(), &quad, width, 100, &mut planes);
        assert!(planes[0] < -0.9 && planes[90] > 0.9);
        // What is right of the line stays empty.
        assert!(planes[98].abs() < 1e-6);
        draw_line(&halves(), &quad.turned(2), width, 100, &mut planes);
        assert!(planes[0] > 0.9 && planes[90] < -0.9);
    }
}
