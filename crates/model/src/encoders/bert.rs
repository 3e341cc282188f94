//! A sentence embedder of the MiniLM family: a small transformer over word pieces; the embedding is the mean
//! of its last states, normalised to length one.
//!
//! The texts of a batch are rows of one matrix, without padding: everything but attention works on single
//! rows.

use std::ops::Range;
use std::path::Path;

use rten_simd::SimdOp;
use rten_vecmath::{Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};
use serde::Deserialize;

use super::products::{Finish, Panels, Product, Rows};
use super::tensors::Tensors;
use super::word_pieces::Vocabulary;
use super::{Error, Result};

/// Pieces of a text that are read; the model was trained with no more.
const MAX_PIECES: usize = 256;
/// Rows that pass the layers together; more would not be faster.
const BATCH_ROWS: usize = 512;
const MAX_LAYERS: usize = 48;

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
fn load_linear(tensors: &Tensors<'_>, name: &str, inputs: usize, outputs: usize) -> Result<Panels> {
    let weights = tensors.matrix(&format!("{name}.weight"), Some(outputs), inputs)?;
    let mut panels = Panels::default();
    panels.pack_columns(Rows::whole(&weights, inputs));
    panels.set_bias(&tensors.vector(&format!("{name}.bias"), outputs)?);
    Ok(panels)
}

/// Queries, keys and values side by side: one product instead of three. Queries are scaled here, once.
fn load_attention(tensors: &Tensors<'_>, name: &str, config: &Config) -> Result<Panels> {
    let hidden = config.hidden_size;
    let scale = 1.0 / ((hidden / config.num_attention_heads) as f32).sqrt();
    let (mut weights, mut bias) = (Vec::new(), Vec::new());
    for (part, factor) in [("query", scale), ("key", 1.0), ("value", 1.0)] {
        let (own_weights, own_bias) = (
            tensors.matrix(&format!("{name}.{part}.weight"), Some(hidden), hidden)?,
            tensors.vector(&format!("{name}.{part}.bias"), hidden)?,
        );
        weights.extend(own_weights.iter().map(|value| value * factor));
        bias.extend(own_bias.iter().map(|value| value * factor));
    }
    let mut panels = Panels::default();
    panels.pack_columns(Rows::whole(&weights, hidden));
    panels.set_bias(&bias);
    Ok(panels)
}

/// `out = finish(rows × panels)`, for all columns.
fn multiply(rows: &[f32], panels: &Panels, width: usize, out: &mut [f32], finish: Finish) {
    let stride = panels.columns();
    Product { rows: Rows::whole(rows, width), panels, out, stride, start: 0, finish }.dispatch();
}

/// Layer normalisation with learnt scale and shift.
#[derive(Debug)]
struct LayerNorm {
    scale: Vec<f32>,
    shift: Vec<f32>,
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

    fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.scale.len()) {
            let count = row.len() as f32;
            let mean = Sum::new(row).dispatch() / count;
            let spread = (SumSquareSub::new(row, mean).dispatch() / count + self.least).sqrt();
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: 1.0 / spread,
                element_scale: Some(&self.scale),
                element_bias: Some(&self.shift),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

#[derive(Debug)]
struct Layer {
    attention: Panels,
    mixed: Panels,
    mixed_norm: LayerNorm,
    wide: Panels,
    narrow: Panels,
    norm: LayerNorm,
}

/// What the layers write between their input and their output, kept from one layer to the next.
#[derive(Debug, Default)]
struct Buffers {
    /// Queries, keys and values.
    states: Vec<f32>,
    attended: Vec<f32>,
    wide: Vec<f32>,
    /// How much each piece of a text attends to each other, by one head.
    shares: Vec<f32>,
    keys: Panels,
    values: Panels,
}

impl Layer {
    fn load(tensors: &Tensors<'_>, number: usize, config: &Config) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Self {
            attention: load_attention(tensors, &name("attention.self"), config)?,
            mixed: load_linear(tensors, &name("attention.output.dense"), hidden, hidden)?,
            mixed_norm: LayerNorm::load(tensors, &name("attention.output.LayerNorm"), config)?,
            wide: load_linear(tensors, &name("intermediate.dense"), hidden, inner)?,
            narrow: load_linear(tensors, &name("output.dense"), inner, hidden)?,
            norm: LayerNorm::load(tensors, &name("output.LayerNorm"), config)?,
        })
    }

    /// Replaces the rows by those of the next layer.
    fn apply(&self, rows: &mut [f32], texts: &[Range<usize>], heads: usize, buffers: &mut Buffers) {
        let (hidden, inner) = (self.mixed.columns(), self.wide.columns());
        let count = rows.len() / hidden;
        buffers.states.resize(count * 3 * hidden, 0.0);
        multiply(rows, &self.attention, hidden, &mut buffers.states, Finish::Replace);
        buffers.attended.resize(rows.len(), 0.0);
        for text in texts {
            attend(text, hidden, heads, buffers);
        }
        multiply(&buffers.attended, &self.mixed, hidden, rows, Finish::Add);
        self.mixed_norm.apply(rows);
        buffers.wide.resize(count * inner, 0.0);
        multiply(rows, &self.wide, hidden, &mut buffers.wide, Finish::Gelu);
        multiply(&buffers.wide, &self.narrow, inner, rows, Finish::Add);
        self.norm.apply(rows);
    }
}

