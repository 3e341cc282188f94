//! Files at addresses: PDFs, office files and pictures, as scrape, crawl, batch and map return them.

use crate::agent;
use crate::crawl::{started_id, wait_for_end};
use crate::scrape::{ScrapeFixture, assert_contains, assert_failure, scrape_as};
use crate::search::{search_as, urls};
use crate::site_server::SiteServer;
use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::{docx, lock_pdf, pdf};

const PDF: &str = "application/pdf";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

fn file(content_type: &'static str, bytes: Vec<u8>) -> axum::routing::MethodRouter {
    get(move || async move { ([(header::CONTENT_TYPE, content_type)], bytes).into_response() })
}

/// Pages of a report, on lines of their own.
fn report() -> Vec<u8> {
    pdf(&["The first page speaks of gannets", "The second page speaks of terns", "The third of auks"])
}

/// A PDF whose page tree leads back to itself.
fn endless_pdf() -> Vec<u8> {
    const KIDS: &[u8] = b"/Kids [";
    let mut bytes = pdf(&["never"]);
    let kid = bytes.windows(KIDS.len()).position(|part| part == KIDS).expect("a page tree") + KIDS.len();
    assert!(bytes[kid] != b'2' && bytes[kid + 1] == b' ', "one digit, and not the tree's own");
    bytes[kid] = b'2';
    bytes
}

/// A PDF that says something else from the third request on.
fn changing_pdf() -> axum::routing::MethodRouter {
    let requests = Arc::new(AtomicUsize::new(0));
    get(move || async move {
        let is_new = requests.fetch_add(1, Ordering::SeqCst) >= 2;
        let words = if is_new { "The north light burns again" } else { "The north light is out" };
        ([(header::CONTENT_TYPE, PDF)], pdf(&[words])).into_response()
    })
}

fn site() -> SiteServer {
    let index = "<title>Birds</title><h1>Reports</h1><p>All of our words are in the files: \
                 <a href=/report.pdf>one</a>, <a href=/letter.docx>two</a>, <a href=/table.csv>three</a>.";
    let routes = Router::new()
        .route("/", get(move || async move { Html(index) }))
        .route("/report.pdf", file(PDF, report()))
        .route("/unnamed", file("application/octet-stream", report()))
        .route("/letter.docx", file(DOCX, docx(&["# Dear reader", "Gannets dive from thirty metres."])))
        .route("/table.csv", file("text/csv", b"bird,metres\ngannet,30\ntern,3\n".to_vec()))
        .route("/picture.png", file("image/png", b"\x89PNG\r\n\x1a\n and so on".to_vec()))
        .route(
            "/locked.pdf",
            file(PDF, lock_pdf(&pdf(&["Petrels nest under the lighthouse"]), "owner", "s3cret-word")),
        )
        .route("/scan.pdf", file(PDF, pdf(&["", ""])))
        .route("/half.pdf", file(PDF, pdf(&["A page with enough words to be read", ""])))
        .route("/damaged.docx", file(DOCX, b"PK\x03\x04 and then nothing".to_vec()))
        .route("/changing.pdf", changing_pdf())
        .route("/endless.pdf", file(PDF, endless_pdf()));
    SiteServer::start(routes)
}

struct FileFixture {
    scrape: ScrapeFixture,
    site: SiteServer,
}

impl FileFixture {
    async fn open() -> Self {
        Self { scrape: ScrapeFixture::open().await, site: site() }
    }

    async fn scrape(&self, path: &str, options: Value) -> crate::http::HttpResponse {
        scrape_as(self.scrape.http(), &self.site.url(path), options).await
    }

    /// Waits until a search finds a file.
    async fn wait_for_search(&self, query: &str, path: &str) {
        let end = Instant::now() + crate::index::MAX_INDEXING_DELAY;
        loop {
            let response = search_as(self.scrape.http(), query, json!({})).await;
            if urls(&response.expect_success()["data"]["web"]).contains(&self.site.url(path).as_str()) {
                return;
            }
            assert!(Instant::now() < end, "{}", response.text);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    #[track_caller]
    fn document(&self, path: &str, options: Value) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let response = self.scrape(path, options).await;
            assert_eq!(response.status, 200, "{caller}: {}", response.text);
            response.json["data"].clone()
        }
    }
}

