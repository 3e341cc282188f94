//! A picture in memory: three bytes for each pixel.

/// Pixels of a picture that text is looked for in. Larger ones are made smaller first: at this size the letters of a
/// whole page are large enough, and the memory of the process is limited.
const MAX_WORKING_PIXELS: usize = 16_000_000;

/// A picture as rows of red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// `None` where the bytes do not fit the size, or the picture has no pixels.
    pub fn from_rgb(width: usize, height: usize, rgb: Vec<u8>) -> Option<Self> {
        let expected = width.checked_mul(height)?.checked_mul(3)?;
        (expected > 0 && rgb.len() == expected).then_some(Self { width, height, rgb })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    pub(crate) fn row(&self, y: usize) -> &[u8] {
        &self.rgb[y * self.width * 3..(y + 1) * self.width * 3]
    }

    /// The colour at a point between pixels, from the four pixels around it. Points outside have the colour of the
    /// nearest edge.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the picture")]
    pub(crate) fn sample(&self, x: f32, y: f32) -> [f32; 3] {
        let x = x.clamp(0.0, (self.width - 1) as f32);
        let y = y.clamp(0.0, (self.height - 1) as f32);
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(self.width - 1), (top + 1).min(self.height - 1));
        let (fx, fy) = (x - left as f32, y - top as f32);
        let (upper, lower) = (self.row(top), self.row(bottom));
        let mut colour = [0.0; 3];
        for (channel, value) in colour.iter_mut().enumerate() {
            let at = |row: &[u8], x: usize| f32::from(row[x * 3 + channel]);
            let above = at(upper, left) + (at(upper, right) - at(upper, left)) * fx;
            let below = at(lower, left) + (at(lower, right) - at(lower, left)) * fx;
            *value = above + (below - above) * fy;
        }
        colour
    }

    /// The same picture made smaller by a whole number, so that it has a bounded number of pixels.
    #[must_use]
    pub fn bounded(self) -> Self {
        let mut factor = 1;
        while (self.width / factor) * (self.height / factor) > MAX_WORKING_PIXELS {
            factor += 1;
        }
        self.shrunk(factor)
    }

    /// The same picture made smaller by a whole number. Each new pixel is the mean of the old ones.
    #[must_use]
    pub fn shrunk(self, factor: usize) -> Self {
        if factor <= 1 || self.width < factor || self.height < factor {
            return self;
        }
        let (width, height) = (self.width / factor, self.height / factor);
        let mut rgb = Vec::with_capacity(width * height * 3);
        let mut sums = vec![0_u32; width * 3];
        let count = u32::try_from(factor * factor).unwrap_or(u32::MAX);
        for y in 0..height {
            sums.fill(0);
            for source in y * factor..(y + 1) * factor {
                let row = self.row(source);
                for (x, sum) in sums.chunks_exact_mut(3).enumerate() {
                    for pixel in row[x * factor * 3..(x + 1) * factor * 3].chunks_exact(3) {
                        for (sum, value) in sum.iter_mut().zip(pixel) {
                            *sum += u32::from(*value);
                        }
                    }
                }
            }
            rgb.extend(sums.iter().map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX)));
        }
        Self { width, height, rgb }
    }

    /// Rows `from..to` at another size, as the models take them: one plane for blue, green and red each, values from
    /// -1 to 1. Each new pixel is the mean of the part of the old picture that it covers.
    pub(crate) fn planes(&self, from: usize, to: usize, width: usize, height: usize) -> Vec<f32> {
        let rows = to - from;
        let columns = Weights::new(self.width, width);
        let lines = Weights::new(rows, height);
        let plane = width * height;
        let mut planes = vec![0.0_f32; plane * 3];
        // One old row at the new width, kept for the two new rows that may share it.
        let mut narrow = vec![0.0_f32; width * 3];
        let mut held = usize::MAX;
        for y in 0..height {
            for (source, weight) in lines.parts(y) {
                if held != source {
                    columns.apply(self.row(from + source), &mut narrow);
                    held = source;
                }
                for channel in 0..3 {
                    // The models were trained on blue, green, red.
                    let start = (2 - channel) * plane + y * width;
                    let line = &mut planes[start..start + width];
                    for (x, value) in line.iter_mut().enumerate() {
                        *value += narrow[x * 3 + channel] * weight;
                    }
                }
            }
        }
        for value in &mut planes {
            *value = value.mul_add(2.0 / 255.0, -1.0);
        }
        planes
    }
}

