//! Recordings of sessions: pictures of their pages with times, as encrypted objects. One object is the index of a
//! recording; the pictures are in chunks of some megabytes, so that a long session is not thousands of objects.

use crate::{Error, from_store};
use interact::recording::RecordedFrame;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use store::objects::Objects;
use store::secrets::ObjectCipher;
use store::{Millis, ServerSecrets, StoreResult};
use stored_data::compression::{pack, unpack};
use stored_data::time;
use tokio::sync::mpsc;
use uuid::Uuid;

const SECRET: &str = "recordings";
/// What the keys of all objects of recordings begin with.
pub const PREFIX: &str = "recordings/";
/// A chunk is written when it has this size, or after this time.
const CHUNK_BYTES: usize = 1 << 20;
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);
/// Pictures of one recording.
const MAX_FRAMES: usize = 7200;
/// Changes of the address of one page that are noted.
const MAX_ADDRESSES: usize = 500;
const MAX_ADDRESS_CHARS: usize = 2000;

/// How much is recorded, and for how long it stays.
#[derive(Debug, Clone, Copy)]
pub struct RecordingSettings {
    /// Bytes of the pictures of one session; the recording stops there.
    pub max_bytes: usize,
    pub retention: Duration,
}

/// Reads and writes recordings. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recordings {
    objects: Objects,
    cipher: Arc<ObjectCipher>,
    settings: RecordingSettings,
}

/// What was recorded of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingIndex {
    #[serde(rename = "team")]
    pub(super) team_id: Uuid,
    pub started_at: Millis,
    /// It stops before the end of the session.
    pub truncated: bool,
    pub chunks: u32,
    pub pages: Vec<RecordedPage>,
}

/// What was recorded of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedPage {
    /// Where it was from which time on.
    pub addresses: Vec<(u64, String)>,
    pub frames: Vec<FramePlace>,
}

/// Where a picture is: its time in milliseconds, its chunk, where it begins there, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FramePlace(pub u64, pub u32, pub u32, pub u32);

impl Recordings {
    pub async fn open(
        store: &dyn ServerSecrets,
        objects: Objects,
        settings: RecordingSettings,
    ) -> Result<Self, Error> {
        let secret = store.server_secret(SECRET).await.map_err(from_store)?;
        let cipher = Arc::new(ObjectCipher::new(&secret).map_err(from_store)?);
        Ok(Self { objects, cipher, settings })
    }

    /// Stores what is received until the sender is gone. Failures end the recording, never the session.
    pub(super) async fn write(self, id: Uuid, team: Uuid, mut frames: mpsc::Receiver<RecordedFrame>) {
        let mut writer = Writer::new(team, self.settings.max_bytes);
        let mut flush = tokio::time::interval(FLUSH_INTERVAL);
        loop {
            let ended = tokio::select! {
                frame = frames.recv() => match frame {
                    Some(frame) => !writer.add(&frame),
                    None => true,
                },
                _ = flush.tick() => false,
            };
            if let Err(error) = self.store(id, &mut writer, ended).await {
                tracing::warn!(%error, session = %id, "could not store the recording of a browser session");
                return;
            }
            if ended {
                return;
            }
        }
    }

    /// Stores a chunk that is full, old or the last, and the index that knows of it.
    async fn store(&self, id: Uuid, writer: &mut Writer, ended: bool) -> StoreResult<()> {
        if !writer.is_due(ended) {
            return Ok(());
        }
        let chunk = writer.take_chunk();
        if !chunk.is_empty() {
            self.put(&chunk_key(id, writer.index.chunks), writer.index.team_id, &chunk).await?;
            writer.index.chunks += 1;
        }
        let index = serde_json::to_vec(&writer.index).unwrap_or_default();
        let packed = pack(&index).map_err(|error| store::StoreError::Unavailable(error.to_string()))?;
        self.put(&index_key(id), writer.index.team_id, &packed).await
    }

    async fn put(&self, key: &str, team: Uuid, plain: &[u8]) -> StoreResult<()> {
        let sealed = self.cipher.seal(key, plain)?;
        self.objects.put(key, team, sealed.into(), self.settings.retention).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let sealed = self.objects.get(key).await.map_err(from_store)?;
        Ok(sealed.and_then(|sealed| self.cipher.open(key, &sealed)))
    }

    /// What is stored of the recording of a session so far.
    pub(super) async fn index(&self, id: Uuid) -> Result<Option<RecordingIndex>, Error> {
        let Some(packed) = self.get(&index_key(id)).await? else { return Ok(None) };
        let index = unpack(&packed).map_err(Error::internal)?;
        serde_json::from_slice(&index).map(Some).map_err(Error::internal)
    }

