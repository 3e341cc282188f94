//! A sentence embedder of the MiniLM family: a small transformer over word pieces; the embedding is the mean
//! of its last states, normalised to length one.
//!
//! The texts of a batch are rows of one matrix, without padding: everything but attention works on single
//! rows.

use std::ops::Range;
use std::path::Path;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use serde::Deserialize;

use super::tensors::Tensors;
use super::word_pieces::Vocabulary;
use super::{Error, Result};

/// Pieces of a text that are read; the model was trained with no more.
const MAX_PIECES: usize = 256;
/// Rows that pass the layers together; more would not be faster.
const BATCH_ROWS: usize = 512;
const MAX_LAYERS: usize = 48;
/// Which part of the states of attention.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f32,
}

/// `rows × weights + bias`.
#[derive(Debug)]
struct Linear {
    /// Inputs by outputs.
    weights: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    fn load(tensors: &Tensors<'_>, name: &str, inputs: usize, outputs: usize) -> Result<Self> {
        let weights = tensors.matrix(&format!("{name}.weight"), Some(outputs), inputs)?;
        Ok(Self {
            weights: weights.t().as_standard_layout().into_owned(),
            bias: tensors.vector(&format!("{name}.bias"), outputs)?,
        })
    }

    /// One matrix whose outputs are those of `parts`, one after another.
    fn side_by_side(parts: &[Self]) -> Self {
        let inputs = parts.first().map_or(0, |part| part.weights.nrows());
        let outputs = parts.iter().map(|part| part.bias.len()).sum();
        let (mut weights, mut bias) = (Array2::zeros((inputs, outputs)), Array1::zeros(outputs));
        let mut start = 0;
        for part in parts {
            let end = start + part.bias.len();
            weights.slice_mut(s![.., start..end]).assign(&part.weights);
            bias.slice_mut(s![start..end]).assign(&part.bias);
            start = end;
        }
        Self { weights, bias }
    }

    fn apply(&self, rows: &Array2<f32>) -> Array2<f32> {
        let mut out = Array2::zeros((rows.nrows(), self.bias.len()));
        for mut row in out.rows_mut() {
            row.assign(&self.bias);
        }
        general_mat_mul(1.0, rows, &self.weights, 1.0, &mut out);
        out
    }
}

/// Layer normalisation with learnt scale and shift.
#[derive(Debug)]
struct LayerNorm {
    scale: Array1<f32>,
    shift: Array1<f32>,
    least: f32,
}

impl LayerNorm {
    fn load(tensors: &Tensors<'_>, name: &str, config: &Config) -> Result<Self> {
        Ok(Self {
            scale: tensors.vector(&format!("{name}.weight"), config.hidden_size)?,
            shift: tensors.vector(&format!("{name}.bias"), config.hidden_size)?,
            least: config.layer_norm_eps,
        })
    }

    fn apply(&self, rows: &mut Array2<f32>) {
        for mut row in rows.rows_mut() {
            let count = row.len() as f32;
            let mean = row.sum() / count;
            let spread =
                (row.fold(0.0, |sum, value| sum + (value - mean).powi(2)) / count + self.least).sqrt();
            for ((value, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
                *value = (*value - mean) / spread * scale + shift;
            }
        }
    }
}

#[derive(Debug)]
struct Layer {
    /// Queries, keys and values, side by side: one multiplication instead of three.
    attention: Linear,
    mixed: Linear,
    mixed_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Layer {
    fn load(tensors: &Tensors<'_>, number: usize, config: &Config) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let square = |part: &str| Linear::load(tensors, &name(part), hidden, hidden);
        Ok(Self {
            attention: Linear::side_by_side(&[
                square("attention.self.query")?,
                square("attention.self.key")?,
                square("attention.self.value")?,
            ]),
            mixed: square("attention.output.dense")?,
            mixed_norm: LayerNorm::load(tensors, &name("attention.output.LayerNorm"), config)?,
            wide: Linear::load(tensors, &name("intermediate.dense"), hidden, inner)?,
            narrow: Linear::load(tensors, &name("output.dense"), inner, hidden)?,
            norm: LayerNorm::load(tensors, &name("output.LayerNorm"), config)?,
        })
    }

    fn apply(&self, rows: &Array2<f32>, texts: &[Range<usize>], heads: usize) -> Array2<f32> {
        let mut states = self.mixed.apply(&self.attend(rows, texts, heads));
        states += rows;
        self.mixed_norm.apply(&mut states);
        let mut wide = self.wide.apply(&states);
        wide.mapv_inplace(gelu);
        let mut out = self.narrow.apply(&wide);
        out += &states;
        self.norm.apply(&mut out);
        out
    }

    /// Self-attention of each text, once for each head.
    fn attend(&self, rows: &Array2<f32>, texts: &[Range<usize>], heads: usize) -> Array2<f32> {
        let states = self.attention.apply(rows);
        let hidden = rows.ncols();
        let width = hidden / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut out = Array2::zeros(rows.raw_dim());
        for text in texts {
            for head in 0..heads {
                let part = |kind: usize| -> ArrayView2<f32> {
                    let start = kind * hidden + head * width;
                    states.slice(s![text.clone(), start..start + width])
                };
                let mut weights = part(QUERY).dot(&part(KEY).t());
                for row in weights.as_slice_mut().unwrap_or_default().chunks_exact_mut(text.len()) {
                    let most = row.iter().fold(f32::NEG_INFINITY, |most, value| most.max(*value));
                    for value in row.iter_mut() {
                        *value = exp((*value - most) * scale);
                    }
                    let share = 1.0 / row.iter().sum::<f32>();
                    for value in row {
                        *value *= share;
                    }
                }
                let target = s![text.clone(), head * width..(head + 1) * width];
                general_mat_mul(1.0, &weights, &part(VALUE), 0.0, &mut out.slice_mut(target));
            }
        }
        out
    }
}

/// The exponential function to seven digits, without branches or calls, so that the compiler computes several
/// numbers at a time. The standard one takes a fifth of the time of encoding.
#[inline]
fn exp(x: f32) -> f32 {
    /// Adding it rounds to a whole number, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    // The Taylor series; the rest is at most half of ln 2.
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (1.0 / 6.0
                                + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0))))));
    let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()) << 23;
    f32::from_bits(series.to_bits().wrapping_add(power))
}

