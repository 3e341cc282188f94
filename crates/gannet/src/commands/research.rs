//! `gannet research`: imports into, shows, verifies and queries the research index without a server.

use crate::settings::Settings;
use anyhow::{Context, Result, anyhow, bail};
use engine::research::Research;
use papers::{BuildOptions, Index, Library, Mode, PaperRef, PaperSource, SimilarQuery};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use wire::research::SimilarRequest;

/// The starter corpus: eLife papers, CC BY 4.0; see `data/README.md`.
const STARTER: &[u8] = include_bytes!("../../../../data/starter.jsonl.zst");

#[derive(Debug, clap::Subcommand)]
pub enum ResearchCommand {
    /// Import works and publish a new generation of the index
    Import {
        /// Format: jsonl, openalex, semantic-scholar, arxiv, pubmed, jats, crossref, bibtex or ris
        #[arg(long, value_name = "SOURCE")]
        from: String,
        /// Files or folders of files, plain or gzip
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Import the corpus that is part of the binary, if the index is empty
    Starter,
    /// Show the contents of the index
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compute embeddings of all works, which rerank uses
    Vectors,
    /// Verify all checksums of the index
    Verify,
    /// Find papers related to a paper
    Similar {
        /// Id of the paper, such as arxiv:1706.03762 or a DOI
        id: String,
        /// Intent to rank them by
        #[arg(long)]
        intent: String,
        /// Mode: similar, citers or references
        #[arg(long, default_value = "similar")]
        mode: String,
        /// Number of papers
        #[arg(long, default_value_t = 20)]
        k: i64,
        /// Rank again with the embedding model, where one is installed
        #[arg(long)]
        rerank: bool,
        /// Further paper to start from; may be repeated
        #[arg(long)]
        anchor: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write an HTML page with the citation graph around a paper
    Graph {
        /// Id of the paper
        id: String,
        /// Intent to rank the neighbours by [default: the title of the paper]
        #[arg(long)]
        intent: Option<String>,
        /// File to write
        #[arg(long, default_value = "graph.html")]
        out: PathBuf,
        /// Number of neighbours
        #[arg(long, default_value_t = 40)]
        k: usize,
    },
}

/// The index and the models of these settings.
pub fn open(settings: &Settings) -> papers::Result<Research> {
    Research::open(&folder(settings), settings.models_folder())
}

/// The folder of the index.
pub fn folder(settings: &Settings) -> PathBuf {
    settings.data_dir.join("research")
}

impl ResearchCommand {
    /// Whether it writes only to the data directory, and no output file that the user asked for.
    pub fn writes_own_files_only(&self) -> bool {
        !matches!(self, Self::Graph { .. })
    }

    pub fn run(self, settings: &Settings) -> Result<ExitCode> {
        let folder = folder(settings);
        match self {
            Self::Import { from, paths } => import(&folder, &from, &paths)?,
            Self::Starter => import_starter(&open(settings)?)?,
            Self::Vectors => vectors(&open(settings)?)?,
            Self::Status { json } => status(&folder, json)?,
            Self::Verify => {
                let index = opened(&folder)?;
                index.verify()?;
                println!("all checksums match; {} citations in both directions", index.facts().edges);
            }
            Self::Similar { id, intent, mode, k, rerank, anchor, json } => {
                let asked = SimilarRequest {
                    intent: Some(intent),
                    mode: Some(mode),
                    k: Some(k),
                    rerank: Some(rerank),
                    anchor,
                    ..SimilarRequest::default()
                };
                similar(&open(settings)?, &id, &asked, json)?;
            }
            Self::Graph { id, intent, out, k } => {
                let index = opened(&folder)?;
                let page = neighbourhood(&index, &id, intent, k)?;
                std::fs::write(&out, page).with_context(|| format!("cannot write {}", out.display()))?;
                println!("wrote {}", out.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn opened(folder: &Path) -> Result<std::sync::Arc<Index>> {
    Library::open(folder)?
        .current()
        .context("the research index is empty; import papers with: gannet research import")
}

fn import(folder: &Path, from: &str, paths: &[PathBuf]) -> Result<()> {
    let source = PaperSource::from_name(from).ok_or_else(|| {
        let names: Vec<&str> = PaperSource::ALL.iter().map(|(_, name)| *name).collect();
        anyhow!("unknown format `{from}`; use one of {}", names.join(", "))
    })?;
    let files = files(paths)?;
    let library = Library::open(folder)?;
    let started = Instant::now();
    let told = std::cell::RefCell::new((String::new(), Instant::now()));
    let facts = library.import(source, &files, &BuildOptions::default(), &|stage, done, total| {
        let mut last = told.borrow_mut();
        if last.0 != stage {
            *last = (stage.to_owned(), Instant::now());
        }
        let seconds = last.1.elapsed().as_secs_f64().max(0.001);
        let rate = done as f64 / seconds;
        match (done, total) {
            (0, _) => note!("{stage} …"),
            (_, 0) => note!("{stage}: {done} ({rate:.0}/s)"),
            _ => note!(
                "{stage}: {done} of {total} ({rate:.0}/s, {:.0} s left)",
                total.saturating_sub(done) as f64 / rate.max(1.0)
            ),
        }
    })?;
    println!(
        "{} works, {} cited-only, {} citations, in {:.1} s",
        facts.works,
        facts.nodes - facts.works,
        facts.edges,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// How often the progress of encoding is printed.
const ENCODING_REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// A run of `gannet research vectors`: when it began, how many works an earlier one had done, and when its
/// progress was last printed.
#[derive(Debug, Clone, Copy)]
struct EncodingRun {
    started: Instant,
    first: u64,
    told: Option<Instant>,
}

/// Computes missing embeddings and prints progress.
fn vectors(research: &Research) -> Result<()> {
    let model = research
        .models()
        .current()?
        .context("no embedding model is installed; install one with: gannet models add minilm PATH")?;
    let index = research.library().current();
    index.context("the research index is empty; import papers with: gannet research import")?;
    let run = std::cell::Cell::new(None::<EncodingRun>);
    research.library().make_vectors(model.as_ref(), &|done, total| {
        let now = Instant::now();
        let Some(mut so_far) = run.get() else {
            if done > 0 {
                note!("vectors: {done} of {total} are there already");
            }
            run.set(Some(EncodingRun { started: now, first: done, told: None }));
            return;
        };
        if so_far.told.is_none_or(|told| told.elapsed() >= ENCODING_REPORT_INTERVAL) || done == total {
            // At least one batch was measured, so the first estimate is as good as the next ones.
            let rate = (done - so_far.first) as f64 / so_far.started.elapsed().as_secs_f64().max(0.001);
            let left = (total - done) as f64 / rate.max(0.001);
            note!("vectors: {done} of {total} ({rate:.1}/s, {left:.0} s left)");
            so_far.told = Some(now);
            run.set(Some(so_far));
        }
    })?;
    let filled = research.library().current().and_then(|index| Some(index.vectors()?.filled()));
    println!("{} works have vectors", filled.unwrap_or(0));
    Ok(())
}

/// The given files, and the files in folders ordered by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        let path = path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
        if path.is_dir() { folders.push(path) } else { out.push(path) }
    }
    while let Some(folder) = folders.pop() {
        let mut inside = Vec::new();
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
        {
            let entry = entry?;
            let kind = entry.file_type()?;
            // Symbolic links are not followed: they may form a cycle.
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && !entry.file_name().to_string_lossy().starts_with('.') {
                inside.push(entry.path());
            }
        }
        inside.sort();
        out.append(&mut inside);
    }
    if out.is_empty() {
        bail!("no files found");
    }
    Ok(out)
}

fn status(folder: &Path, json: bool) -> Result<()> {
    let library = Library::open(folder)?;
    let status = library.status()?;
    if json {
        let imports: Vec<_> =
            status.imports.iter().map(|(source, works, bytes)| serde_json::json!({ "source": source, "works": works, "bytes": bytes })).collect();
        let shown = serde_json::json!({
            "generation": status.generation, "facts": status.facts, "imports": imports, "unfinished": status.unfinished,
        });
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    let Some(facts) = status.facts else {
        println!("empty; import papers with: gannet research import");
        return Ok(());
    };
    println!("generation  {}", status.generation.unwrap_or_default());
    println!("works       {} ({} with text, {} passages)", facts.works, facts.documents, facts.passages);
    println!("cited only  {}", facts.nodes - facts.works);
    println!("citations   {}", facts.edges);
    match library.current().as_ref().and_then(|index| index.vectors()) {
        Some(vectors) => println!("vectors     of {} works", vectors.filled()),
        None => println!("vectors     none"),
    }
    for (source, works, bytes) in status.imports {
        println!("import      {source}: {works} works, {:.1} MB", bytes as f64 / 1e6);
    }
    if status.unfinished {
        println!("an import was interrupted; run the same command again to continue");
    }
    Ok(())
}

fn similar(research: &Research, id: &str, asked: &SimilarRequest, json: bool) -> Result<()> {
    let answer = research.similar(id, asked).map_err(|error| {
        let error = error.to_wire();
        anyhow!(
            "{}",
            error.details().map_or_else(|| error.to_string(), |details| format!("{error}: {details}"))
        )
    })?;
    if json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(());
    }
    let width = if std::io::stdout().is_terminal() { 72 } else { 200 };
    println!("{:>3}  {:>5}  {:>6}  {:>6}  {:<28}  title", "", "score", "graph", "intent", "paper");
    for (place, paper) in answer.results.iter().enumerate() {
        let (structural, semantic) =
            paper.signals.map_or((0.0, 0.0), |signals| (signals.structural, signals.semantic));
        let title: String = paper.title.chars().take(width).collect();
        println!(
            "{:>3}  {:.3}  {structural:.4}  {semantic:.4}  {:<28}  {title}",
            place + 1,
            paper.score,
            paper.primary_id
        );
    }
    println!("{} candidates; {}", answer.pool_size, answer.note.unwrap_or_default());
    Ok(())
}

/// An HTML page that draws the paper, its related papers, and the citations among them.
fn neighbourhood(index: &Index, id: &str, intent: Option<String>, k: usize) -> Result<String> {
    let seed = PaperRef::parse(id)
        .and_then(|reference| index.resolve(&reference))
        .with_context(|| format!("paper {id} is not in the index"))?;
    let paper = index.paper(seed).context("could not read the record of the paper")?;
    let intent = intent.unwrap_or_else(|| paper.title.clone());
    let query = SimilarQuery {
        seeds: vec![seed],
        intent: intent.clone(),
        mode: Mode::Similar,
        k: k.clamp(1, 200),
        ..SimilarQuery::default()
    };
    let answer = index.similar(&query);
    let mut nodes = vec![
        serde_json::json!({ "id": seed, "title": paper.title, "key": paper.primary.to_string(), "score": 1.0, "seed": true }),
    ];
    let mut shown = vec![seed];
    for ranked in &answer.results {
        let Some(paper) = index.paper(ranked.node) else { continue };
        nodes.push(serde_json::json!({ "id": ranked.node, "title": paper.title, "key": paper.primary.to_string(), "score": ranked.score, "seed": false }));
        shown.push(ranked.node);
    }
    let mut edges = Vec::new();
    for node in &shown {
        index.references().for_each(*node, |target| {
            if shown.contains(&target) {
                edges.push((*node, target));
            }
        });
    }
    let data = serde_json::json!({ "nodes": nodes, "edges": edges, "intent": intent });
    // "</script" in a title must not end the script element.
    Ok(include_str!("graph.html").replace("/*DATA*/null", &data.to_string().replace('<', "\\u003c")))
}

/// Imports the starter corpus if the index is empty.
fn import_starter(research: &Research) -> Result<()> {
    if !is_empty(research)? {
        println!("the index is not empty; nothing to do");
        return Ok(());
    }
    // Under a name that nobody can guess and put a link at.
    let mut file = tempfile::Builder::new().prefix("gannet-starter-").suffix(".jsonl").tempfile()?;
    zstd::stream::copy_decode(STARTER, &mut file)?;
    let outcome = research.library().import(
        PaperSource::Jsonl,
        &[file.path().to_owned()],
        // The shipped weights were learnt from this very collection.
        &BuildOptions { learn: false, ..BuildOptions::default() },
        &|_, _, _| {},
    )?;
    println!("{} works imported", outcome.works);
    Ok(())
}

fn is_empty(research: &Research) -> Result<bool> {
    Ok(research.library().current().is_none() && research.library().status()?.imports.is_empty())
}

/// Imports the starter corpus into an empty index while the server is running. Uses a separate process,
/// because building an index takes memory that a long-lived server should not keep.
pub async fn fill_from_starter(settings: &Settings, research: &Research) -> Result<()> {
    if !is_empty(research)? {
        return Ok(());
    }
    let status = tokio::process::Command::new(std::env::current_exe()?)
        .args(["research", "starter", "--data-dir"])
        .arg(&settings.data_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await?;
    anyhow::ensure!(status.success(), "the import failed with {status}");
    tracing::info!("the starter corpus of the research index is ready");
    Ok(())
}
