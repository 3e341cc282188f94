//! Texts that were too long for one answer, kept for a while so that their callers can read on. In memory of
//! one process: a cursor that also names a stored job works in every process.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

const RETENTION: Duration = Duration::from_mins(15);
const MAX_TEXTS: usize = 256;
const MAX_BYTES: usize = 64 << 20;

/// Who may read a text: a hash of the key that the call was made with.
pub type Owner = [u8; 32];

#[derive(Debug, Default)]
pub struct Texts(Mutex<TextQueue>);

#[derive(Debug, Default)]
struct TextQueue {
    texts: VecDeque<StoredText>,
    bytes: usize,
}

#[derive(Debug)]
struct StoredText {
    id: Uuid,
    owner: Owner,
    text: Arc<str>,
    since: Instant,
}

impl Texts {
    pub fn keep(&self, owner: Owner, text: Arc<str>) -> Uuid {
        let id = Uuid::new_v4();
        let mut kept = self.0.lock();
        kept.bytes += text.len();
        kept.texts.push_back(StoredText { id, owner, text, since: Instant::now() });
        kept.drop_old();
        id
    }

    pub fn find(&self, owner: &Owner, id: Uuid) -> Option<Arc<str>> {
        let mut kept = self.0.lock();
        kept.drop_old();
        let found = kept.texts.iter().find(|kept| kept.id == id && kept.owner == *owner)?;
        Some(found.text.clone())
    }
}

impl TextQueue {
    fn drop_old(&mut self) {
        while let Some(first) = self.texts.front()
            && (first.since.elapsed() > RETENTION || self.texts.len() > MAX_TEXTS || self.bytes > MAX_BYTES)
        {
            self.bytes -= first.text.len();
            self.texts.pop_front();
        }
    }
}

/// A place in a text: where it is kept, from which byte on, and the job it can be made from again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub text: Uuid,
    pub offset: usize,
    pub job: Option<Job>,
}

/// A job whose stored result gives the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub kind: JobKind,
    pub id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Scrape,
    Crawl,
    Agent,
}

impl JobKind {
    const ALL: [Self; 3] = [Self::Scrape, Self::Crawl, Self::Agent];

    pub fn name(self) -> &'static str {
        match self {
            Self::Scrape => "scrape",
            Self::Crawl => "crawl",
            Self::Agent => "agent",
        }
    }
}

impl Cursor {
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        let (id, offset) = (parts.next()?, parts.next()?);
        let job = match (parts.next(), parts.next()) {
            (None, _) => None,
            (Some(kind), Some(id)) => {
                let kind = JobKind::ALL.into_iter().find(|known| known.name() == kind)?;
                Some(Job { kind, id: Uuid::try_parse(id).ok()?.to_string() })
            }
            _ => return None,
        };
        Some(Self { text: Uuid::try_parse(id).ok()?, offset: offset.parse().ok()?, job })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.text.as_simple(), self.offset)?;
        match &self.job {
            Some(job) => write!(out, ".{}.{}", job.kind.name(), job.id),
            None => Ok(()),
        }
    }
}

/// The part of a text from `offset` on with at most `max_chars` characters, and where it ends. `None` where
/// the offset is none of this text.
pub fn part(text: &str, offset: usize, max_chars: usize) -> Option<(&str, usize)> {
    let rest = text.get(offset..)?;
    let end = rest.char_indices().nth(max_chars).map_or(rest.len(), |(index, _)| index);
    Some((&rest[..end], offset + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_to_its_end_by_its_owner_only() {
        let texts = Texts::default();
        let text: Arc<str> = "äöü".repeat(5).into();
        let id = texts.keep([1; 32], text.clone());
        assert_eq!(texts.find(&[2; 32], id), None);
        let kept = texts.find(&[1; 32], id).unwrap();
        let (mut read, mut offset) = (String::new(), 0);
        while offset < kept.len() {
            let (piece, next) = part(&kept, offset, 4).unwrap();
            assert!(piece.chars().count() <= 4 && next > offset);
            read.push_str(piece);
            offset = next;
        }
        assert_eq!(read, *text);
        assert_eq!(part(&kept, 1, 4), None, "in the middle of a character");
        assert_eq!(part(&kept, kept.len() + 1, 4), None);
    }

    #[test]
    fn old_texts_make_room() {
        let texts = Texts::default();
        let first = texts.keep([0; 32], "x".into());
        for _ in 0..MAX_TEXTS {
            texts.keep([0; 32], "y".into());
        }
        assert_eq!(texts.find(&[0; 32], first), None);
    }

    #[test]
    fn cursors_survive_being_written() {
        let job = Job { kind: JobKind::Scrape, id: Uuid::nil().to_string() };
        for job in [None, Some(job)] {
            let cursor = Cursor { text: Uuid::new_v4(), offset: 20_000, job };
            assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        }
        for wrong in
            ["", "x", "1.2", "../..", &format!("{}.-1", Uuid::nil()), &format!("{}.1.x.y", Uuid::nil())]
        {
            assert_eq!(Cursor::parse(wrong), None, "{wrong}");
        }
    }
}