/// The Gaussian error linear unit; its integral by an approximation accurate to seven digits (Abramowitz and
/// Stegun, 7.1.26).
fn gelu(value: f32) -> f32 {
    let x = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series =
        t * (0.254_829_6 + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    let tail = 0.5 * series * exp(-x * x);
    value * if value >= 0.0 { 1.0 - tail } else { tail }
}

/// A loaded embedder; immutable, so it can be shared between threads.
#[derive(Debug)]
pub struct MiniLm {
    vocabulary: Vocabulary,
    words: Array2<f32>,
    places: Array2<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
}

impl MiniLm {
    /// Reads `model.safetensors`, `vocab.txt` and `config.json` of a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map(|bytes| (path.clone(), bytes)).map_err(Error::file(&path))
        };
        let (path, bytes) = read("config.json")?;
        let config: Config =
            serde_json::from_slice(&bytes).map_err(|error| Error::unusable(&path, error.to_string()))?;
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        let sound = heads > 0
            && hidden > 0
            && hidden.is_multiple_of(heads)
            && config.num_hidden_layers <= MAX_LAYERS
            && config.max_position_embeddings >= MAX_PIECES;
        if !sound {
            return Err(Error::unusable(&path, "not a model of the MiniLM family"));
        }
        let (path, bytes) = read("vocab.txt")?;
        let text = String::from_utf8(bytes).map_err(|_| Error::unusable(&path, "not UTF-8"))?;
        let vocabulary = Vocabulary::parse(&path, &text)?;
        let (path, bytes) = read("model.safetensors")?;
        let tensors = Tensors::parse(&path, &bytes)?;
        let kinds = tensors.matrix("embeddings.token_type_embeddings.weight", None, hidden)?;
        let mut places = tensors.matrix(
            "embeddings.position_embeddings.weight",
            Some(config.max_position_embeddings),
            hidden,
        )?;
        // There is only one token type, so its embedding is added once for all.
        places += &kinds.row(0);
        let words = tensors.matrix("embeddings.word_embeddings.weight", None, hidden)?;
        if vocabulary.len() > words.nrows() {
            return Err(Error::unusable(&path, "fewer word embeddings than the word list has"));
        }
        let layers = (0..config.num_hidden_layers)
            .map(|number| Layer::load(&tensors, number, &config))
            .collect::<Result<_>>()?;
        let norm = LayerNorm::load(&tensors, "embeddings.LayerNorm", &config)?;
        Ok(Self { vocabulary, words, places, norm, layers, heads })
    }

    /// Length of an embedding.
    pub fn dimensions(&self) -> usize {
        self.words.ncols()
    }

    /// A vector of length one for each text. Of a long text only the beginning is used.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let cut: Vec<Vec<u32>> =
            texts.iter().map(|text| self.vocabulary.tokenize(text, MAX_PIECES)).collect();
        let mut out = Vec::with_capacity(texts.len());
        let mut start = 0;
        while start < cut.len() {
            let mut rows = 0;
            let fits = |pieces: &&Vec<u32>| {
                rows += pieces.len();
                rows <= BATCH_ROWS
            };
            let count = cut[start..].iter().take_while(fits).count().max(1);
            out.extend(self.embed_batch(&cut[start..start + count]));
            start += count;
        }
        out
    }

    fn embed_batch(&self, cut: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut texts = Vec::with_capacity(cut.len());
        let mut rows = Array2::zeros((cut.iter().map(Vec::len).sum(), self.dimensions()));
        let mut at = 0;
        for pieces in cut {
            texts.push(at..at + pieces.len());
            for (place, piece) in pieces.iter().enumerate() {
                let mut row = rows.row_mut(at + place);
                row += &self.words.row(*piece as usize);
                row += &self.places.row(place);
            }
            at += pieces.len();
        }
        self.norm.apply(&mut rows);
        for layer in &self.layers {
            rows = layer.apply(&rows, &texts, self.heads);
        }
        texts
            .into_iter()
            .map(|text| {
                let sum = rows.slice(s![text, ..]).sum_axis(Axis(0));
                let length = sum.dot(&sum).sqrt().max(f32::MIN_POSITIVE);
                (sum / length).to_vec()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{exp, gelu};

    #[test]
    fn the_exponential_function_is_accurate() {
        for step in -8_700..=8_800 {
            let x = step as f32 / 100.0;
            let (got, wanted) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((got - wanted).abs() <= wanted * 5e-7, "{x}: {got} {wanted}");
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn gelu_matches_known_values() {
        for (value, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_8), (-1.0, -0.158_655_25), (3.0, 2.995_950_3), (-6.0, 0.0)]
        {
            assert!((gelu(value) - expected).abs() < 2e-6, "{value}: {}", gelu(value));
        }
    }
}
