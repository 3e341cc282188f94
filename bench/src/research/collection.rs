//! A judged collection as an index, with a map from its nodes to document numbers.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use model::MiniLm;
use papers::{BuildOptions, Index, Library, PaperRef, PaperSource, SimilarQuery};

use super::judged_collection::{Graph, JudgedCollection, Query};

/// Vectors of the works and the model that made them, to measure what they add.
#[derive(Debug)]
pub struct ModelVectors {
    vectors: PathBuf,
    model: MiniLm,
}

impl ModelVectors {
    pub fn open(vectors: &Path, model: &Path) -> Result<Self> {
        Ok(Self { vectors: vectors.to_owned(), model: MiniLm::open(model)? })
    }

    /// The intents of all queries as vectors.
    pub fn intents(&self, queries: &[Query]) -> HashMap<String, Vec<f32>> {
        let texts: Vec<&str> = queries.iter().map(|query| query.intent.as_str()).collect();
        texts.iter().map(|text| (*text).to_owned()).zip(self.model.embed(&texts)).collect()
    }
}

/// Prints what an import says of the weights it learns.
fn print_stage(stage: &str, _: u64, total: u64) {
    if total == 0 {
        println!("  {stage}");
    }
}

/// An index of the collection.
#[derive(Debug)]
pub struct Collection {
    pub index: Arc<Index>,
    node_of: Vec<u32>,
    document_of: BTreeMap<u32, u32>,
    _folder: tempfile::TempDir,
}

impl Collection {
    /// With `learn`, the import learns the collection's weights, as it does for every user.
    pub fn build(
        pack: &JudgedCollection,
        graph: Graph,
        meaning: Option<&ModelVectors>,
        learn: bool,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("works.jsonl");
        let mut out = BufWriter::new(File::create(&file)?);
        pack.to_jsonl(graph, false, &mut out)?;
        out.flush()?;
        let library = Library::open(&folder.path().join("library"))?;
        library.import(
            PaperSource::Jsonl,
            &[file],
            &BuildOptions { learn, ..BuildOptions::default() },
            &print_stage,
        )?;
        if let Some(meaning) = meaning {
            library.copy_vectors_from(&meaning.vectors)?;
        }
        let index = library.current().context("an index")?;
        let mut node_of = Vec::new();
        for document in &pack.documents {
            let reference = PaperRef::parse(&document.doi).context("a DOI")?;
            node_of.push(index.resolve(&reference).context("a document that was imported")?);
        }
        let document_of =
            node_of.iter().enumerate().map(|(document, node)| (*node, document as u32)).collect();
        Ok(Self { index, node_of, document_of, _folder: folder })
    }

    /// The document of a node.
    pub fn document(&self, node: u32) -> u32 {
        self.document_of[&node]
    }

    /// A judged query as a query to the index.
    pub fn question(&self, query: &Query, rerank: bool, meaning: Option<&Vec<f32>>) -> SimilarQuery {
        SimilarQuery {
            seeds: vec![self.node_of[query.seed as usize]],
            intent: query.intent.clone(),
            k: 500,
            rerank,
            meaning: meaning.cloned(),
            ..SimilarQuery::default()
        }
    }
}
