//! The programs in `examples/`, each run as its user would run it, against a server and a site of this test.

use crate::scrape::shared;
use crate::server::{Server, start_plain};
use crate::site::Site;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::{TempDir, pdf};

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

/// A server that may reach loopback, a site there, and a folder.
async fn open() -> (Server, Site, TempDir) {
    let (_, server) = shared(&[]).await;
    (server, Site::start(), TempDir::new())
}

fn run(command: &mut Command, server: &Server) -> Output {
    let key = server.http.key().expect("a key");
    command.env("FIRECRAWL_API_URL", &server.http.base).env("FIRECRAWL_API_KEY", key);
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// What a program printed, which must have the exit code that is expected.
fn printed(output: &Output, code: i32) -> String {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

#[tokio::test]
async fn python_saves_a_site_as_markdown() {
    let (server, site, dir) = open().await;
    let python = std::env::var("GANNET_TEST_PYTHON").expect("run the tests through `make test`");
    let mut command = Command::new(python);
    command.arg(example("python/site_to_markdown.py")).arg(site.url("/article")).arg(dir.join("pages"));
    let text = printed(&run(command.arg("5"), &server), 0);
    let file = text.lines().next().expect("the name of a file");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.starts_with("# How gannets dive") && page.contains("firstword"), "{page}");
}

#[tokio::test]
async fn javascript_prints_prices() {
    let (server, site, _dir) = open().await;
    let folder = std::env::var("GANNET_TEST_NODE_DIR").expect("run the tests through `make test`");
    // Modules are looked up from the folder of the script, so it is run from a copy next to its packages.
    let script = Path::new(&folder).join("product_prices.mjs");
    std::fs::copy(example("javascript/product_prices.mjs"), &script).expect("copy the script");
    let mut command = Command::new(Path::new(&folder).join("node_modules/.bin/node"));
    command.arg(script).args([site.url("/product"), "not-a-scheme://x".to_owned()]);
    let text = printed(&run(&mut command, &server), 1);
    assert!(text.contains("/product Storm jacket: 149.5 EUR"), "{text}");
    // What cannot be scraped is named with the server's error, and the exit code says so.
    assert!(text.lines().any(|line| line.starts_with("not-a-scheme://x ")), "{text}");
}

#[tokio::test]
async fn curl_prints_a_page() {
    let (server, site, _dir) = open().await;
    let mut command = Command::new("sh");
    command.arg(example("curl/scrape.sh")).arg(site.url("/article"));
    let text = printed(&run(&mut command, &server), 0);
    assert!(text.contains("\"success\":true") && text.contains("firstword"), "{text}");
    // An error of the server is an exit code that is not 0, with the response printed.
    let mut command = Command::new("sh");
    let text = printed(&run(command.arg(example("curl/scrape.sh")).arg("not-a-scheme://x"), &server), 22);
    assert!(text.contains("\"success\":false"), "{text}");
}

#[tokio::test]
async fn rust_finds_broken_links() {
    let (server, site, _dir) = open().await;
    let program = Path::new(env!("CARGO_BIN_EXE_gannet")).with_file_name("examples").join("broken_links");
    assert!(program.exists(), "build it first: cargo build -p gannet --example broken_links");
    let text = printed(&run(Command::new(program).arg(site.url("/article")), &server), 1);
    assert!(text.contains(&format!("404 {}", site.url("/puffins"))), "{text}");
    assert!(text.contains("links are broken"), "{text}");
}

/// A server and a folder with a PDF of two pages and a file that only says that it is one.
async fn open_with_files() -> (Server, TempDir) {
    let dir = TempDir::new();
    std::fs::write(dir.join("birds.pdf"), pdf(&["Gannets dive for fish.", "They nest on cliffs."])).unwrap();
    std::fs::write(dir.join("broken.pdf"), "%PDF-1.4\nnothing of a PDF follows").unwrap();
    let (_, server) = start_plain().await;
    (server, dir)
}

#[tokio::test]
async fn python_saves_files_as_markdown() {
    let (server, dir) = open_with_files().await;
    let python = std::env::var("GANNET_TEST_PYTHON").expect("run the tests through `make test`");
    let mut command = Command::new(python);
    command.arg(example("python/files_to_markdown.py")).arg(dir.join("out"));
    command.args([dir.join("birds.pdf"), dir.join("broken.pdf")]);
    let text = printed(&run(&mut command, &server), 1);
    assert!(text.contains("broken.pdf: ") && text.contains("birds.pdf.md"), "{text}");
    let markdown = std::fs::read_to_string(dir.join("out/birds.pdf.md")).unwrap();
    assert_eq!(markdown, "Gannets dive for fish.\n\nThey nest on cliffs.");
}

#[tokio::test]
async fn javascript_finds_words_on_a_page() {
    let (server, dir) = open_with_files().await;
    let folder = std::env::var("GANNET_TEST_NODE_DIR").expect("run the tests through `make test`");
    let script = Path::new(&folder).join("find_in_file.mjs");
    std::fs::copy(example("javascript/find_in_file.mjs"), &script).expect("copy the script");
    let find = |words: &str| {
        let mut command = Command::new(Path::new(&folder).join("node_modules/.bin/node"));
        run(command.arg(&script).arg(dir.join("birds.pdf")).arg(words), &server)
    };
    let text = printed(&find("CLIFFS"), 0);
    assert!(text.starts_with("page 2, text p2.b0 (0.118 "), "{text}");
    assert_eq!(printed(&find("penguins"), 1), "");
}

#[tokio::test]
async fn curl_prints_a_file() {
    let (server, dir) = open_with_files().await;
    let parse = |name: &str| {
        let mut command = Command::new("sh");
        run(command.arg(example("curl/parse.sh")).arg(dir.join(name)), &server)
    };
    let text = printed(&parse("birds.pdf"), 0);
    assert!(text.contains("\"success\":true") && text.contains("They nest on cliffs."), "{text}");
    let text = printed(&parse("broken.pdf"), 22);
    assert!(text.contains("\"success\":false"), "{text}");
}

#[tokio::test]
async fn rust_uploads_a_file_and_has_it_parsed() {
    let (server, dir) = open_with_files().await;
    let program = Path::new(env!("CARGO_BIN_EXE_gannet")).with_file_name("examples").join("parse_upload");
    assert!(program.exists(), "build it first: cargo build -p gannet --example parse_upload");
    let text = printed(&run(Command::new(program).arg(dir.join("birds.pdf")), &server), 0);
    assert_eq!(text, "Gannets dive for fish.\n\nThey nest on cliffs.\n");
}
