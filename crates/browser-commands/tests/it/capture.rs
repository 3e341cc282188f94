//! Screenshots, PDFs, downloads.

use crate::fixture::Fixture;
use gannet_browser_commands::{Commander, CommanderOptions};

fn picture_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_and_pdfs_are_written_to_the_folder() {
    let fixture = Fixture::at("/actions.html").await;
    let said = fixture.ok("screenshot shot.png").await;
    assert_eq!(said, format!("✓ Screenshot saved to {}", fixture.folder().join("shot.png").display()));
    let read = |name: &str| std::fs::read(fixture.folder().join(name)).unwrap();
    let (width, height) = picture_size(&read("shot.png"));
    fixture.ok("screenshot --full full.png").await;
    let (full_width, full_height) = picture_size(&read("full.png"));
    assert!(full_width == width && full_height > height && full_height > 3000);
    fixture.ok("screenshot #box part.png").await;
    assert_eq!(picture_size(&read("part.png")), (80, 40));
    fixture.ok("screenshot a.jpeg --screenshot-format jpeg").await;
    assert_eq!(&read("a.jpeg")[..2], b"\xff\xd8");
    fixture.ok("pdf page.pdf").await;
    assert_eq!(&read("page.pdf")[..5], b"%PDF-");
    assert!(fixture.json("screenshot").await["path"].as_str().unwrap().contains("screenshot-"));
    assert!(fixture.ok("screenshot --base64").await.starts_with("iVBOR"));
    for path in ["/etc/x.png", "../x.png", "missing/x.png"] {
        fixture.err(&format!("screenshot {path}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_land_in_the_folder() {
    let fixture = Fixture::at("/about.html").await;
    fixture.ok("eval 'document.body.insertAdjacentHTML(\"beforeend\", \"<a id=get href=/report.csv>Report</a>\")'").await;
    let data = fixture.json("download #get data.csv").await;
    assert_eq!(data["suggestedFilename"], "report.csv");
    assert_eq!(std::fs::read_to_string(fixture.folder().join("data.csv")).unwrap(), "a,b\n1,2\n");
    fixture.err("download #get /tmp/elsewhere.csv").await;
    assert!(fixture.err("download h1 x.csv --timeout 2000").await.contains("started no download"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_nothing_is_written() {
    let fixture = Fixture::at("/form.html").await;
    let commander = Commander::new(fixture.browser.clone(), CommanderOptions::default());
    assert!(commander.run_line("screenshot").await.stdout.starts_with("iVBOR"));
    for line in ["upload #file /etc/hostname", "download h1 /tmp/x"] {
        let reply = commander.run_line(line).await;
        assert!(reply.stderr.contains("has no folder"), "{line}: {reply:?}");
    }
}
