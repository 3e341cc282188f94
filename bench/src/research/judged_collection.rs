//! The judged collection on disk (documents, edges, queries), and its conversion into works. Also sparser
//! copies of it, on which weights must hold too: without references that leave the collection, and with only
//! a quarter of the rest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use gannet_bench::pages::rows;
use serde::{Deserialize, Serialize};

/// A document of the collection.
#[derive(Debug, Clone, Deserialize)]
pub struct Document {
    pub doi: String,
    pub year: Option<u32>,
    pub title: String,
    #[serde(rename = "abstract")]
    pub abstract_text: Option<String>,
    #[serde(default)]
    pub subj: Vec<String>,
    /// Sentences in which it cites other documents, if the collection has them.
    #[serde(default)]
    pub contexts: Vec<CitingSentence>,
}

/// A sentence and the documents it cites.
#[derive(Debug, Clone, Deserialize)]
pub struct CitingSentence {
    text: String,
    cited: Vec<u32>,
}

/// A judged query.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    pub src: String,
    pub intent: String,
    pub seed: u32,
    pub rel: Vec<u32>,
}

/// The collection.
#[derive(Debug)]
pub struct JudgedCollection {
    pub documents: Vec<Document>,
    pub edges: Vec<(u32, u32)>,
    pub queries: Vec<Query>,
}

/// Which references are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graph {
    /// All.
    Whole,
    /// Those to documents of the collection.
    Inner,
    /// A quarter of those.
    Sparse,
}

impl Graph {
    pub const ALL: [Self; 3] = [Self::Whole, Self::Inner, Self::Sparse];

    fn keeps(self, documents: u32, (citing, cited): (u32, u32)) -> bool {
        match self {
            Self::Whole => true,
            Self::Inner => cited < documents,
            Self::Sparse => {
                cited < documents
                    && (citing.wrapping_mul(0x9e37_79b1) ^ cited.wrapping_mul(0x85eb_ca6b))
                        .wrapping_mul(0xc2b2_ae35)
                        >> 30
                        == 0
            }
        }
    }
}

/// One work in the plain form that `gannet research import --from jsonl` reads.
#[derive(Debug, Serialize)]
struct Line<'a> {
    ids: BTreeMap<&'a str, [&'a str; 1]>,
    title: &'a str,
    #[serde(rename = "abstract")]
    abstract_text: &'a str,
    categories: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    references: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contexts: Vec<LineContext<'a>>,
}

/// A citing sentence in the plain form.
#[derive(Debug, Serialize)]
struct LineContext<'a> {
    text: &'a str,
    references: Vec<String>,
}

impl JudgedCollection {
    pub fn read_folder(folder: &Path) -> Result<Self> {
        let open = |name: &str| {
            File::open(folder.join(name)).with_context(|| folder.join(name).display().to_string())
        };
        let documents = rows(&folder.join("docs.jsonl.gz"))?.collect::<Result<_>>()?;
        let mut bytes = Vec::new();
        GzDecoder::new(open("edges.u32le.gz")?).read_to_end(&mut bytes)?;
        ensure!(bytes.len() % 8 == 0, "edges are pairs of 32-bit numbers");
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let edges = bytes.chunks_exact(8).map(|pair| (number(&pair[..4]), number(&pair[4..]))).collect();
        let queries = serde_json::from_reader(BufReader::new(open("queries_dev.json")?))?;
        Ok(Self { documents, edges, queries })
    }

    /// References of each document.
    pub fn references(&self, graph: Graph) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.documents.len()];
        for edge in self.edges.iter().filter(|edge| graph.keeps(self.documents.len() as u32, **edge)) {
            if let Some(list) = out.get_mut(edge.0 as usize) {
                list.push(edge.1);
            }
        }
        for list in &mut out {
            list.sort_unstable();
            list.dedup();
        }
        out
    }

    /// The name of a node: a document's DOI, or a generated one for a work that is only cited.
    pub fn name(&self, node: u32) -> String {
        self.documents
            .get(node as usize)
            .map_or_else(|| format!("cited:{node}"), |document| format!("doi:{}", document.doi))
    }

    /// All documents in the plain form, one per line. With `shared_only`, works that are cited once and have
    /// no text are left out: they connect nothing, and nobody wants to see them.
    pub fn to_jsonl(&self, graph: Graph, shared_only: bool, out: &mut dyn std::io::Write) -> Result<()> {
        let mut cited = vec![0_u32; self.edges.iter().map(|edge| edge.1 as usize + 1).max().unwrap_or(0)];
        for (_, target) in &self.edges {
            cited[*target as usize] += 1;
        }
        for (document, references) in self.documents.iter().zip(self.references(graph)) {
            let kept = references.iter().filter(|node| {
                !shared_only || (**node as usize) < self.documents.len() || cited[**node as usize] > 1
            });
            // What a sentence cites becomes a reference, which a thinner graph must not have.
            let told = document.contexts.iter().filter(|_| graph == Graph::Whole);
            let contexts = told.map(|context| LineContext {
                text: &context.text,
                references: context.cited.iter().map(|node| self.name(*node)).collect(),
            });
            let line = Line {
                ids: BTreeMap::from([("doi", [document.doi.as_str()])]),
                title: &document.title,
                abstract_text: document.abstract_text.as_deref().unwrap_or_default(),
                categories: &document.subj,
                created: document.year.map(|year| year.to_string()),
                references: kept.map(|node| self.name(*node)).collect(),
                contexts: contexts.collect(),
            };
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
