//! Models of this process: language models behind servers, and small ones found in the folder of models when
//! they are first needed, kept until another is installed in their place.

mod chat;

pub use chat::{ModelEndpoint, ModelSettings, Models, Task, needs_model};

use std::path::PathBuf;
use std::sync::Arc;

use model::{MiniLm, ModelDir};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// The sentence embedder, as the research index wants it.
#[derive(Debug)]
pub struct SentenceModel {
    model: MiniLm,
    identity: u64,
}

impl papers::Embedder for SentenceModel {
    fn identity(&self) -> u64 {
        self.identity
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.model.embed(texts)
    }
}

/// The installed sentence embedder.
#[derive(Debug)]
pub struct SentenceModels {
    installed: ModelDir,
    loaded: Mutex<Option<(String, Arc<SentenceModel>)>>,
}

impl SentenceModels {
    pub const NAME: &'static str = "minilm";

    /// Models of a folder, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { installed: ModelDir::new(folder), loaded: Mutex::new(None) }
    }

    /// The model that is installed now; `None` when there is none. The first call takes a moment and 90 MB.
    pub fn current(&self) -> model::Result<Option<Arc<SentenceModel>>> {
        let Some(installed) = self.installed.installed(Self::NAME)? else { return Ok(None) };
        // Held while loading: whoever comes meanwhile waits for the one copy instead of loading another.
        let mut loaded = self.loaded.lock();
        if let Some((_, model)) = loaded.as_ref().filter(|(sha256, _)| *sha256 == installed.sha256) {
            return Ok(Some(Arc::clone(model)));
        }
        let identity = identity(&installed.sha256);
        let model = Arc::new(SentenceModel { model: self.installed.open_minilm()?, identity });
        *loaded = Some((installed.sha256, Arc::clone(&model)));
        Ok(Some(model))
    }
}

/// A number for the weights: vectors of two models must never be compared.
fn identity(sha256: &str) -> u64 {
    let digest = Sha256::digest(sha256.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
