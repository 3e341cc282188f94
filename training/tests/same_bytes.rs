//! The promise of `training/README.md`: the same pages give the same model file, on any number of threads.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Enough sites for every score table to learn something: a word counts from twelve sites on.
const SITES: usize = 20;

const TOPICS: [&str; 5] = [
    "the birds dive from thirty metres into the sea",
    "a good lens gathers light, and the rest is patience",
    "bread wants flour, water, salt and a warm place for one night",
    "the pump moves nine litres a minute at a pressure of two bar",
    "old maps show the river where the road is now",
];

/// Annotated pages that differ in length, markup, kind and chrome, as rows of the training file.
fn pages() -> String {
    let mut rows = String::new();
    for site in 0..SITES {
        for page in 0..2 {
            let number = 2 * site + page;
            let said: Vec<String> = (0..3 + number % 5)
                .map(|at| {
                    format!(
                        "In part {at} of {number}, {}, as everybody knows.",
                        TOPICS[(site + at) % TOPICS.len()]
                    )
                })
                .collect();
            let text = said.iter().fold(String::new(), |all, line| all + &format!("<p>{line}</p>"));
            let body = match number % 3 {
                0 => {
                    format!("<main><article class='post-body'><h1>Story {number}</h1>{text}</article></main>")
                }
                1 => format!(
                    "<div id=content class='product-info'><h1>Thing {number}</h1>{text}<p>$ {number}.00</p></div>"
                ),
                _ => format!("<table><tr><td>{text}<tr><td>Span<td>{number} m</table>"),
            };
            let html = format!(
                "<title>Story {number}</title><nav class='menu main-menu'><a href=/>Home</a> <a href=/{site}>News</a></nav>{body}\
                 <aside class=related><h2>Read more</h2><a href=/1>Other story {site}</a></aside>\
                 <footer class=site-footer><p>All rights reserved, site {site}.</p></footer>"
            );
            let kind = ["article", "product", "listing"][number % 3];
            let row = serde_json::json!({
                "id": number.to_string(), "url": format!("https://site{site}.example/{page}"), "type": kind,
                "gold": said.join("\n"), "html": html,
            });
            writeln!(rows, "{row}").unwrap();
        }
    }
    rows
}

fn train(pages: &Path, threads: &str) -> Vec<u8> {
    let model = pages.with_extension(format!("{threads}.bin"));
    let outcome = Command::new(env!("CARGO_BIN_EXE_gannet-training"))
        .args(["model", &model.to_string_lossy(), &pages.to_string_lossy(), "--quick"])
        .env("TRAINING_THREADS", threads)
        .output()
        .unwrap();
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    fs::read(model).unwrap()
}

#[test]
fn a_model_is_the_same_bytes_on_any_number_of_threads() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages.jsonl");
    fs::write(&file, pages()).unwrap();
    let model = train(&file, "1");
    for threads in ["2", "3", "7"] {
        assert!(model == train(&file, threads), "{threads} threads made another model");
    }

    // The file is a model, and what it was made from shows in it: one page's text marked otherwise makes another.
    let parts = content::select::model::ModelParts::parse(&model).unwrap();
    assert!(!parts.words.is_empty() && !parts.phrases.is_empty() && !parts.classes.is_empty());
    assert!(
        parts
            .forests
            .iter()
            .all(|forest| forest.trees.iter().any(|tree| tree.leaves.iter().any(|leaf| *leaf != 0.0)))
    );
    let other = file.with_file_name("other.jsonl");
    fs::write(&other, pages().replacen("\"gold\":\"In part 0 of 0,", "\"gold\":\"Elsewhere:", 1)).unwrap();
    assert!(model != train(&other, "2"), "the model does not depend on its pages");
}