/// For each new pixel of one axis: the old ones that it is made of, with their share.
struct Weights {
    starts: Vec<usize>,
    shares: Vec<Vec<f32>>,
}

impl Weights {
    /// Area mean where the axis gets shorter, between the two nearest pixels where it gets longer.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside the axis")]
    fn new(old: usize, new: usize) -> Self {
        let ratio = old as f32 / new as f32;
        let (mut starts, mut shares) = (Vec::with_capacity(new), Vec::with_capacity(new));
        for index in 0..new {
            if ratio > 1.0 {
                let (from, to) = (index as f32 * ratio, ((index + 1) as f32 * ratio).min(old as f32));
                let start = (from as usize).min(old - 1);
                let end = (to.ceil() as usize).clamp(start + 1, old);
                let covered = |pixel: usize| ((pixel + 1) as f32).min(to) - (pixel as f32).max(from);
                let whole: f32 = (start..end).map(covered).sum();
                starts.push(start);
                shares.push((start..end).map(|pixel| covered(pixel) / whole).collect());
            } else {
                let centre = ((index as f32 + 0.5) * ratio - 0.5).clamp(0.0, (old - 1) as f32);
                let start = centre as usize;
                let share = centre - start as f32;
                starts.push(start);
                shares.push(if start + 1 < old { vec![1.0 - share, share] } else { vec![1.0] });
            }
        }
        Self { starts, shares }
    }

    fn parts(&self, index: usize) -> impl Iterator<Item = (usize, f32)> {
        let start = self.starts[index];
        self.shares[index].iter().enumerate().map(move |(offset, share)| (start + offset, *share))
    }

    fn apply(&self, row: &[u8], narrow: &mut [f32]) {
        for (x, pixel) in narrow.chunks_exact_mut(3).enumerate() {
            pixel.fill(0.0);
            let start = self.starts[x];
            for (source, share) in row[start * 3..].chunks_exact(3).zip(&self.shares[x]) {
                for (value, byte) in pixel.iter_mut().zip(source) {
                    *value += f32::from(*byte) * share;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn size_must_fit_the_bytes() {
        assert!(Picture::from_rgb(2, 2, vec![0; 12]).is_some());
        assert!(Picture::from_rgb(2, 2, vec![0; 11]).is_none());
        assert!(Picture::from_rgb(0, 2, Vec::new()).is_none());
        assert!(Picture::from_rgb(usize::MAX, 2, vec![0; 12]).is_none());
    }

    #[test]
    fn large_picture_is_made_smaller() {
        let picture = Picture::from_rgb(5000, 5000, vec![77; 75_000_000]).expect("a picture").bounded();
        assert_eq!((picture.width(), picture.height()), (2500, 2500));
        assert!(picture.rgb().iter().all(|byte| *byte == 77));
    }

    proptest! {
        /// A picture of one colour has that colour at any size.
        #[test]
        fn one_colour_stays(
            width in 1_usize..40,
            height in 1_usize..40,
            new_width in 1_usize..60,
            new_height in 1_usize..60,
            byte: u8,
        ) {
            let picture = Picture::from_rgb(width, height, vec![byte; width * height * 3]).expect("a picture");
            let planes = picture.planes(0, height, new_width, new_height);
            prop_assert_eq!(planes.len(), new_width * new_height * 3);
            let expected = f32::from(byte) * 2.0 / 255.0 - 1.0;
            prop_assert!(planes.iter().all(|value| (value - expected).abs() < 1e-3));
        }
    }
}
