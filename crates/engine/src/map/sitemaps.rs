//! Fetches sitemaps and feeds: indexes followed breadth first, each file once, gzip undone, everything
//! bounded.

use flate2::write::GzDecoder;
use futures_util::stream::{FuturesOrdered, StreamExt};
use net::{
    AtLimit, BodySink, Credentials, Deadline, FetchError, Fetcher, Limits, Purpose, Request, ResponseHead,
};
use sites::sitemap::{EntryKind, Sitemap, SitemapEntry};
use std::collections::{HashSet, VecDeque};
use std::io::Write;
use std::ops::ControlFlow;
use url::Url;

/// Files read for one site.
const MAX_FILES: usize = 500;
/// Files read at once.
const MAX_CONCURRENT_FILES: usize = 8;
/// Bytes of one file, undone.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What became of the sitemaps of a site.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SitemapTally {
    /// Files that had entries.
    pub useful: usize,
    /// Files that the site names and that could not be fetched.
    pub failed: usize,
    /// There were more than are read.
    pub cut: bool,
}

/// Where a list of pages may be.
#[derive(Debug, Clone)]
pub struct SitemapCandidate {
    pub url: Url,
    /// The site named it; otherwise it is a guess, and no failure when it is not there.
    pub named: bool,
}

/// Reads `first` and what they lead to; `found` gets each page as it is met and says whether more are wanted.
pub async fn read_sitemaps(
    fetcher: &Fetcher,
    ask: &(dyn Fn(&Url) -> Result<Request, FetchError> + Sync),
    first: Vec<SitemapCandidate>,
    deadline: Deadline,
    mut found: impl FnMut(SitemapEntry) -> bool,
) -> SitemapTally {
    let mut tally = SitemapTally::default();
    let mut seen: HashSet<Url> = HashSet::new();
    let mut waiting: VecDeque<SitemapCandidate> = first.into();
    // In the order in which they were named, so that the same lists always give the same pages in the same
    // order.
    let mut running = FuturesOrdered::new();
    loop {
        while running.len() < MAX_CONCURRENT_FILES {
            let Some(next) = waiting.pop_front() else { break };
            if seen.len() >= MAX_FILES {
                tally.cut = true;
                waiting.clear();
            } else if seen.insert(next.url.clone()) {
                running
                    .push_back(async move { (fetch(fetcher, ask, &next.url, deadline).await, next.named) });
            }
        }
        let Some((file, named)) = running.next().await else { return tally };
        match file {
            Ok(entries) if !entries.is_empty() => {
                tally.useful += 1;
                for entry in entries {
                    match entry.kind {
                        EntryKind::Sitemap | EntryKind::Feed => {
                            waiting.push_back(SitemapCandidate { url: entry.url, named: true });
                        }
                        EntryKind::Page => {
                            if !found(entry) {
                                return tally;
                            }
                        }
                    }
                }
            }
            Ok(_) => {}
            Err(_) => tally.failed += usize::from(named),
        }
    }
}

/// Asks for a file as the fetcher would for a page, but for its size. Lists on other hosts than `credentials`
/// are for get none of them.
pub fn request(url: &Url, credentials: Credentials) -> Result<Request, FetchError> {
    let limits = Limits {
        at_limit: AtLimit::Truncate,
        wire_bytes: MAX_FILE_BYTES,
        body_bytes: MAX_FILE_BYTES,
        ..Limits::default()
    };
    Ok(Request::get(Purpose::Scrape, url.as_str(), credentials)?.limits(limits))
}

async fn fetch(
    fetcher: &Fetcher,
    ask: &(dyn Fn(&Url) -> Result<Request, FetchError> + Sync),
    url: &Url,
    deadline: Deadline,
) -> Result<Vec<SitemapEntry>, FetchError> {
    let mut reading = SitemapReader { sitemap: None, gzip: None, entries: Vec::new(), started: false };
    fetcher.fetch_into(ask(url)?, deadline, &mut reading).await?;
    Ok(reading.finish())
}

/// A sitemap on its way in.
struct SitemapReader {
    sitemap: Option<Sitemap>,
    /// Some servers send `sitemap.xml.gz` as it is, without saying that it is compressed.
    gzip: Option<GzDecoder<Decompressor>>,
    entries: Vec<SitemapEntry>,
    started: bool,
}

/// Bytes out of gzip, up to a limit: past it writing fails and decompression ends.
#[derive(Default)]
struct Decompressor {
    bytes: Vec<u8>,
    total: u64,
}

impl Write for Decompressor {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.total += bytes.len() as u64;
        if self.total > MAX_FILE_BYTES {
            return Err(std::io::Error::other("larger than a sitemap may be"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl BodySink for SitemapReader {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        if !head.status.is_success() {
            return ControlFlow::Break(());
        }
        self.sitemap = Some(Sitemap::new(head.url.clone(), sites::sitemap::STANDARD_ENTRIES * 2));
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if !self.started {
            self.started = true;
            if bytes.starts_with(&[0x1f, 0x8b]) {
                self.gzip = Some(GzDecoder::new(Decompressor::default()));
            }
        }
        let Some(sitemap) = &mut self.sitemap else { return ControlFlow::Break(()) };
        match &mut self.gzip {
            None => self.entries.extend(sitemap.feed(bytes)),
            Some(gzip) => {
                let good = gzip.write_all(bytes).is_ok();
                self.entries.extend(sitemap.feed(&std::mem::take(&mut gzip.get_mut().bytes)));
                if !good {
                    return ControlFlow::Break(());
                }
            }
        }
        if sitemap.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl SitemapReader {
    fn finish(mut self) -> Vec<SitemapEntry> {
        let Some(mut sitemap) = self.sitemap.take() else { return Vec::new() };
        if let Some(gzip) = &mut self.gzip {
            // A file that ends early still gave what it had.
            let _ = gzip.try_finish();
            self.entries.extend(sitemap.feed(&std::mem::take(&mut gzip.get_mut().bytes)));
        }
        let (rest, _) = sitemap.finish();
        self.entries.extend(rest);
        self.entries
    }
}
