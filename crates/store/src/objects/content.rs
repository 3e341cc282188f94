//! The bytes of an object on their way into the storage and out of it, from memory or a part of a file at a time.

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetResult, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

/// Bytes of a file that are in memory at once. S3-compatible storage takes no smaller parts than 5 MB.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// What an object is to hold.
pub(super) enum ObjectContent {
    Bytes(Bytes),
    File { file: File, bytes: u64 },
}

impl ObjectContent {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }

    pub(super) async fn send_to(self, place: &dyn ObjectStore, path: &Path) -> object_store::Result<()> {
        match self {
            Self::Bytes(bytes) => place.put(path, PutPayload::from(bytes)).await.map(|_| ()),
            Self::File { file, bytes } => send_file(file, bytes, place, path).await,
        }
    }
}

async fn send_file(
    mut file: File,
    bytes: u64,
    place: &dyn ObjectStore,
    path: &Path,
) -> object_store::Result<()> {
    file.rewind().await.map_err(unreadable)?;
    let first = read_part(&mut file).await?;
    if first.len() < PART_BYTES {
        require_size(first.len() as u64, bytes)?;
        return place.put(path, PutPayload::from(first)).await.map(|_| ());
    }
    let mut upload = place.put_multipart(path).await?;
    let sending = async {
        let (mut part, mut sent) = (first, 0);
        while !part.is_empty() {
            sent += part.len() as u64;
            upload.put_part(PutPayload::from(part)).await?;
            part = read_part(&mut file).await?;
        }
        require_size(sent, bytes)
    };
    let sent: object_store::Result<()> = sending.await;
    match sent {
        Ok(()) => upload.complete().await.map(|_| ()),
        Err(error) => {
            // What was sent must not stay; where this fails too, the storage forgets unfinished uploads in its time.
            let _ = upload.abort().await;
            Err(error)
        }
    }
}

fn require_size(found: u64, expected: u64) -> object_store::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(unreadable(std::io::Error::other("the file changed while it was stored")))
}

/// The next bytes of a file: a whole part, or what is left.
async fn read_part(file: &mut File) -> object_store::Result<Bytes> {
    let mut part = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut part).await.map_err(unreadable)?;
    Ok(part.into())
}

/// Writes an object to a file; how many bytes it has.
pub(super) async fn copy_to_file(found: GetResult, file: &mut File) -> object_store::Result<u64> {
    let (mut chunks, mut bytes) = (found.into_stream(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        bytes += chunk.len() as u64;
        file.write_all(&chunk).await.map_err(unreadable)?;
    }
    file.flush().await.map_err(unreadable)?;
    Ok(bytes)
}

fn unreadable(error: std::io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "file", source: Box::new(error) }
}
