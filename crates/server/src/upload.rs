//! Reads uploaded files from request bodies, as parts of a form or raw, as a stream: a file goes to disk as it arrives,
//! and nothing that a client sends can fill the memory. How many parts a form has, how long their headers and the
//! options are, and how long all of it may take is bounded.

use crate::error::ApiError;
use crate::shared_memory::{Share, SharedMemory};
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use engine::parse::{IncomingError, IncomingFile, IncomingFiles, MAX_FILE_BYTES};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use multer::{Field, Multipart};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use wire::{Kind, WireError};

/// Time for a whole file to arrive, and for the next bytes of it.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(10);
const NEXT_BYTES_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of the name of a part that an error shows.
const MAX_SHOWN_NAME_CHARS: usize = 60;
/// The options may hold a JSON Schema.
const MAX_OPTIONS_BYTES: usize = 1024 * 1024;
/// Bytes that arrive without one byte of a part coming out of them: boundaries, headers of parts, what stands before
/// the first part.
const MAX_HEADER_BYTES: usize = 128 * 1024;
/// What a body may have beside its file.
const MAX_OVERHEAD_BYTES: u64 = (MAX_OPTIONS_BYTES + 4 * MAX_HEADER_BYTES) as u64;

/// The parts of a form.
#[derive(Debug)]
pub struct UploadForm {
    pub file: IncomingFile,
    /// As the sender calls the file; empty where there is no name.
    pub name: String,
    pub content_type: Option<String>,
    /// The bytes of the part `options`; none where there is no such part.
    pub options: Option<Vec<u8>>,
}

/// Whether a request has a multipart body, whatever its boundary.
pub fn is_multipart(request: &Request) -> bool {
    let Some(kind) = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("multipart/form-data")
}

/// Reads a form. Its file is on disk until the result is dropped.
pub async fn read_form(
    request: Request,
    files: &Arc<IncomingFiles>,
    team: Uuid,
    memory: &SharedMemory,
) -> Result<UploadForm, ApiError> {
    refuse_declared_length(&request, MAX_FILE_BYTES + MAX_OVERHEAD_BYTES)?;
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind).map_err(|_| invalid("the content type names no boundary"))?;
    let unread = Arc::new(AtomicUsize::new(0));
    let body = PacedBody::new(request.into_body(), unread.clone());
    let reader = FormReader { parts: Multipart::new(body, boundary), unread, clock: UploadClock::start() };
    reader.read_parts(files, team, memory.share()).await
}

/// Reads a body that is nothing but a file.
pub async fn read_raw(
    request: Request,
    files: &Arc<IncomingFiles>,
    team: Uuid,
) -> Result<IncomingFile, ApiError> {
    refuse_declared_length(&request, MAX_FILE_BYTES)?;
    let (clock, mut chunks) = (UploadClock::start(), request.into_body().into_data_stream());
    let mut file = files.create(team)?;
    while let Some(chunk) = clock.run(chunks.next()).await? {
        let chunk = chunk.map_err(|_| invalid("the body ended early"))?;
        file.write(&chunk).await?;
    }
    Ok(file)
}

/// Refuses a body that says itself that it is too long, before it is sent.
fn refuse_declared_length(request: &Request, max_bytes: u64) -> Result<(), ApiError> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > max_bytes) {
        return Err(IncomingError::TooLarge.into());
    }
    Ok(())
}

fn invalid(why: &str) -> ApiError {
    WireError::because(Kind::BadRequest, why).into()
}

fn unreadable(error: &multer::Error) -> ApiError {
    invalid(&format!("the multipart body could not be read: {error}"))
}

/// How long a file may take to arrive.
struct UploadClock {
    end: Instant,
}

impl UploadClock {
    fn start() -> Self {
        Self { end: Instant::now() + UPLOAD_TIMEOUT }
    }

    /// Waits for the next bytes.
    async fn run<T>(&self, next: impl Future<Output = T>) -> Result<T, ApiError> {
        let end = self.end.min(Instant::now() + NEXT_BYTES_TIMEOUT);
        Ok(tokio::time::timeout_at(end, next).await.map_err(|_| WireError::from(Kind::RequestTimeout))?)
    }
}

struct FormReader {
    parts: Multipart<'static>,
    /// See [`PacedBody`].
    unread: Arc<AtomicUsize>,
    clock: UploadClock,
}

impl FormReader {
    async fn read_parts(
        mut self,
        files: &Arc<IncomingFiles>,
        team: Uuid,
        mut share: Share,
    ) -> Result<UploadForm, ApiError> {
        let (mut found, mut options) = (None, None);
        // Each name is accepted once, which bounds the number of parts.
        while let Some(part) = self.next_part().await? {
            match part.name() {
                Some("file") if found.is_none() => {
                    let name = part.file_name().unwrap_or_default().to_owned();
                    let content_type = part.content_type().map(ToString::to_string);
                    found = Some((self.read_file(part, files, team).await?, name, content_type));
                }
                Some("options") if options.is_none() => {
                    options = Some(self.read_options(part, &mut share).await?);
                }
                Some("file") => return Err(invalid("there is more than one part `file`; send one file")),
                Some("options") => return Err(invalid("there is more than one part `options`")),
                Some(name) if !name.is_empty() => {
                    let name: String = name.chars().take(MAX_SHOWN_NAME_CHARS).collect();
                    return Err(invalid(&format!(
                        "there is a part `{name}`; the parts are `file` and `options`"
                    )));
                }
                _ => {
                    return Err(invalid(
                        "there is a part without a name; the parts are `file` and `options`",
                    ));
                }
            }
        }
        let (file, name, content_type) = found.ok_or_else(|| invalid("there is no part `file`"))?;
        Ok(UploadForm { file, name, content_type, options })
    }