#[tokio::test]
async fn a_pdf_is_read_and_priced_by_its_pages() {
    let fixture = FileFixture::open().await;
    let formats = json!(["markdown", "html", "rawHtml", "links"]);
    let page = fixture.document("/report.pdf", json!({ "formats": formats })).await;
    assert_contains(&page["markdown"], &["first page speaks of gannets", "third of auks"]);
    assert_contains(&page["html"], &["<p>", "terns"]);
    assert_contains(&page["rawHtml"], &["<!DOCTYPE html>", "data-page=\"2\""]);
    let said = &page["metadata"];
    assert_eq!((&said["numPages"], &said["totalPages"]), (&json!(3), &json!(3)), "{said}");
    assert_eq!((&said["contentType"], &said["creditsUsed"]), (&json!(PDF), &json!(3)), "{said}");
    assert_eq!(fixture.scrape.credits_used().await, 3);
    // The stored bytes are read again, whatever the server calls them.
    let again = fixture.document("/report.pdf", json!({})).await;
    assert_eq!((&again["metadata"]["cacheState"], &again["markdown"]), (&json!("hit"), &page["markdown"]));
    let unnamed = fixture.document("/unnamed", json!({})).await;
    assert_eq!(unnamed["markdown"], page["markdown"]);
    let first = json!({ "parsers": [{ "type": "pdf", "maxPages": 1 }] });
    let first = fixture.document("/report.pdf", first).await;
    assert_eq!(first["markdown"], "The first page speaks of gannets");
    let said = &first["metadata"];
    assert_eq!((&said["numPages"], &said["totalPages"]), (&json!(1), &json!(3)), "{said}");
    assert_eq!(said["creditsUsed"], 1);
    assert_contains(&first["warning"], &["1 of 3 pages"]);
}