/// Self-attention of one text, once for each head.
fn attend(text: &Range<usize>, hidden: usize, heads: usize, buffers: &mut Buffers) {
    let Buffers { states, attended, shares, keys, values, .. } = buffers;
    let (stride, width, count) = (3 * hidden, hidden / heads, text.len());
    let states = &states[text.start * stride..text.end * stride];
    let attended = &mut attended[text.start * hidden..text.end * hidden];
    shares.resize(count * count, 0.0);
    for head in 0..heads {
        let start = head * width;
        let part = |kind: usize| Rows { values: states, stride, count, start: kind * hidden + start, width };
        keys.pack_columns(part(1));
        values.pack_rows(part(2));
        multiply_part(part(0), keys, shares, count, 0);
        for row in shares.chunks_exact_mut(count) {
            Softmax::new_mut(row).dispatch();
        }
        multiply_part(Rows::whole(shares, count), values, attended, hidden, start);
    }
}

fn multiply_part(rows: Rows<'_>, panels: &Panels, out: &mut [f32], stride: usize, start: usize) {
    Product { rows, panels, out, stride, start, finish: Finish::Replace }.dispatch();
}

/// A loaded embedder; immutable, so it can be shared between threads.
#[derive(Debug)]
pub struct MiniLm {
    vocabulary: Vocabulary,
    /// The embedding of each piece, and of each place in a text.
    words: Vec<f32>,
    places: Vec<f32>,
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
        let kind = kinds.get(..hidden).ok_or_else(|| Error::unusable(&path, "no token types"))?;
        for (value, kind) in places.iter_mut().zip(kind.iter().cycle()) {
            *value += kind;
        }
        let words = tensors.matrix("embeddings.word_embeddings.weight", None, hidden)?;
        if vocabulary.len() > words.len() / hidden {
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
        self.norm.scale.len()
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
        let hidden = self.dimensions();
        let mut texts = Vec::with_capacity(cut.len());
        let mut rows = Vec::with_capacity(cut.iter().map(Vec::len).sum::<usize>() * hidden);
        for pieces in cut {
            let start = rows.len() / hidden;
            texts.push(start..start + pieces.len());
            for (piece, place) in pieces.iter().zip(self.places.chunks_exact(hidden)) {
                let word = &self.words[*piece as usize * hidden..][..hidden];
                rows.extend(word.iter().zip(place).map(|(word, place)| word + place));
            }
        }
        self.norm.apply(&mut rows);
        let mut buffers = Buffers::default();
        for layer in &self.layers {
            layer.apply(&mut rows, &texts, self.heads, &mut buffers);
        }
        texts.into_iter().map(|text| mean(&rows[text.start * hidden..text.end * hidden], hidden)).collect()
    }
}

/// The mean of all rows, scaled to length one.
fn mean(rows: &[f32], width: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; width];
    for row in rows.chunks_exact(width) {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter().map(|value| value / length).collect()
}
