//! Kinds of files: what the list of formats says is what is read.

use super::{PAGE, expect_page, parse};
use crate::scrape::documents::check_table;
use crate::server::start_plain;
use serde_json::json;
use testkit::{docx, pdf};

#[tokio::test]
async fn the_list_of_formats_agrees_with_what_is_read() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let response = http.get("/v2/parse/formats").await.unwrap();
    assert_eq!(response.header("cache-control"), "private, max-age=3600");
    let formats = response.expect_success()["data"]["formats"].as_array().unwrap().clone();
    let listed = |extension: &str| {
        let has = |format: &&serde_json::Value| {
            format["extensions"].as_array().unwrap().contains(&json!(extension))
        };
        formats.iter().find(has).unwrap_or_else(|| panic!("{extension} is not listed")).clone()
    };
    let notebook = br##"{"cells":[{"cell_type":"markdown","metadata":{},"source":["# Gannets"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"##;
    let mail = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Gannets\r\nDate: Tue, 1 Jul 2025 10:00:00 +0000\r\n\r\nThey dive.\r\n";
    for (name, content) in [
        ("a.html", PAGE.as_bytes()),
        ("a.pdf", &pdf(&["Gannets dive from thirty metres."])),
        ("a.docx", &docx(&["# Gannets", "They dive."])),
        ("a.csv", b"name,depth\nGannets,12\n"),
        ("a.rtf", br"{\rtf1\ansi Gannets dive.\par}"),
        ("a.txt", b"Gannets dive from thirty metres."),
        ("a.md", b"# Gannets\n\nThey dive."),
        ("a.json", br#"{"bird":"Gannets"}"#),
        ("a.xml", b"<?xml version=\"1.0\"?><birds><bird>Gannets</bird></birds>"),
        ("a.ipynb", notebook),
        ("a.eml", mail),
    ] {
        let extension = name.split('.').next_back().unwrap();
        let format = listed(extension);
        assert_eq!((&format["kind"], &format["available"]), (&json!("document"), &json!(true)), "{format}");
        let response = parse(http, name, content, &json!({})).await;
        let document = &response.expect_success()["data"];
        assert!(document["markdown"].as_str().unwrap().contains("Gannets"), "{name}: {document}");
        assert_eq!(
            (&document["metadata"]["sourceFile"], &document["metadata"]["creditsUsed"]),
            (&json!(name), &json!(1))
        );
    }
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde";
    assert_eq!((&listed("png")["kind"], &listed("png")["available"]), (&json!("image"), &json!(false)));
    for (name, content) in [
        ("a.png", &png[..]),
        ("a.exe", &b"MZ\x90\0\x03\0\0\0\xff\xff\0\0".repeat(20)),
        ("a.zip", b"PK\x03\x04 nothing of an office file"),
    ] {
        let response = parse(http, name, content, &json!({})).await;
        assert_eq!(response.status / 100, 4, "{name}: {}", response.text);
        let code = response.json["code"].as_str().unwrap();
        assert!(
            ["UNSUPPORTED_FILE_TYPE", "PARSE_UNREADABLE_FILE"].contains(&code),
            "{name}: {}",
            response.text
        );
    }
    let wrong = http.post("/v2/parse/formats", &json!({})).await.unwrap();
    wrong.expect_error(405, "Method Not Allowed");
    assert_eq!(wrong.json["code"], "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn files_that_cannot_be_read_say_why_and_cost_nothing() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let whole = pdf(&["Gannets dive."]);
    for (name, content, text) in [
        ("empty.pdf", &b""[..], "empty"),
        ("spaces.txt", b"   \n  ", "empty"),
        ("broken.pdf", b"%PDF-1.7\nnothing else", "Could not read the file"),
        ("no-pages.pdf", &pdf(&[]), "no readable pages"),
    ] {
        let response = parse(http, name, content, &json!({})).await;
        assert_eq!(
            (response.status, &response.json["code"]),
            (422, &json!("PARSE_UNREADABLE_FILE")),
            "{name}: {}",
            response.text
        );
        assert!(response.json["error"].as_str().unwrap().contains(text), "{name}: {}", response.text);
    }
    let usage = http.get("/v2/team/credit-usage/historical").await.unwrap();
    let spent = |usage: &serde_json::Value| -> u64 {
        usage["periods"].as_array().unwrap().iter().map(|one| one["creditsUsed"].as_u64().unwrap()).sum()
    };
    assert_eq!(spent(usage.expect_success()), 0, "{}", usage.text);
    // A page of a PDF is a credit each, and what was read says so.
    let three = pdf(&["One", "Two", "Three"]);
    let response =
        parse(http, "three.pdf", &three, &json!({ "parsers": [{ "type": "pdf", "maxPages": 2 }] })).await;
    let metadata = &response.expect_success()["data"]["metadata"];
    assert_eq!(
        (&metadata["numPages"], &metadata["totalPages"], &metadata["creditsUsed"]),
        (&json!(2), &json!(3), &json!(2))
    );
    // A file that was cut is read as far as it goes, or refused; never a server error.
    for end in [whole.len() / 4, whole.len() / 2, whole.len() - 30] {
        let response = parse(http, "cut.pdf", &whole[..end], &json!({})).await;
        assert!([200, 422].contains(&response.status), "{end}: {}", response.text);
    }
    let document = expect_page(http).await;
    let stored = http
        .get(&format!("/v2/scrape/{}", document["metadata"]["scrapeId"].as_str().unwrap()))
        .await
        .unwrap();
    assert_eq!(stored.expect_success()["data"], document, "the result can be fetched again");
}

#[test]
fn docs_parse_md_has_the_tables_of_the_code() {
    check_table("parse.md", "fields", &wire::parse::table());
    check_table("parse.md", "formats", &engine::parse::formats_table());
}
