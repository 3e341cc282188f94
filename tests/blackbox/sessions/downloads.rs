//! Downloads of sessions: in code by Playwright's own calls, for clients elsewhere over HTTP, and nowhere but in the session.

use super::code::{execute, open};
use super::{begin, end, run_in_session, run_with_links};
use crate::clients::node;
use crate::scrape::ScrapeFixture;
use serde_json::json;

const PAGE: &str = "<a id=get download=birds.txt href=data:text/plain,gannets>Get</a>";

#[tokio::test]
async fn code_saves_downloads_in_its_own_folder() {
    let fixture = open().await;
    let session = begin(&fixture, json!({})).await;
    let url = fixture.site.url("/article");
    let code = format!(
        "await page.goto('{url}'); await page.setContent('{PAGE}'); const fs = require('fs');\
         const [download] = await Promise.all([page.waitForEvent('download'), page.click('#get')]);\
         await download.saveAs('saved/birds.txt'); let streamed = '';\
         for await (const part of await download.createReadStream()) streamed += part;\
         JSON.stringify([download.suggestedFilename(), fs.readFileSync('saved/birds.txt', 'utf8'),\
             fs.readFileSync(await download.path(), 'utf8'), streamed, await download.failure()])"
    );
    let node = execute(&fixture, &session, "node", &code).await;
    assert_eq!(node["result"], r#"["birds.txt","gannets","gannets","gannets",null]"#, "{node}");
    let code = format!(
        "await page.set_content('{PAGE}')\nasync with page.expect_download() as info:\n    await page.click('#get')\n\
         download = await info.value\nawait download.save_as('from_python.txt')\n\
         open('from_python.txt').read() + ' ' + open(await download.path()).read()"
    );
    let python = execute(&fixture, &session, "python", &code).await;
    assert_eq!(python["result"], "gannets gannets", "{python}");
    let bash = execute(&fixture, &session, "bash", "cat saved/birds.txt from_python.txt").await;
    assert_eq!(bash["stdout"], "gannetsgannets", "{bash}");
    end(&fixture, &session).await;
}

#[tokio::test]
async fn a_client_elsewhere_fetches_downloads_over_http_and_the_server_writes_nothing_for_it() {
    let fixture = ScrapeFixture::open().await;
    let session = begin(&fixture, json!({})).await;
    run_in_session(&fixture, "downloads.mjs", &session).await;
    end(&fixture, &session).await;
}

#[tokio::test]
async fn clients_save_and_upload_through_a_shared_folder_or_over_http() {
    let shared = testkit::TempDir::new();
    let folder = shared.path().display().to_string();
    let fixture = ScrapeFixture::with(|config| config.set("interact_shared_files", &folder)).await;
    for folder in [Some(&folder), None] {
        let session = begin(&fixture, json!({})).await;
        let mut client = node("shared_files.mjs");
        match folder {
            Some(folder) => client.env("TMPDIR", folder).env("SHARED", "1"),
            None => client.env("TMPDIR", "/tmp"),
        };
        run_with_links(&fixture, client, &session).await;
        end(&fixture, &session).await;
    }
}
