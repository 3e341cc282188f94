//! Timelines of real pages, such as those of terms of service that people record: `changed` of a row says whether they
//! recorded the page anew since the row before. A label may stand for something that nobody reads, such as the target
//! of a link: the score is printed by all labels, and without the changes that leave every visible word of the page as
//! it was.

use super::Printing;
use super::classes::visible_words;
use super::score::Score;
use super::watched::{Reading, Watched, parse_page};
use anyhow::Result;
use gannet_bench::pages::rows;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Rows of JSON, packed by zstd or gzip or not.
    pages: PathBuf,
    #[command(flatten)]
    printing: Printing,
}

#[derive(Debug, Deserialize)]
struct Row {
    page: String,
    url: String,
    step: usize,
    changed: bool,
    html: String,
}

/// A page whose last state was read.
struct Timeline {
    watched: Watched,
    words: String,
    score: Score,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let printing = &arguments.printing;
    let mut timelines: BTreeMap<String, Timeline> = BTreeMap::new();
    let (mut by_labels, mut by_words, mut unseen) = (Score::default(), Score::default(), Score::default());
    for row in rows::<Row>(&arguments.pages)? {
        let row = row?;
        let page = parse_page(row.html.as_bytes(), &row.url);
        let reading = Reading::from_page(&page, printing.text_only)?;
        let words = visible_words(page.dom());
        let Some(timeline) = timelines.get_mut(&row.page) else {
            let watched = Watched::begin(reading)?;
            timelines.insert(row.page, Timeline { watched, words, score: Score::default() });
            continue;
        };
        let checked = timeline.watched.check(reading, row.changed);
        let is_unseen = row.changed && words == timeline.words;
        let title =
            format!("{} step {}{}", row.page, row.step, if is_unseen { ", no word differs" } else { "" });
        checked.print(&title, printing);
        by_labels.add(checked.outcome, row.changed);
        timeline.score.add(checked.outcome, row.changed);
        let score = if is_unseen { &mut unseen } else { &mut by_words };
        score.add(checked.outcome, row.changed);
        timeline.words = words;
    }
    for (name, timeline) in &timelines {
        println!("{:40} {}", name.chars().take(40).collect::<String>(), timeline.score);
    }
    println!("{:40} {by_labels}", "by all labels");
    println!("{:40} {unseen}", "changes that leave all words as they were");
    println!("{:40} {by_words}", "without those");
    Ok(())
}
