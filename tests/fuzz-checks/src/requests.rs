//! Request bodies and query strings.

use wire::agent::{AgentListQuery, AgentRequest, TraceQuery};
use wire::batch::BatchRequest;
use wire::crawl::{CrawlRequest, PageQuery};
use wire::extract::ExtractRequest;
use wire::map::MapRequest;
use wire::research::{SearchRequest as PaperSearchRequest, SimilarRequest};
use wire::scrape::ScrapeRequest;
use wire::search::SearchRequest;
use wire::{WireError, read};

/// The longest message of a refused request. A request of any size must not come back as a response of the
/// same size.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// Any body is read or refused with a client error that names at most a few keys.
pub fn request_body(bytes: &[u8]) {
    check(read::body::<ScrapeRequest>(bytes), bytes);
    check(read::body::<BatchRequest>(bytes), bytes);
    check(read::body::<CrawlRequest>(bytes), bytes);
    check(read::body::<MapRequest>(bytes), bytes);
    check(read::body::<SearchRequest>(bytes), bytes);
    check(read::body::<AgentRequest>(bytes), bytes);
    check(read::body::<ExtractRequest>(bytes), bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        check(read::query::<PageQuery>(text), bytes);
        check(read::query::<AgentListQuery>(text), bytes);
        check(read::query::<TraceQuery>(text), bytes);
        check(read::query::<PaperSearchRequest>(text), bytes);
        check(read::query::<SimilarRequest>(text), bytes);
    }
}

fn check<T>(read: Result<T, WireError>, bytes: &[u8]) {
    if let Err(error) = read {
        assert!((400..500).contains(&error.status()), "{}", error.status());
        // A message may quote a value of the request, so it may be as long as the request; it never
        // multiplies it.
        assert!(error.text().len() <= MAX_MESSAGE_BYTES + bytes.len(), "{} bytes", error.text().len());
    }
}
