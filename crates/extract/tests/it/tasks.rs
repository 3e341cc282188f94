//! Extraction tasks on sites of our own: how many fields are right when the pages that state them are at
//! hand.
//!
//! Sets called held out were written before the rules ran on them, and no rule was changed for what they
//! showed.

use content::{ContentScope, Limits, Page, PageSource};
use extract::{Filled, PageView, Schema, fill};
use serde_json::Value;
use testkit::task_sites::{self, HOST, Score, SourcedValue, Task, TaskSet};

struct ReadPage {
    url: String,
    page: Page,
    markdown: String,
}

fn read_page(path: &str) -> ReadPage {
    let url = format!("{HOST}{path}");
    let html = task_sites::page(path).unwrap();
    let parsed = url::Url::parse(&url).unwrap();
    let page = Page::parse(
        &PageSource {
            bytes: html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            url: Some(&parsed),
            status: Some(200),
        },
        &Limits::default(),
    );
    let selection = page.select(&ContentScope::default()).unwrap();
    let markdown = page.markdown(&selection, true);
    ReadPage { url, page, markdown }
}

fn filled(task: &Task) -> Filled {
    let pages: Vec<ReadPage> = task.states.iter().map(|path| read_page(path)).collect();
    let views: Vec<PageView> = pages
        .iter()
        .map(|read| PageView { url: &read.url, page: &read.page, markdown: &read.markdown })
        .collect();
    match &task.schema {
        Some(schema) => fill(&Schema::parse(schema).unwrap(), &task.prompt, &views),
        None => extract::fill_free(&task.prompt, &views),
    }
}

fn score(task: &Task, filled: &Filled) -> Score {
    let given: Vec<SourcedValue> = filled
        .evidence
        .iter()
        .map(|evidence| SourcedValue {
            path: evidence.url.strip_prefix(HOST).unwrap_or(""),
            quote: &evidence.quote,
            value: filled.value.pointer(&evidence.pointer).unwrap_or(&Value::Null),
        })
        .collect();
    task.score(&filled.value, &given)
}

fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

#[test]
fn fields_are_right_and_values_can_be_traced() {
    let mut sums = [
        (TaskSet::Before, Score::default()),
        (TaskSet::Tuned, Score::default()),
        (TaskSet::After, Score::default()),
    ];
    let mut all = Score::default();
    // GANNET_TASK=name shows what was found for one task.
    let shown = std::env::var("GANNET_TASK").unwrap_or_default();
    for task in task_sites::tasks() {
        let filled = filled(task);
        let mut score = score(task, &filled);
        // An answer in passages has no fields to count.
        if task.schema.is_none() {
            score.answered = score.right;
        }
        println!(
            "{:<8?} {:<18} {:>3}/{:<3} given {:>3}, traceable {:>3}",
            task.set, task.name, score.right, score.wanted, score.answered, score.traceable
        );
        if task.name == shown {
            println!("{:#}\n{:#?}\nmissing {:?}", filled.value, filled.evidence, filled.missing);
        }
        for (set, sum) in &mut sums {
            if *set == task.set {
                *sum += score;
            }
        }
        all += score;
    }
    for (set, sum) in &sums {
        println!(
            "{set:?}: {:.1} % of {} fields right, {:.1} % of values right, {:.1} % traceable",
            share(sum.right, sum.wanted),
            sum.wanted,
            share(sum.right, sum.answered),
            share(sum.traceable, sum.given)
        );
    }
    println!(
        "all: {:.1} % of {} fields right, {:.1} % traceable",
        share(all.right, all.wanted),
        all.wanted,
        share(all.traceable, all.given)
    );
    assert!(share(all.right, all.wanted) >= 90.0);
    assert!(share(all.traceable, all.given) >= 98.0);
    let held_out = sums[0].1.right + sums[2].1.right;
    let wanted = sums[0].1.wanted + sums[2].1.wanted;
    assert!(share(held_out, wanted) >= 88.0);
}
