//! Runs one model file.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use documents::PictureError;
use rten::{ModelOptions, RunOptions, ThreadPool};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

/// No model that is used here is larger.
const MAX_MODEL_BYTES: u64 = 200 * 1024 * 1024;

/// The threads that work on one picture.
#[derive(Clone)]
pub(crate) struct Threads(Arc<ThreadPool>);

impl Threads {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new(ThreadPool::with_num_threads(count.max(1))))
    }
}

/// What a model says: values in rows of the last dimension.
pub(crate) struct Output {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A model in memory, with one input and one output of interest.
pub(crate) struct Model {
    model: rten::Model,
    threads: Threads,
}

impl Model {
    pub(crate) fn load(mut file: &File, threads: &Threads) -> Result<Self, PictureError> {
        let mut bytes = Vec::new();
        file.rewind().map_err(PictureError::model)?;
        file.take(MAX_MODEL_BYTES).read_to_end(&mut bytes).map_err(PictureError::model)?;
        let loaded =
            catch_unwind(AssertUnwindSafe(|| ModelOptions::with_all_ops().prepack_weights(true).load(bytes)));
        let model = loaded.map_err(|_| PictureError::model("it is damaged"))?.map_err(PictureError::model)?;
        Ok(Self { model, threads: threads.clone() })
    }

    /// What the file says about itself.
    pub(crate) fn metadata(&self, name: &str) -> Option<&str> {
        self.model.metadata().get(name)
    }

    pub(crate) fn run(&self, shape: &[usize], values: Vec<f32>) -> Result<Output, PictureError> {
        let input = Tensor::from_data(shape, values);
        let options = RunOptions::default().with_thread_pool(Some(self.threads.0.clone()));
        let ran = catch_unwind(AssertUnwindSafe(|| self.model.run_one(input.into(), Some(options))));
        let output = ran.map_err(|_| PictureError::model("it fails"))?.map_err(PictureError::model)?;
        let output: Tensor<f32> = output.try_into().map_err(PictureError::model)?;
        Ok(Output { shape: output.shape().to_vec(), values: output.into_data() })
    }
}