#[tokio::test]
async fn blocks_and_pages_say_where_the_words_stand() {
    let fixture = FileFixture::open().await;
    let parser = json!({ "type": "pdf", "pages": true, "blocks": true, "pageMarkers": true });
    let page = fixture.document("/report.pdf", json!({ "parsers": [parser] })).await;
    let markdown = page["markdown"].as_str().unwrap();
    assert!(markdown.contains("\n\n---\n\n<!-- page 2 -->\n\n"), "{markdown}");
    let pages = page["pages"].as_array().unwrap();
    let numbers: Vec<_> = pages.iter().map(|page| page["pageNumber"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(pages[1]["markdown"], "The second page speaks of terns");
    let characters: Vec<char> = markdown.chars().collect();
    let mut spans = 0;
    for page in page["blocks"].as_array().unwrap() {
        assert_eq!((&page["status"], &page["width"]), (&json!("ok"), &json!(612.0)));
        for (order, block) in page["items"].as_array().unwrap().iter().enumerate() {
            assert_eq!(block["id"], format!("p{}.b{order}", page["pageNumber"]));
            assert_eq!((&block["type"], &block["source"]), (&json!("text"), &json!("native_text")));
            assert_eq!(block["readingOrder"], order);
            let place = block["bbox"].as_array().unwrap();
            assert!(place.iter().all(|side| (0.0..=1.0).contains(&side.as_f64().unwrap())), "{block}");
            let at = |end: usize| usize::try_from(block["markdownSpan"][end].as_u64().unwrap()).unwrap();
            let slice: String = characters[at(0)..at(1)].iter().collect();
            assert_eq!(slice, block["content"].as_str().unwrap());
            spans += 1;
        }
    }
    assert!(spans >= 3, "{page}");
    let redacted = json!({ "parsers": [{ "type": "pdf", "blocks": true }], "redactPII": true });
    let redacted = fixture.document("/report.pdf", redacted).await;
    assert!(redacted["blocks"][0]["items"][0]["markdownSpan"].is_null(), "{redacted}");
    assert!(redacted.get("pages").is_none(), "not asked for");
}

#[tokio::test]
async fn office_files_and_tables_are_read() {
    let fixture = FileFixture::open().await;
    let letter = fixture.document("/letter.docx", json!({})).await;
    assert_eq!(letter["markdown"], "# Dear reader\n\nGannets dive from thirty metres.");
    assert_eq!(
        (&letter["metadata"]["contentType"], &letter["metadata"]["creditsUsed"]),
        (&json!(DOCX), &json!(1))
    );
    assert!(letter["metadata"].get("numPages").is_none(), "a Word file has no pages");
    let table = fixture.document("/table.csv", json!({})).await;
    assert_eq!(table["markdown"], "| bird | metres |\n| --- | --- |\n| gannet | 30 |\n| tern | 3 |");
}

#[tokio::test]
async fn files_that_cannot_be_read_say_why_and_cost_nothing() {
    let fixture = FileFixture::open().await;
    let picture = fixture.scrape("/picture.png", json!({})).await;
    assert_failure(&picture, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert_contains(&picture.json["error"], &["OCR", "parsers"]);
    for mode in ["fast", "auto"] {
        let options = json!({ "parsers": [{ "type": "pdf", "mode": mode }] });
        let scan = fixture.scrape("/scan.pdf", options).await;
        let details = assert_failure(&scan, 500, "SCRAPE_PDF_OCR_REQUIRED");
        assert_eq!(details["pages"], json!([1, 2]));
    }
    let damaged = fixture.scrape("/damaged.docx", json!({})).await;
    assert_failure(&damaged, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert_contains(&damaged.json["error"], &["damaged"]);
    assert_eq!(fixture.scrape.credits_used().await, 0);
    let half = fixture.document("/half.pdf", json!({})).await;
    assert_eq!(half["markdown"], "A page with enough words to be read");
    assert_contains(&half["warning"], &["Page 2", "OCR"]);
}

#[tokio::test]
async fn files_come_as_they_are_on_request() {
    use base64::Engine as _;
    let fixture = FileFixture::open().await;
    let decoded = |page: &Value| {
        base64::engine::general_purpose::STANDARD.decode(page["markdown"].as_str().unwrap()).unwrap()
    };
    for parsers in [json!([]), json!(["image"])] {
        let page = fixture.document("/report.pdf", json!({ "parsers": parsers })).await;
        assert_eq!(decoded(&page), report(), "{parsers}");
        assert_eq!(page["metadata"]["creditsUsed"], 1);
    }
    let letter = fixture.document("/letter.docx", json!({ "parsers": [] })).await;
    assert!(decoded(&letter).starts_with(b"PK"));
}

#[tokio::test]
async fn a_hostile_file_costs_its_own_request_only() {
    let fixture = FileFixture::open().await;
    let began = Instant::now();
    let endless = fixture.scrape("/endless.pdf", json!({ "timeout": 5000 })).await;
    assert_failure(&endless, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let next = fixture.document("/report.pdf", json!({})).await;
    assert_contains(&next["markdown"], &["gannets"]);
}

#[tokio::test]
async fn a_crawl_returns_the_files_that_hold_the_content() {
    let fixture = FileFixture::open().await;
    let http = fixture.scrape.http();
    let body = json!({ "url": fixture.site.url("/"), "sitemap": "skip" });
    let id = started_id(&http.post("/v2/crawl", &body).await.unwrap());
    let status = wait_for_end(http, &format!("/v2/crawl/{id}")).await;
    assert_eq!((&status["completed"], &status["failed"]), (&json!(4), &json!(0)), "{status}");
    assert_eq!(status["creditsUsed"], 6, "three pages, and three of the PDF: {status}");
    let documents = status["data"].as_array().unwrap();
    let text: String = documents.iter().filter_map(|page| page["markdown"].as_str()).collect();
    for words in ["speaks of terns", "thirty metres", "| gannet | 30 |"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let map =
        http.post("/v2/map", &json!({ "url": fixture.site.url("/"), "sitemap": "skip" })).await.unwrap();
    assert!(map.expect_success().to_string().contains("/report.pdf"), "{}", map.text);
}

#[tokio::test]
async fn a_plan_that_cannot_pay_for_all_pages_gets_none() {
    let scrape = ScrapeFixture::with(|config| config.tiny_plan("credits = 4")).await;
    let fixture = FileFixture { scrape, site: site() };
    fixture.document("/report.pdf", json!({})).await;
    let poor = fixture.scrape("/unnamed", json!({ "maxAge": 0 })).await;
    poor.expect_error(402, "Payment Required: Insufficient credits");
    assert_eq!(fixture.scrape.credits_used().await, 3);
    let one = json!({ "maxAge": 0, "parsers": [{ "type": "pdf", "maxPages": 1 }] });
    fixture.document("/unnamed", one).await;
    assert_eq!(fixture.scrape.credits_used().await, 4);
}

#[tokio::test]
async fn a_batch_charges_for_the_pages_it_can_pay_for() {
    let scrape = ScrapeFixture::with(|config| config.tiny_plan("credits = 5")).await;
    let fixture = FileFixture { scrape, site: site() };
    let http = fixture.scrape.http();
    let urls: Vec<String> =
        ["/report.pdf", "/unnamed", "/letter.docx"].iter().map(|path| fixture.site.url(path)).collect();
    let id = started_id(&http.post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap());
    let path = format!("/v2/batch/scrape/{id}");
    let status = wait_for_end(http, &path).await;
    // Each of the two PDFs costs three credits.
    assert_eq!((&status["completed"], &status["failed"]), (&json!(2), &json!(1)), "{status}");
    assert_eq!(status["creditsUsed"], 4, "{status}");
    let errors = http.get(&format!("{path}/errors")).await.unwrap();
    assert_contains(&errors.json["errors"][0]["error"], &["Insufficient credits"]);
    assert_eq!(fixture.scrape.credits_used().await, 4);
}

#[tokio::test]
async fn a_browser_downloads_files_and_they_are_read_without_it() {
    let fixture = FileFixture::open().await;
    let waited = fixture.document("/report.pdf", json!({ "waitFor": 10 })).await;
    assert_eq!((&waited["metadata"]["numPages"], &waited["metadata"]["engine"]), (&json!(3), &json!("http")));
    let action = json!({ "actions": [{ "type": "wait", "milliseconds": 1 }] });
    assert_failure(&fixture.scrape("/report.pdf", action).await, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
}

#[tokio::test]
async fn a_password_opens_a_pdf_for_its_own_request_only() {
    let fixture = FileFixture::open().await;
    let with = |password: &str| json!({ "parsers": [{ "type": "pdf", "password": password }] });
    let locked = fixture.scrape("/locked.pdf", json!({})).await;
    assert_failure(&locked, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert_contains(&locked.json["error"], &["protected with a password"]);
    let wrong = fixture.scrape("/locked.pdf", with("other")).await;
    assert_failure(&wrong, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert_contains(&wrong.json["error"], &["password does not open"]);
    let open = fixture.document("/locked.pdf", with("s3cret-word")).await;
    assert_eq!(open["markdown"], "Petrels nest under the lighthouse");
    // Nothing of it answers who does not know the password.
    let again = fixture.scrape("/locked.pdf", json!({})).await;
    assert_failure(&again, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    fixture.document("/report.pdf", json!({})).await;
    fixture.wait_for_search("terns", "/report.pdf").await;
    let found = search_as(fixture.scrape.http(), "petrels lighthouse", json!({})).await;
    assert!(!found.text.contains("locked.pdf"), "{}", found.text);
    // An uploaded file takes the same option.
    let bytes = lock_pdf(&pdf(&["Petrels nest under the lighthouse"]), "owner", "s3cret-word");
    let http = fixture.scrape.http();
    let uploaded = crate::parse::parse(http, "locked.pdf", &bytes, &with("owner")).await;
    assert_eq!(uploaded.expect_success()["data"]["markdown"], "Petrels nest under the lighthouse");
    let refused = crate::parse::parse(http, "locked.pdf", &bytes, &json!({})).await;
    assert_eq!(
        (refused.status, &refused.json["code"]),
        (422, &json!("PARSE_UNREADABLE_FILE")),
        "{}",
        refused.text
    );
    assert!(!fixture.scrape.server.log().contains("s3cret-word"), "a password in the log");
}

#[tokio::test]
async fn agents_read_files_like_pages() {
    let fixture = FileFixture::open().await;
    let http = fixture.scrape.http();
    let schema = json!({ "type": "object", "properties": { "birds": { "type": "array", "items": {
        "type": "object", "properties": { "bird": { "type": "string" }, "metres": { "type": "number" } } } } } });
    let body = json!({ "prompt": "Which birds are in the table, with their metres?",
        "urls": [fixture.site.url("/table.csv")], "strictConstrainToURLs": true, "schema": schema });
    let id = agent::started_id(&http.post("/v2/agent", &body).await.unwrap());
    let run = agent::wait_for_end(http, &id).await;
    let expected = json!([{ "bird": "gannet", "metres": 30 }, { "bird": "tern", "metres": 3 }]);
    assert_eq!(run["data"]["birds"], expected, "{run}");
}

#[tokio::test]
async fn changes_of_a_file_are_reported() {
    let fixture = FileFixture::open().await;
    let format = json!({ "type": "changeTracking", "modes": ["git-diff"] });
    for status in ["new", "same", "changed"] {
        let page = fixture.document("/changing.pdf", json!({ "formats": ["markdown", format] })).await;
        let changes = &page["changeTracking"];
        assert_eq!(changes["changeStatus"], status, "{changes}");
        if status == "changed" {
            assert_contains(
                &changes["diff"]["text"],
                &["-The north light is out", "+The north light burns again"],
            );
        }
    }
}
