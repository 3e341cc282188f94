//! `gannet parse`, as a user of the command line sees it.

use crate::server::{gannet, require_ocr_program, run};
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::{TempDir, pdf};

/// The command in a folder, with nothing of the machine's own settings.
fn parse_in(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = gannet();
    command.arg("parse").args(arguments).current_dir(dir);
    command
}

fn run_in(dir: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run(parse_in(dir, arguments))
}

fn run_with_input(mut command: Command, input: &[u8]) -> (Option<i32>, String, String) {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("start gannet");
    child.stdin.take().expect("a pipe").write_all(input).expect("write the input");
    let output = child.wait_with_output().expect("wait");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A folder with a PDF of two pages, a table, a page of HTML and a file that only says that it is a PDF.
fn folder_of_files() -> TempDir {
    let dir = TempDir::new();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).expect("write a file");
    write("two.pdf", &pdf(&["Gannets dive for fish.", "They nest on cliffs."]));
    write("birds.csv", b"bird,length\ngannet,90\npuffin,28\nrazorbill,40\n");
    write(
        "page.html",
        b"<title>T</title><h1>Seabirds</h1><p>Some text of a page, long enough to be kept.</p>",
    );
    write("broken.pdf", b"%PDF-1.4\nnothing of a PDF follows");
    dir
}

