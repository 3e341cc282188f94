//! What stored things count for under a ceiling, and how many must go to stay under it.

use crate::crawls::NewEntry;
use crate::pages::NewPage;
use crate::scrapes::NewScrape;
use crate::search::NewSearchPage;
use crate::snapshots::NewSnapshot;

/// For the columns and index entries of a row, so that many rows with little in them count too.
const ROW: usize = 256;

fn weigh(parts: &[usize]) -> i64 {
    i64::try_from(parts.iter().sum::<usize>() + ROW).unwrap_or(i64::MAX)
}

pub(crate) fn page(page: &NewPage) -> i64 {
    weigh(&[page.body.len(), page.headers.len(), page.url.len(), page.final_url.len()])
}

/// The record alone; its page has a weight of its own.
pub(crate) fn scrape(scrape: &NewScrape) -> i64 {
    let text = scrape.url.len() + scrape.error.as_ref().map_or(0, String::len);
    weigh(&[text, scrape.result.as_ref().map_or(0, Vec::len)])
}

pub(crate) fn snapshot(snapshot: &NewSnapshot) -> i64 {
    weigh(&[snapshot.body.len(), snapshot.url.len(), snapshot.tag.len()])
}

pub(crate) fn search_page(page: &NewSearchPage) -> i64 {
    weigh(&[page.document.len(), page.url.len(), page.hash.len()])
}

/// An address of a crawl or batch.
pub(crate) fn entry(entry: &NewEntry) -> i64 {
    weigh(&[entry.url.len(), entry.host.len()])
}

/// A length as it is counted.
pub(crate) fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// How far a total is over its ceiling.
pub(crate) fn excess(total: i64, ceiling: u64) -> Option<i64> {
    let excess = total.saturating_sub(i64::try_from(ceiling).unwrap_or(i64::MAX));
    (excess > 0).then_some(excess)
}

/// The first of those that come oldest first that together weigh what must go.
pub(crate) fn enough<T>(mut oldest: Vec<T>, mut excess: i64, weight: impl Fn(&T) -> i64) -> Vec<T> {
    let last = oldest.iter().position(|one| {
        excess = excess.saturating_sub(weight(one));
        excess <= 0
    });
    oldest.truncate(last.map_or(oldest.len(), |last| last + 1));
    oldest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_goes_than_must() {
        assert_eq!(excess(10, 10), None);
        assert_eq!(excess(11, 10), Some(1));
        assert_eq!(excess(11, u64::MAX), None);
        let go = |excess: i64| enough(vec![5, 1, 4], excess, |bytes| *bytes);
        assert_eq!(go(1), [5]);
        assert_eq!(go(6), [5, 1]);
        assert_eq!(go(100), [5, 1, 4]);
    }
}