    /// The pictures of a chunk, one after another.
    pub(super) async fn chunk(&self, id: Uuid, number: u32) -> Result<Option<Vec<u8>>, Error> {
        self.get(&chunk_key(id, number)).await
    }

    pub(super) async fn delete(&self, id: Uuid, index: &RecordingIndex) -> Result<(), Error> {
        // The index last: while it is there a deletion that failed can be repeated.
        for number in 0..index.chunks {
            self.objects.delete(&chunk_key(id, number)).await.map_err(from_store)?;
        }
        self.objects.delete(&index_key(id)).await.map(drop).map_err(from_store)
    }
}

fn index_key(id: Uuid) -> String {
    format!("{PREFIX}{id}/index")
}

fn chunk_key(id: Uuid, number: u32) -> String {
    format!("{PREFIX}{id}/{number}")
}

/// A recording that is being written.
struct Writer {
    index: RecordingIndex,
    chunk: Vec<u8>,
    /// When the first picture of the chunk was added.
    chunk_since: Option<tokio::time::Instant>,
    frames: usize,
    bytes: usize,
    max_bytes: usize,
}

impl Writer {
    fn new(team: Uuid, max_bytes: usize) -> Self {
        let index = RecordingIndex {
            team_id: team,
            started_at: time::now(),
            truncated: false,
            chunks: 0,
            pages: Vec::new(),
        };
        Self { index, chunk: Vec::new(), chunk_since: None, frames: 0, bytes: 0, max_bytes }
    }

    /// False when the recording has become too large and ends.
    fn add(&mut self, frame: &RecordedFrame) -> bool {
        if self.frames >= MAX_FRAMES || self.bytes + frame.jpeg.len() > self.max_bytes {
            self.index.truncated = true;
            return false;
        }
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let at = u64::try_from(frame.at.as_millis()).unwrap_or(u64::MAX);
        if self.index.pages.len() <= frame.page {
            self.index.pages.resize_with(frame.page + 1, RecordedPage::default);
        }
        let page = &mut self.index.pages[frame.page];
        let shown = page.addresses.last().map(|(_, url)| url.as_str());
        if shown != Some(&*frame.url) && page.addresses.len() < MAX_ADDRESSES {
            page.addresses.push((at, frame.url.chars().take(MAX_ADDRESS_CHARS).collect()));
        }
        let place = FramePlace(at, self.index.chunks, number(self.chunk.len()), number(frame.jpeg.len()));
        page.frames.push(place);
        self.chunk.extend_from_slice(&frame.jpeg);
        self.chunk_since.get_or_insert_with(tokio::time::Instant::now);
        self.frames += 1;
        self.bytes += frame.jpeg.len();
        true
    }

    fn is_due(&self, ended: bool) -> bool {
        let is_old = self.chunk_since.is_some_and(|since| since.elapsed() >= FLUSH_INTERVAL);
        (ended && self.frames > 0) || is_old || self.chunk.len() >= CHUNK_BYTES
    }

    fn take_chunk(&mut self) -> Vec<u8> {
        self.chunk_since = None;
        std::mem::take(&mut self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(page: usize, at: u64, url: &str, bytes: usize) -> RecordedFrame {
        RecordedFrame { page, url: url.into(), at: Duration::from_millis(at), jpeg: vec![7; bytes].into() }
    }

    #[tokio::test]
    async fn pictures_are_found_where_the_index_says() {
        let mut writer = Writer::new(Uuid::nil(), 1000);
        assert!(writer.add(&frame(0, 10, "https://a.example/", 100)));
        assert!(writer.add(&frame(2, 20, "https://b.example/", 50)), "a page without pictures before it");
        assert!(writer.add(&frame(0, 30, "https://a.example/next", 25)));
        assert_eq!(writer.index.pages[0].frames, [FramePlace(10, 0, 0, 100), FramePlace(30, 0, 150, 25)]);
        assert_eq!(writer.index.pages[0].addresses[1], (30, "https://a.example/next".to_owned()));
        assert!(writer.index.pages[1].frames.is_empty());
        assert_eq!(writer.index.pages[2].frames, [FramePlace(20, 0, 100, 50)]);
        assert!(!writer.is_due(false) && writer.is_due(true));
        assert_eq!(writer.take_chunk().len(), 175);
    }

    #[tokio::test]
    async fn a_recording_ends_at_its_largest_size() {
        let mut writer = Writer::new(Uuid::nil(), 100);
        assert!(writer.add(&frame(0, 0, "about:blank", 80)));
        assert!(!writer.add(&frame(0, 1, "about:blank", 30)));
        assert!(writer.index.truncated);
        assert_eq!(writer.index.pages[0].frames.len(), 1);
    }
}
