//! Sitemaps, sitemap indexes, RSS, Atom and plain lists of URLs.

use sites::sitemap::{Sitemap, SitemapEntry, SitemapSummary};
use url::Url;

const MAX_ENTRIES: usize = 100;

/// Any file ends with at most as many entries as were asked for, each an http(s) URL, and the result does not
/// depend on how the network cuts the file into pieces.
pub fn sitemap(bytes: &[u8]) {
    let at_once = read_sitemap(bytes, bytes.len().max(1));
    let (entries, summary) = &at_once;
    assert!(entries.len() <= MAX_ENTRIES);
    assert_eq!(summary.entries, entries.len());
    assert!(entries.iter().all(|entry| matches!(entry.url.scheme(), "http" | "https")));
    assert_eq!(at_once, read_sitemap(bytes, 1), "the same file byte by byte");
}

fn read_sitemap(bytes: &[u8], piece_bytes: usize) -> (Vec<SitemapEntry>, SitemapSummary) {
    let base = Url::parse("https://ex.org/deep/sitemap.xml").expect("a valid URL");
    let mut sitemap = Sitemap::new(base, MAX_ENTRIES);
    let mut entries: Vec<SitemapEntry> =
        bytes.chunks(piece_bytes).flat_map(|piece| sitemap.feed(piece)).collect();
    let (rest, summary) = sitemap.finish();
    entries.extend(rest);
    (entries, summary)
}
