//! Playing recordings of sessions: for their team by key, and for whoever has a signed link.

use super::links::{LinkPurpose, Links};
use super::recordings::{FramePlace, RecordedPage, RecordingIndex, Recordings};
use crate::Error;
use access::Caller;
use futures_util::future::BoxFuture;
use std::fmt::Write as _;
use uuid::Uuid;
use wire::Kind;
use wire::interact::{Deleted, ReplayPage, ReplayPages};

/// How long the last picture of a page is shown.
const LAST_FRAME_MS: u64 = 1000;

/// Lists and reads recordings.
#[derive(Clone)]
pub struct Replays {
    recordings: Option<Recordings>,
    links: Links,
}

impl Replays {
    pub(super) fn new(recordings: Option<Recordings>, links: Links) -> Self {
        Self { recordings, links }
    }

    /// Where recordings are kept, if there is such a place.
    pub(super) fn recordings(&self) -> Option<&Recordings> {
        self.recordings.as_ref()
    }

    /// The pages of a session that were recorded.
    pub fn list<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<ReplayPages, Error>> {
        Box::pin(async move {
            let (_, index) = self.of_team(caller, id).await?;
            let pages: Vec<ReplayPage> = recorded_pages(&index)
                .map(|(number, page)| ReplayPage {
                    page_id: number.to_string(),
                    url: self.links.of_replay(base_url, id, number),
                    page_url: page.addresses.last().map(|(_, url)| url.clone()).unwrap_or_default(),
                    start_time_ms: page.frames.first().map_or(0, |place| place.0),
                    end_time_ms: page.frames.last().map_or(0, |place| place.0),
                })
                .collect();
            Ok(ReplayPages {
                success: true,
                page_count: pages.len(),
                pages,
                truncated: index.truncated.then_some(true),
            })
        })
    }

    /// The pictures of a page as an HLS playlist of images, each with the time it was shown for.
    pub fn playlist<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        page: &'a str,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let (_, index) = self.of_team(caller, id).await?;
            let (number, page) = find_page(&index, page)?;
            Ok(write_playlist(page, |frame| self.links.of_replay_frame(base_url, id, number, frame)))
        })
    }

    pub fn delete<'a>(&'a self, caller: &'a Caller, id: Uuid) -> BoxFuture<'a, Result<Deleted, Error>> {
        Box::pin(async move {
            let (recordings, index) = self.of_team(caller, id).await?;
            recordings.delete(id, &index).await?;
            Ok(Deleted { success: true })
        })
    }

    /// The index of a recording, for the page that plays it.
    pub fn linked_index<'a>(
        &'a self,
        id: Uuid,
        token: &'a str,
    ) -> BoxFuture<'a, Result<RecordingIndex, Error>> {
        Box::pin(async move {
            let recordings = self.linked(id, token)?;
            recordings.index(id).await?.ok_or_else(|| Kind::ReplayNotFound.into())
        })
    }

    /// The pictures of a chunk, one after another.
    pub fn linked_chunk<'a>(
        &'a self,
        id: Uuid,
        token: &'a str,
        chunk: u32,
    ) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let recordings = self.linked(id, token)?;
            recordings.chunk(id, chunk).await?.ok_or_else(|| Kind::ReplayNotFound.into())
        })
    }

    /// One picture.
    pub fn linked_frame<'a>(
        &'a self,
        id: Uuid,
        token: &'a str,
        page: &'a str,
        frame: usize,
    ) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let not_found = || Error::from(Kind::ReplayNotFound);
            let index = self.linked_index(id, token).await?;
            let FramePlace(_, chunk, offset, length) =
                *find_page(&index, page)?.1.frames.get(frame).ok_or_else(not_found)?;
            let chunk = self.linked_chunk(id, token, chunk).await?;
            let (offset, length) = (offset as usize, length as usize);
            let picture = chunk.get(offset..offset.saturating_add(length)).ok_or_else(not_found)?;
            Ok(picture.to_vec())
        })
    }

    fn linked(&self, id: Uuid, token: &str) -> Result<&Recordings, Error> {
        let is_valid = self.links.is_valid(id, LinkPurpose::Replay, token);
        self.recordings.as_ref().filter(|_| is_valid).ok_or_else(|| Kind::ReplayNotFound.into())
    }

    async fn of_team(&self, caller: &Caller, id: Uuid) -> Result<(&Recordings, RecordingIndex), Error> {
        let not_found = || Error::from(Kind::ReplayNotFound);
        let recordings = self.recordings.as_ref().ok_or_else(not_found)?;
        let index = recordings.index(id).await?.filter(|index| index.team_id == caller.team);
        Ok((recordings, index.ok_or_else(not_found)?))
    }
}

impl std::fmt::Debug for Replays {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Replays").field("recordings", &self.recordings).finish_non_exhaustive()
    }
}

/// The pages that have pictures, with their numbers.
fn recorded_pages(index: &RecordingIndex) -> impl Iterator<Item = (usize, &RecordedPage)> {
    index.pages.iter().enumerate().filter(|(_, page)| !page.frames.is_empty())
}

fn find_page<'a>(index: &'a RecordingIndex, id: &str) -> Result<(usize, &'a RecordedPage), Error> {
    let number = id.parse::<usize>().ok();
    let found = recorded_pages(index).find(|(known, _)| Some(*known) == number);
    found.ok_or_else(|| Kind::ReplayNotFound.into())
}

/// A playlist of pictures (`EXT-X-IMAGES-ONLY`): there is no video, since encoding one needs a program that few machines have.
fn write_playlist(page: &RecordedPage, address: impl Fn(usize) -> String) -> String {
    let next_times = page.frames.iter().skip(1).map(|place| place.0);
    let last = page.frames.last().map_or(0, |place| place.0.saturating_add(LAST_FRAME_MS));
    let durations: Vec<u64> = page
        .frames
        .iter()
        .zip(next_times.chain([last]))
        .map(|(place, next)| next.saturating_sub(place.0))
        .collect();
    let longest = durations.iter().max().copied().unwrap_or(0).div_ceil(1000);
    let mut text = format!(
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:{longest}\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-IMAGES-ONLY\n"
    );
    for (frame, duration) in durations.iter().enumerate() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "#EXTINF:{}.{:03},\n{}", duration / 1000, duration % 1000, address(frame));
    }
    text.push_str("#EXT-X-ENDLIST\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_playlist_shows_each_picture_until_the_next() {
        let page = RecordedPage {
            addresses: Vec::new(),
            frames: vec![FramePlace(100, 0, 0, 9), FramePlace(1600, 0, 9, 9), FramePlace(5700, 1, 0, 9)],
        };
        let text = write_playlist(&page, |frame| format!("frame-{frame}"));
        let expected = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:5\n#EXT-X-PLAYLIST-TYPE:VOD\n\
            #EXT-X-IMAGES-ONLY\n#EXTINF:1.500,\nframe-0\n#EXTINF:4.100,\nframe-1\n#EXTINF:1.000,\nframe-2\n\
            #EXT-X-ENDLIST\n";
        assert_eq!(text, expected);
    }
}
