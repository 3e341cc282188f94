//! `/v2/crawl/{id}/download` and the same of batches: all documents as one file, sent while it is read from the store.

use crate::app::App;
use crate::error::ApiError;
use crate::file_bytes::FileBytes;
use access::Caller;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use engine::crawl::CrawlKind;
use engine::crawl::warc;
use engine::crawl::watch::Watch;
use futures_util::stream::{self, Stream};
use std::sync::Arc;
use stored_data::time::{iso, now};
use tokio_util::sync::CancellationToken;
use utoipa::ToResponse;
use uuid::Uuid;
use wire::crawl::{DownloadFormat, DownloadQuery};

/// A download, for the OpenAPI document. Programs that are generated from it and know neither type read bytes.
#[derive(Debug, ToResponse)]
#[response(description = "The file")]
#[expect(dead_code, reason = "describes a response; it is written by `download`")]
pub enum DownloadedFile {
    Jsonl(#[content("application/x-ndjson")] String),
    Warc(#[content("application/warc")] String),
    Bytes(#[content("application/octet-stream")] FileBytes),
}

pub async fn download(
    app: &App,
    caller: &Arc<Caller>,
    kind: CrawlKind,
    id: Uuid,
    query: &DownloadQuery,
) -> Result<Response, ApiError> {
    // Counts as a watcher, so that a team has a bounded number of them.
    let watch = app.crawler.watch(caller, kind, id, 0).await?;
    let format = query.format;
    let (content_type, ending) = match format {
        DownloadFormat::Jsonl => ("application/x-ndjson", "jsonl"),
        DownloadFormat::Warc => ("application/warc", "warc"),
    };
    let name = match kind {
        CrawlKind::Crawl => "crawl",
        CrawlKind::Batch => "batch",
    };
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}-{id}.{ending}\"")),
    ];
    let body = Body::from_stream(pieces(watch, format, app.stopping.clone()));
    Ok((headers, body).into_response())
}

/// The file piece by piece. An error ends the connection, so that no client takes half a file for a whole one.
fn pieces(
    watch: Watch,
    format: DownloadFormat,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    // WARC dates are to the second.
    let date = format!("{}Z", iso(now()).split('.').next().unwrap_or_default());
    let head = match format {
        DownloadFormat::Jsonl => Bytes::new(),
        DownloadFormat::Warc => warc::file_info(&date).into(),
    };
    let rest = stream::try_unfold((watch, date, stopping), move |(mut watch, date, stopping)| async move {
        let read = stopping.run_until_cancelled(watch.next_documents()).await;
        let documents = read.ok_or_else(|| std::io::Error::other("the server stops"))?;
        let documents = documents.map_err(|error| std::io::Error::other(error.to_string()))?;
        if documents.is_empty() {
            return Ok::<_, std::io::Error>(None);
        }
        let (written, date) =
            tokio::task::spawn_blocking(move || (write(&documents, format, &date), date)).await?;
        Ok(Some((Bytes::from(written), (watch, date, stopping))))
    });
    futures_util::StreamExt::chain(stream::once(async { Ok(head) }), rest)
}

fn write(documents: &[(u64, Vec<u8>)], format: DownloadFormat, date: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (_, json) in documents {
        match format {
            DownloadFormat::Jsonl => {
                out.extend_from_slice(json);
                out.push(b'\n');
            }
            DownloadFormat::Warc => out.extend(warc::document(json, date)),
        }
    }
    out
}