fn file_names(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_printed_in_each_format() {
    let dir = folder_of_files();
    let (code, text, error) = run_in(dir.path(), &["two.pdf"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert_eq!(text, "Gannets dive for fish.\n\nThey nest on cliffs.\n");
    let (_, text, _) = run_in(dir.path(), &["two.pdf", "--page-markers"]);
    assert!(text.contains("fish.\n\n---\n\n<!-- page 2 -->\n\nThey"), "{text}");
    let (_, text, _) = run_in(dir.path(), &["two.pdf", "--format", "text", "--max-pages", "1"]);
    assert_eq!(text, "Gannets dive for fish.\n");
    let (_, text, _) = run_in(dir.path(), &["two.pdf", "--format", "html"]);
    assert!(text.contains("<section data-page=\"2\">\n<p>They nest on cliffs.</p>"), "{text}");
    let (_, text, _) = run_in(dir.path(), &["birds.csv"]);
    assert!(text.contains("| gannet | 90 |"), "{text}");
    let (_, text, _) = run_in(dir.path(), &["two.pdf", "--pages"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["pages"][1]["markdown"], "They nest on cliffs.");
    assert_eq!(
        (&document["metadata"]["numPages"], &document["metadata"]["totalPages"]),
        (&2.into(), &2.into())
    );
    let (_, text, _) = run_in(dir.path(), &["two.pdf", "--format", "blocks"]);
    let blocks: Value = serde_json::from_str(&text).expect("JSON");
    let block = &blocks["blocks"][1]["items"][0];
    assert_eq!((&block["type"], &block["content"]), (&"text".into(), &"They nest on cliffs.".into()));
    let place: Vec<f64> =
        block["bbox"].as_array().unwrap().iter().map(|edge| edge.as_f64().unwrap()).collect();
    assert!((place[0] - 72.0 / 612.0).abs() < 0.01 && place[1] > 0.08 && place[3] < 0.13, "{place:?}");
    // The span of a block is its part of the markdown.
    let markdown: Vec<char> = document["markdown"].as_str().unwrap().chars().collect();
    let span: Vec<usize> = block["markdownSpan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| usize::try_from(edge.as_u64().unwrap()).unwrap())
        .collect();
    assert_eq!(markdown[span[0]..span[1]].iter().collect::<String>(), "They nest on cliffs.");
}

#[test]
fn one_broken_file_does_not_stop_the_others() {
    let dir = folder_of_files();
    let files = ["two.pdf", "broken.pdf", "birds.csv", "page.html", "none.pdf", "."];
    let (code, text, error) = run_in(dir.path(), &files);
    assert_eq!(code, Some(3), "{error}");
    // In the order they were given, each with its name.
    let places: Vec<usize> =
        ["<!-- two.pdf -->", "Gannets dive", "<!-- birds.csv -->", "| puffin | 28 |", "# Seabirds"]
            .iter()
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is missing: {text}")))
            .collect();
    assert!(places.is_sorted(), "{text}");
    for part in [
        "gannet: broken.pdf: The file is damaged",
        "gannet: none.pdf: cannot open it: No such file",
        "gannet: .: it is a folder",
        "two.pdf: 2 pages",
        "3 files parsed, 3 failed",
    ] {
        assert!(error.contains(part), "{part} is missing: {error}");
    }
    let (code, text, error) = run_in(dir.path(), &["broken.pdf"]);
    assert_eq!((code, text.as_str()), (Some(1), ""), "{error}");
    assert!(error.starts_with("gannet: broken.pdf: The file is damaged"), "{error}");
}

#[test]
fn hostile_files_cost_themselves_only() {
    let dir = folder_of_files();
    // Pages in a circle, a picture of a billion pixels, an archive that is cut off.
    let circle = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n\
                  << /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n";
    std::fs::write(dir.join("circle.pdf"), circle).unwrap();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\0\0\x01\0\0\x08\x02\0\0\0".to_vec();
    png.extend([0; 64]);
    std::fs::write(dir.join("huge.png"), png).unwrap();
    std::fs::write(dir.join("cut.docx"), b"PK\x03\x04\x14\0\0\0\x08\0word/document.xml").unwrap();
    let files = ["circle.pdf", "huge.png", "cut.docx", "two.pdf", "--timeout", "20000"];
    let (code, text, error) = run_in(dir.path(), &files);
    assert_eq!(code, Some(3), "{error}");
    assert!(text.contains("Gannets dive for fish."), "{text}");
    for name in ["circle.pdf", "huge.png", "cut.docx"] {
        assert!(error.contains(&format!("gannet: {name}: ")), "{name}: {error}");
    }
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn standard_input_is_read_once() {
    let dir = TempDir::new();
    for arguments in [&[][..], &["-"]] {
        let (code, text, error) = run_with_input(parse_in(dir.path(), arguments), &pdf(&["From a pipe."]));
        assert_eq!((code, text.as_str()), (Some(0), "From a pipe.\n"), "{error}");
    }
    let (code, _, error) = run_with_input(parse_in(dir.path(), &["-", "-"]), b"");
    assert!(code == Some(2) && error.contains("only once"), "{error}");
    let (code, _, error) = run_with_input(parse_in(dir.path(), &["-"]), b"");
    assert!(code == Some(1) && error.contains("standard input: The file is empty"), "{error}");
}

#[test]
fn outputs_have_files_of_their_own_and_inputs_stay() {
    let dir = folder_of_files();
    std::fs::create_dir(dir.join("more")).unwrap();
    std::fs::write(dir.join("more/two.pdf"), pdf(&["Another one."])).unwrap();
    let files = ["two.pdf", "more/two.pdf", "birds.csv", "broken.pdf", "--out", "out/text"];
    let (code, text, error) = run_in(dir.path(), &files);
    assert_eq!((code, text.as_str()), (Some(3), ""), "{error}");
    assert_eq!(file_names(dir.join("out/text")), ["birds.csv.md", "two.pdf-2.md", "two.pdf.md"]);
    let second = std::fs::read_to_string(dir.join("out/text/two.pdf-2.md")).unwrap();
    assert_eq!(second, "Another one.\n");
    // An output never takes the place of an input.
    std::fs::write(dir.join("two.pdf.md"), "# Mine\n\nA text of my own.\n").unwrap();
    let (code, _, error) = run_in(dir.path(), &["two.pdf", "two.pdf.md", "--out", "."]);
    assert_eq!(code, Some(0), "{error}");
    assert!(std::fs::read_to_string(dir.join("two.pdf.md")).unwrap().starts_with("# Mine"));
    assert!(std::fs::read_to_string(dir.join("two.pdf-2.md")).unwrap().starts_with("Gannets dive"));
    assert!(std::fs::read_to_string(dir.join("two.pdf.md.md")).unwrap().contains("A text of my own."));
    let (code, _, error) = run_in(dir.path(), &["two.pdf", "--out", "birds.csv"]);
    assert!(code == Some(1) && error.contains("birds.csv"), "{error}");
}

#[test]
fn lines_of_json_name_their_file_or_its_error() {
    let dir = folder_of_files();
    let (code, text, _) = run_in(dir.path(), &["two.pdf", "broken.pdf", "page.html", "--jsonl"]);
    assert_eq!(code, Some(3));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0]["file"], &rows[0]["metadata"]["totalPages"]), (&"two.pdf".into(), &2.into()));
    assert!(rows[1]["error"].as_str().unwrap().starts_with("The file is damaged"), "{}", rows[1]);
    assert!(rows[2]["markdown"].as_str().unwrap().contains("# Seabirds"), "{}", rows[2]);
}

#[test]
fn rows_of_pages_are_converted() {
    let dir = TempDir::new();
    let row = "{\"id\":7,\"url\":\"https://a.example/x\",\"html\":\"<h1>Title</h1><p><a href=y>Some text</a> of a page.</p>\"}\n";
    std::fs::write(dir.join("rows.jsonl"), row.repeat(20)).unwrap();
    let (code, text, error) = run_in(dir.path(), &["--jsonl", "rows.jsonl"]);
    assert_eq!(code, Some(0), "{error}");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 20);
    assert_eq!((&rows[0]["id"], &rows[0]["verdict"]), (&7.into(), &"content".into()), "{}", rows[0]);
    assert!(rows[0]["markdown"].as_str().unwrap().contains("(https://a.example/y)"), "{}", rows[0]);
    let mut command = gannet();
    command.args(["parse", "--jsonl"]);
    assert_eq!(run_with_input(command, row.as_bytes()).1.lines().count(), 1);
}

#[test]
fn html_is_converted_as_a_page() {
    let dir = TempDir::new();
    std::fs::write(dir.join("page.html"), "<h1>Title</h1><nav>menu</nav><p>Some text of a page.</p>")
        .unwrap();
    let (code, text, _) = run_in(dir.path(), &["page.html", "--url", "https://a.example/"]);
    assert!(code == Some(0) && text.starts_with("# Title\n"), "{text}");
    let (_, text, _) = run_in(dir.path(), &["page.html", "--whole", "--format", "html"]);
    assert!(text.contains("menu"), "{text}");
    let (_, text, _) = run_in(dir.path(), &["page.html", "--format", "json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&document["verdict"], &document["truncated"]), (&"content".into(), &false.into()));
}

#[test]
fn invalid_arguments_are_named() {
    let dir = folder_of_files();
    for (arguments, part) in [
        (&["two.pdf", "--format", "markdown", "--pages"][..], "--page-markers"),
        (&["two.pdf", "--jsonl", "--format", "html"], "--jsonl"),
        (&["two.pdf", "birds.csv", "--overlay", "o.pdf"], "one file"),
        (&["two.pdf", "--overlay", "o.gif"], ".pdf or a .png"),
        (&["two.pdf", "--overlay", "two.pdf"], "overwrite"),
        (&["two.pdf", "--max-pages", "0"], "1..=10000"),
        (&["two.pdf", "--ocr", "--mode", "fast"], "cannot be used with"),
    ] {
        let (code, text, error) = run_in(dir.path(), arguments);
        assert_eq!((code, text.as_str()), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}

#[test]
fn an_overlay_is_a_pdf_with_the_same_pages() {
    require_ocr_program();
    let dir = folder_of_files();
    let (code, text, error) = run_in(dir.path(), &["two.pdf", "--overlay", "drawn.pdf"]);
    assert_eq!((code, text.as_str()), (Some(0), ""), "{error}");
    // It opens and says what the original says. The labels are white on colour, so they are no text of the page.
    let (code, text, error) = run_in(dir.path(), &["drawn.pdf", "--format", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let drawn: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(drawn["metadata"]["totalPages"], 2);
    let markdown = drawn["markdown"].as_str().unwrap();
    assert_eq!(markdown, "Gannets dive for fish.\n\nThey nest on cliffs.");
    let bytes = std::fs::read(dir.join("drawn.pdf")).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes).matches("(0 text) Tj").count(), 2);
    let (code, text, _) = run_in(dir.path(), &["two.pdf", "--overlay", "drawn.pdf", "--format", "text"]);
    assert!(code == Some(0) && text.starts_with("Gannets"), "{text}");
    let (code, _, error) = run_in(dir.path(), &["two.pdf", "--overlay", "page.png", "--page", "2"]);
    assert_eq!(code, Some(0), "{error}");
    let picture = std::fs::read(dir.join("page.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n") && picture.len() > 1000, "{} bytes", picture.len());
    for (arguments, part) in [
        (["two.pdf", "--overlay", "o.png", "--page", "3"], "no page 3"),
        (["birds.csv", "--overlay", "o.png", "--page", "1"], "no places to draw"),
        (["page.html", "--overlay", "o.png", "--page", "1"], "no pages to draw on"),
    ] {
        let (code, _, error) = run_in(dir.path(), &arguments);
        assert!(code == Some(1) && error.contains(part), "{arguments:?}: {error}");
        assert!(!dir.join("o.png").exists());
    }
}

#[test]
fn a_file_cannot_command_the_terminal() {
    let dir = TempDir::new();
    let name = "evil\x1b[2J.txt";
    std::fs::write(
        dir.join(name),
        "A line of text with one \x1b[31mred\u{9b}0m word in it, and some more.\n",
    )
    .unwrap();
    std::fs::write(dir.join("bad\x1b]0;x\x07.pdf"), "%PDF-1.4\n").unwrap();
    for format in ["markdown", "text", "html", "json", "blocks"] {
        let (_, text, error) = run_in(dir.path(), &[name, "bad\x1b]0;x\x07.pdf", "--format", format]);
        assert!(text.contains("red"), "{format}: {text}");
        let is_command = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(is_command) && !error.contains(is_command), "{format}: {text:?} {error:?}");
    }
}

#[test]
fn a_reader_that_leaves_does_not_fail_the_files() {
    let dir = folder_of_files();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = parse_in(dir.path(), &["two.pdf", "birds.csv"]).stdout(writer).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("2 files parsed, 0 failed"), "{error}");
}
