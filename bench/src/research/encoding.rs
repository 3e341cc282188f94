//! The processor time of encoding texts with the model that runs in the process.

use std::path::Path;

use anyhow::Result;
use gannet_bench::timing::Stopwatch;
use model::MiniLm;

use super::judged_collection::JudgedCollection;

/// Texts of one call, as `gannet research vectors` makes them.
const BATCH_TEXTS: usize = 8;

/// Encodes title and abstract of the first works, on one thread.
pub fn report(folder: &Path, model: &Path, works: usize) -> Result<()> {
    let pack = JudgedCollection::read_folder(folder)?;
    let model = MiniLm::open(model)?;
    let with_text =
        pack.documents.iter().filter_map(|document| Some((document, document.abstract_text.as_ref()?)));
    let texts: Vec<String> =
        with_text.take(works).map(|(document, text)| format!("{}. {text}", document.title)).collect();
    let watch = Stopwatch::for_process();
    let mut sum = 0.0_f64;
    for batch in texts.chunks(BATCH_TEXTS) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        sum += model.embed(&batch).iter().map(|vector| f64::from(vector[0])).sum::<f64>();
    }
    let cpu = watch.cost().cpu;
    println!(
        "{} texts: {:.1} processor-seconds, {:.1} ms a text (sum of first numbers {sum:.4})",
        texts.len(),
        cpu / 1e3,
        cpu / texts.len().max(1) as f64
    );
    Ok(())
}
