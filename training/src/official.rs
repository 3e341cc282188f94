//! The figures that count, over our markdown as the benchmark's scorer reads it: word F1 of marked text, and
//! the share of snippets that appear.

use crate::pages::{Annotated, on_all_threads, open_rows};
use content::select::{self, declared::Declared, model::Model, outline::Outline, survey::Survey};
use content::{Limits, PageSource};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Rows worked on at a time.
const BATCH: usize = 128;

/// What became of one page.
struct PageAnswer {
    id: String,
    kind: String,
    markdown: String,
    widened: bool,
    /// Precision, recall and F1 of the marked text, if the page has any.
    words: Option<[f64; 3]>,
    /// Snippets found and asked about.
    wanted: [usize; 2],
    unwanted: [usize; 2],
}

/// By what the blocks of each page are chosen.
#[derive(Clone, Copy)]
pub enum Judge<'a> {
    /// The probabilities of the blocks of all pages, in order.
    Chances(&'a [Vec<f32>]),
    Model(&'a Model),
}

/// Writes each page as the product would and prints the figures of each file.
pub fn judge(files: &[PathBuf], by: Judge, answers: Option<&Path>) -> Result<(), String> {
    let fail = |error: std::io::Error| error.to_string();
    let mut out = answers.map(File::create).transpose().map_err(fail)?.map(BufWriter::new);
    let mut chances = match by {
        Judge::Chances(pages) => Some(pages.iter()),
        Judge::Model(_) => None,
    };
    for file in files {
        let mut lines = open_rows(file)?;
        let mut found = Vec::new();
        loop {
            let batch: Vec<String> = lines.by_ref().take(BATCH).collect::<Result<_, _>>().map_err(fail)?;
            if batch.is_empty() {
                break;
            }
            // The id of a row finds its judgements again on whatever thread it is worked on.
            let mut by_id: HashMap<String, &Vec<f32>> = HashMap::new();
            if let Some(chances) = &mut chances {
                for line in &batch {
                    let row: Id = serde_json::from_str(line).map_err(|error| error.to_string())?;
                    by_id.insert(row.id, chances.next().ok_or("fewer judgements than pages")?);
                }
            }
            let given = |row: &Annotated| by_id.get(&row.id).map(|chances| chances.as_slice());
            for answer in on_all_threads(&batch, |row| answer(row, given(row), by))? {
                let answer = answer?;
                if let Some(out) = &mut out {
                    let row = serde_json::json!({"id": answer.id, "markdown": answer.markdown});
                    writeln!(out, "{row}").map_err(fail)?;
                }
                found.push(answer);
            }
        }
        print(file, &found);
    }
    out.map_or(Ok(()), |mut out| out.flush().map_err(fail))
}

#[derive(serde::Deserialize)]
struct Id {
    id: String,
}

fn answer(row: &Annotated, chances: Option<&[f32]>, by: Judge) -> Result<PageAnswer, String> {
    let source = PageSource {
        bytes: row.html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        ..PageSource::default()
    };
    let page = content::Page::parse(&source, &Limits::default());
    let (outline, declared) = (Outline::from_dom(page.dom()), Declared::from_dom(page.dom()));
    let survey = Survey::new(&outline, &declared);
    let chances = match by {
        Judge::Chances(_) => chances.unwrap_or_default().to_vec(),
        Judge::Model(model) => select::classify(&survey, model),
    };
    if chances.len() != outline.blocks.len() {
        return Err(format!("page {} was read differently the second time", row.id));
    }
    let selection = select::choose(page.dom(), &survey, &chances);
    let markdown = page.markdown(&selection, true);
    let text = plain(&markdown);
    let flat = squash(&text);
    let count = |snippets: Option<&[String]>| {
        let snippets = snippets.unwrap_or_default();
        [snippets.iter().filter(|snippet| flat.contains(&squash(snippet))).count(), snippets.len()]
    };
    Ok(PageAnswer {
        id: row.id.clone(),
        kind: row.kind.clone(),
        widened: selection.widened,
        words: row.gold.as_ref().map(|gold| compare_words(&text, gold)),
        wanted: count(row.wanted.as_deref()),
        unwanted: count(row.unwanted.as_deref()),
        markdown,
    })
}

fn print(file: &Path, answers: &[PageAnswer]) {
    let mut kinds: BTreeMap<&str, Vec<[f64; 3]>> = BTreeMap::new();
    for answer in answers {
        if let Some(words) = answer.words {
            kinds.entry(&answer.kind).or_default().push(words);
        }
    }
    let mean = |pages: &[[f64; 3]], at: usize| {
        pages.iter().map(|page| page[at]).sum::<f64>() / pages.len().max(1) as f64
    };
    let widened = answers.iter().filter(|answer| answer.widened).count();
    println!("{}: {} pages, widened {widened}", file.display(), answers.len());
    for (kind, pages) in &kinds {
        println!("  {kind:14} F1 {:.4}  P {:.4}  R {:.4}", mean(pages, 2), mean(pages, 0), mean(pages, 1));
    }
    let all: Vec<[f64; 3]> = kinds.into_values().flatten().collect();
    println!("  {:14} F1 {:.4}  P {:.4}  R {:.4}", "all", mean(&all, 2), mean(&all, 0), mean(&all, 1));
    let total = |of: &dyn Fn(&PageAnswer) -> usize| answers.iter().map(of).sum::<usize>();
    let [wanted, asked] = [total(&|answer| answer.wanted[0]), total(&|answer| answer.wanted[1])];
    let [unwanted, banned] = [total(&|answer| answer.unwanted[0]), total(&|answer| answer.unwanted[1])];
    if asked > 0 {
        let (precision, recall) =
            (wanted as f64 / (wanted + unwanted).max(1) as f64, wanted as f64 / asked as f64);
        let f1 = 2.0 * precision * recall / (precision + recall).max(1e-9);
        println!(
            "  snippets       F1 {f1:.4}  P {precision:.4}  R {recall:.4}  (wanted {wanted}/{asked}, \
             unwanted {unwanted}/{banned})"
        );
    }
}

/// The text of markdown without the marks, as the scorer reduces it.
fn plain(markdown: &str) -> String {
    let text = without_targets(&without_targets(markdown, "!["), "[");
    text.chars().map(|found| if "*_`#|>\\".contains(found) { ' ' } else { found }).collect()
}

/// Replaces each `[text](target)` that begins with `opener` by its text.
fn without_targets(markdown: &str, opener: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find(opener) {
        let inner = &rest[at + opener.len()..];
        let link = inner.find(']').and_then(|close| {
            let target = inner[close + 1..].strip_prefix('(')?;
            Some((&inner[..close], &target[target.find(')')? + 1..]))
        });
        text.push_str(&rest[..at]);
        if let Some((label, after)) = link {
            text.push_str(label);
            rest = after;
        } else {
            text.push_str(opener);
            rest = inner;
        }
    }
    text + rest
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text
        .to_lowercase()
        .split(|found: char| !found.is_alphanumeric() && found != '_')
        .filter(|word| !word.is_empty())
    {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

/// Precision, recall and F1 of two bags of words.
fn compare_words(found: &str, gold: &str) -> [f64; 3] {
    let (found, gold) = (words(found), words(gold));
    let (found_count, gold_count): (usize, usize) = (found.values().sum(), gold.values().sum());
    if gold_count == 0 {
        return [f64::from(u8::from(found_count == 0)); 3];
    }
    let both: usize =
        found.iter().map(|(word, count)| (*count).min(gold.get(word).copied().unwrap_or(0))).sum();
    if both == 0 {
        return [0.0; 3];
    }
    let (precision, recall) = (both as f64 / found_count as f64, both as f64 / gold_count as f64);
    [precision, recall, 2.0 * precision * recall / (precision + recall)]
}

/// Words in lower case with single spaces between them.
fn squash(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|found: char| !found.is_alphanumeric() && found != '_')
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_read_as_the_scorer_reads_it() {
        assert_eq!(plain("# A [link](x) ![alt](y) [open] *b* [![i](a)](b)"), "  A link alt [open]  b  i");
        assert_eq!(squash("  The *Gannet*, 2.5 m"), "the gannet 2 5 m");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "these are exact")]
    fn words_are_compared_as_bags() {
        let [precision, recall, f1] = compare_words("a b b c", "b b d");
        assert!((precision - 0.5).abs() < 1e-9 && (recall - 2.0 / 3.0).abs() < 1e-9);
        assert!((f1 - 4.0 / 7.0).abs() < 1e-9);
        assert_eq!(compare_words("", ""), [1.0; 3]);
        assert_eq!(compare_words("a", ""), [0.0; 3]);
    }
}
