use super::documents::MAX_PAGE_BYTES;
use super::ledger::failure;
use super::*;
use crate::crawl::outcome::EntryError;
use store::crawls::CrawlDocument;
use store::crawls::EntryCounts;
use stored_data::compression::pack;

fn crawl(state: CrawlState, counts: EntryCounts) -> Crawl {
    Crawl {
        id: Uuid::nil(),
        team_id: Uuid::nil(),
        key_id: None,
        kind: CrawlKind::Crawl,
        state,
        request: String::new(),
        limit: Some(10),
        counts,
        bytes: 0,
        credits: 3,
        error: Some("why".to_owned()),
        version: 1,
        private: false,
        created_at: 1_000,
        finished_at: (state != CrawlState::Active).then_some(3_500),
        expires_at: None,
        deadline_at: 9_000,
        now: 2_000,
    }
}

const COUNTS: EntryCounts = EntryCounts {
    discovered: 21,
    queued: 1,
    running: 2,
    fetched: 3,
    completed: 4,
    failed: 5,
    skipped: 6,
    cancelled: 0,
    reading_lists: 1,
};

#[test]
fn numbers_add_up() {
    let live = head(&crawl(CrawlState::Active, COUNTS));
    assert_eq!(live.completed + live.failed + live.skipped + live.queued, live.discovered);
    assert_eq!((live.total, live.status, live.success), (15, "scraping", true));
    assert!((live.duration - 1.0).abs() < 1e-9, "{}", live.duration);
    assert_eq!((live.error, live.completed_at), (None, None));
    assert!(live.expires_at.starts_with("1970-01-02"), "{}", live.expires_at);
    let cancelled = EntryCounts { queued: 0, running: 0, fetched: 0, cancelled: 6, ..COUNTS };
    let ended = head(&crawl(CrawlState::Cancelled, cancelled));
    assert_eq!(ended.completed + ended.failed + ended.skipped + ended.cancelled, ended.discovered);
    assert!((ended.duration - 2.5).abs() < 1e-9, "{}", ended.duration);
}

#[test]
fn a_failure_keeps_the_documents_it_had() {
    let late = head(&crawl(CrawlState::Failed, COUNTS));
    assert_eq!((late.success, late.status, late.error.as_deref()), (true, "failed", Some("why")));
    let early = head(&crawl(CrawlState::Failed, EntryCounts { completed: 0, ..COUNTS }));
    assert!(!early.success);
}

#[test]
fn pages_are_numbers_in_range() {
    let window = |skip: &str, limit: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Window::from_query(&PageQuery { skip: text(skip), limit: text(limit) })
    };
    assert_eq!(window("", "").unwrap(), Window::default());
    assert_eq!(window("7", "1000").unwrap(), Window { skip: 7, limit: Some(1000) });
    for (skip, limit) in
        [("-1", ""), ("x", ""), ("1.5", ""), ("", "0"), ("", "1001"), ("99999999999999999", "")]
    {
        let error = window(skip, limit).unwrap_err();
        assert!(error.text().starts_with("Invalid pagination: "), "{error}");
    }
}

#[test]
fn there_is_a_next_page_only_when_there_is_something_on_it() {
    let crawl = crawl(CrawlState::Active, COUNTS);
    let next = |skip: u64, last: u64, limit: Option<u64>| {
        Window { skip, limit }.next(&crawl, &Documents { json: Vec::new(), last }, "http://here")
    };
    let id = Uuid::nil();
    assert_eq!(next(0, 2, Some(2)).unwrap(), format!("http://here/v2/crawl/{id}?skip=2&limit=2"));
    assert_eq!(next(0, 3, None).unwrap(), format!("http://here/v2/crawl/{id}?skip=3"));
    assert_eq!(next(0, 4, None), None, "all that there are by now");
    assert_eq!(next(2, 2, None), None, "an empty page leads nowhere");
}

#[test]
fn a_page_ends_with_the_document_that_fills_it() {
    let document = |number: u64, bytes: usize| CrawlDocument {
        number,
        seq: number,
        url: String::new(),
        body: pack(format!("\"{}\"", "x".repeat(bytes)).as_bytes()).unwrap(),
    };
    let kept = [document(1, 10), document(2, MAX_PAGE_BYTES), document(3, 10)];
    let page = Documents::default().fill(&kept).unwrap();
    assert_eq!(page.last, 2);
    assert!(page.json.starts_with(b"\"xxxxxxxxxx\",\"xx"));
}

#[test]
fn failures_are_told_with_their_code() {
    let stored =
        serde_json::to_string(&EntryError { code: "SCRAPE_TIMEOUT".into(), error: "late".into() }).unwrap();
    assert_eq!(failure(Some(&stored)), (Some("SCRAPE_TIMEOUT".to_owned()), "late".to_owned()));
    assert_eq!(failure(Some("lost")), (None, "lost".to_owned()));
    assert!(!failure(None).1.is_empty());
}