    async fn next_part(&mut self) -> Result<Option<Field<'static>>, ApiError> {
        let part = self.clock.run(self.parts.next_field()).await?.map_err(|error| unreadable(&error))?;
        self.unread.store(0, Ordering::Relaxed);
        Ok(part)
    }

    async fn next_chunk(&self, part: &mut Field<'static>) -> Result<Option<Bytes>, ApiError> {
        let chunk = self.clock.run(part.chunk()).await?.map_err(|error| unreadable(&error))?;
        self.unread.store(0, Ordering::Relaxed);
        Ok(chunk)
    }

    async fn read_file(
        &self,
        mut part: Field<'static>,
        files: &Arc<IncomingFiles>,
        team: Uuid,
    ) -> Result<IncomingFile, ApiError> {
        let mut file = files.create(team)?;
        while let Some(chunk) = self.next_chunk(&mut part).await? {
            file.write(&chunk).await?;
        }
        Ok(file)
    }

    async fn read_options(&self, mut part: Field<'static>, share: &mut Share) -> Result<Vec<u8>, ApiError> {
        let mut options = Vec::new();
        while let Some(chunk) = self.next_chunk(&mut part).await? {
            if options.len() + chunk.len() > MAX_OPTIONS_BYTES {
                return Err(invalid("the part `options` has more than 1 MB"));
            }
            share.take(chunk.len())?;
            options.extend_from_slice(&chunk);
        }
        Ok(options)
    }
}

/// A body that is handed out a chunk at a time. The reader of parts takes all that is ready into its memory before it
/// looks at it; so nothing is ready right after a chunk. What it has taken without a byte of a part coming out of it is
/// bounded by `unread`, which is set back whenever one does.
struct PacedBody {
    chunks: BoxStream<'static, Result<Bytes, axum::Error>>,
    unread: Arc<AtomicUsize>,
    pauses: bool,
}

impl PacedBody {
    fn new(body: Body, unread: Arc<AtomicUsize>) -> Self {
        Self { chunks: Box::pin(body.into_data_stream()), unread, pauses: false }
    }
}

impl Stream for PacedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.pauses) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = self.chunks.as_mut().poll_next(context);
        if let Poll::Ready(Some(Ok(chunk))) = &next {
            self.pauses = true;
            if self.unread.fetch_add(chunk.len(), Ordering::Relaxed) > MAX_HEADER_BYTES {
                return Poll::Ready(Some(Err(axum::Error::new("the headers of a part are too long"))));
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use testkit::TempDir;

    const CHUNK_BYTES: usize = 64 * 1024;

    /// A form of many chunks after a beginning, and how many of them were read.
    fn counted_form(beginning: &'static [u8], chunks: usize) -> (Request, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let counter = read.clone();
        let many = stream::iter(0..chunks).map(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; CHUNK_BYTES]))
        });
        let first = stream::iter([Ok(Bytes::from_static(beginning))]);
        let request = Request::post("/").header(CONTENT_TYPE, "multipart/form-data; boundary=b");
        (request.body(Body::from_stream(first.chain(many))).unwrap(), read)
    }

    fn files() -> (TempDir, Arc<IncomingFiles>) {
        let dir = TempDir::new();
        let files = IncomingFiles::open(&dir.join("incoming")).unwrap();
        (dir, files)
    }

    #[tokio::test]
    async fn what_is_no_part_does_not_fill_the_memory() {
        let (_dir, files) = files();
        for beginning in [&b"--b\r\nX-Long: "[..], b"before the first part", b"--b\r\n"] {
            let (request, read) = counted_form(beginning, 1000);
            let error = read_form(request, &files, Uuid::nil(), &SharedMemory::new(MAX_OPTIONS_BYTES))
                .await
                .unwrap_err()
                .0;
            assert_eq!((error.status(), error.kind), (400, Kind::BadRequest));
            assert!(read.load(Ordering::Relaxed) <= 4, "{} chunks", read.load(Ordering::Relaxed));
        }
    }

    #[tokio::test]
    async fn a_file_goes_to_disk_as_it_arrives() {
        let (_dir, files) = files();
        let beginning = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";
        let (request, read) = counted_form(beginning, 10_000);
        let error = read_form(request, &files, Uuid::nil(), &SharedMemory::new(MAX_OPTIONS_BYTES))
            .await
            .unwrap_err()
            .0;
        assert_eq!(error.text(), "Bad Request: the file is larger than 50 MB");
        let most = usize::try_from(MAX_FILE_BYTES).unwrap() / CHUNK_BYTES;
        assert!(read.load(Ordering::Relaxed) <= most + 2, "no more was read than fits");
        // The options have a limit of their own.
        let beginning = b"--b\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n";
        let (request, read) = counted_form(beginning, 10_000);
        let error = read_form(request, &files, Uuid::nil(), &SharedMemory::new(MAX_OPTIONS_BYTES))
            .await
            .unwrap_err()
            .0;
        assert_eq!(error.text(), "Bad Request: the part `options` has more than 1 MB");
        assert!(read.load(Ordering::Relaxed) <= 1 + MAX_OPTIONS_BYTES / CHUNK_BYTES + 1);
    }
}
