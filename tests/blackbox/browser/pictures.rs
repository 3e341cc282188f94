//! Screenshots and PDFs, by their bytes.

use super::png_size;
use crate::scrape::{ScrapeFixture, assert_contains};
use serde_json::json;

/// Width and height of a JPEG: those of its first frame.
fn jpeg_size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(&[0xff, 0xd8]), "not a JPEG");
    let mut at = 2;
    loop {
        let (marker, length) =
            (bytes[at + 1], usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]])));
        if (0xc0..=0xc2).contains(&marker) {
            let number = |at: usize| u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            return (number(at + 7), number(at + 5));
        }
        at += 2 + length;
    }
}

#[tokio::test]
async fn screenshots_have_the_requested_size() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/form", json!({ "formats": ["markdown", "screenshot"] })).await;
    assert_contains(&page["markdown"], &["Ferry booking"]);
    let (width, height) = png_size(&fixture.download(&page["screenshot"]).await.bytes);
    assert!(width >= 1024 && (600..2000).contains(&height), "a window of a desktop: {width} x {height}");

    let small = json!([{ "type": "screenshot", "viewport": { "width": 640, "height": 480 } }]);
    let page = fixture.scrape_document("/form", json!({ "formats": small })).await;
    assert_eq!(png_size(&fixture.download(&page["screenshot"]).await.bytes), (640, 480));

    let full =
        json!([{ "type": "screenshot", "fullPage": true, "viewport": { "width": 640, "height": 480 } }]);
    let page = fixture.scrape_document("/form", json!({ "formats": full })).await;
    let (width, height) = png_size(&fixture.download(&page["screenshot"]).await.bytes);
    assert!(width == 640 && height > 3000, "{width} x {height}");
    let page = fixture.scrape_document("/form", json!({ "formats": ["screenshot@fullPage"] })).await;
    assert!(png_size(&fixture.download(&page["screenshot"]).await.bytes).1 > 3000);

    let jpeg = json!([{ "type": "screenshot", "quality": 40, "viewport": { "width": 640, "height": 480 } }]);
    let page = fixture.scrape_document("/form", json!({ "formats": jpeg })).await;
    let file = fixture.download(&page["screenshot"]).await;
    assert_eq!((file.mime.as_str(), jpeg_size(&file.bytes)), ("image/jpeg", (640, 480)));
}

#[tokio::test]
async fn screenshots_and_pdfs_of_actions_come_in_order() {
    let fixture = ScrapeFixture::open().await;
    let actions = json!([
        { "type": "screenshot", "viewport": { "width": 300, "height": 200 } },
        { "type": "pdf", "format": "A5", "landscape": true },
        { "type": "screenshot", "fullPage": true, "quality": 50 },
        { "type": "pdf" },
    ]);
    let page = fixture.scrape_document("/form", json!({ "actions": actions })).await;
    let results = &page["actions"];
    assert_eq!(results["screenshots"].as_array().unwrap().len(), 2, "{results}");
    let first = fixture.download(&results["screenshots"][0]).await;
    assert_eq!(png_size(&first.bytes), (300, 200));
    let second = fixture.download(&results["screenshots"][1]).await;
    assert!(jpeg_size(&second.bytes).1 > 3000);
    for (number, (width, height)) in [(0, (595, 420)), (1, (612, 792))] {
        let pdf = fixture.download(&results["pdfs"][number]).await;
        assert_eq!((pdf.status, pdf.mime.as_str()), (200, "application/pdf"));
        assert!(pdf.bytes.starts_with(b"%PDF-"));
        let text = String::from_utf8_lossy(&pdf.bytes);
        let paper = text.split("/MediaBox").nth(1).expect("a page size").trim_start();
        let numbers: Vec<f64> =
            paper.trim_start_matches('[').split([' ', ']']).filter_map(|n| n.parse().ok()).take(4).collect();
        let near = |left: f64, right: i32| (left - f64::from(right)).abs() < 2.0;
        assert!(near(numbers[2], width) && near(numbers[3], height), "{numbers:?}");
    }
}
