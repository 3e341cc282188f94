//! Finds the passages of a text that answer a query, verbatim.
//!
//! Splits markdown into passages ([`passages`]), scores them against the query ([`score`]) and selects the
//! best. Extractive only: every line of the answer is in the text, in its order and under its headings. When
//! nothing fits, the answer is empty.

mod passages;
mod score;
mod terms;

use passages::TextPassage;

/// Bytes of markdown that are searched.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Passages chosen, and bytes of them.
const MAX_PASSAGES_CHOSEN: usize = 10;
const MAX_ANSWER_BYTES: usize = 4_000;
/// Minimum score of a passage relative to the best one.
const MIN_SHARE_OF_BEST: f32 = 0.45;
/// The same for a passage that adds a word of the query.
const MIN_SHARE_WITH_NEW_WORD: f32 = 0.2;
/// Share of the query's weight that the best passage must cover.
const MIN_COVERED_SHARE: f32 = 0.34;

/// The passages of a markdown text that answer the query, in the order of the text; empty when none does.
pub fn highlights(markdown: &str, query: &str) -> String {
    let markdown = &markdown[..markdown.floor_char_boundary(MAX_TEXT_BYTES)];
    let query = score::HighlightQuery::parse(query);
    let mut passages = passages::split_passages(markdown);
    // What a picture is called answers nothing, and its words are no sign of what the text is about.
    passages.retain(|passage| !is_picture(passage.text));
    let scores = score::score_passages(&query, &passages);
    let best = scores.iter().map(|score| score.value).fold(0.0, f32::max);
    let mut ranked: Vec<usize> = (0..passages.len())
        .filter(|&at| {
            scores[at].value > best * MIN_SHARE_WITH_NEW_WORD && scores[at].covered >= MIN_COVERED_SHARE
        })
        .collect();
    ranked.sort_by(|&one, &other| scores[other].value.total_cmp(&scores[one].value).then(one.cmp(&other)));
    let mut room = MAX_ANSWER_BYTES;
    let mut chosen: Vec<usize> = Vec::new();
    let mut words = 0;
    for at in ranked {
        let score = scores[at];
        // A passage with a low score must add a word of the query that no better passage has.
        let fits = score.value > best * MIN_SHARE_OF_BEST || score.words & !words != 0;
        let len = passages[at].text.len();
        let repeated = chosen.iter().any(|&known| passages[known].text.trim() == passages[at].text.trim());
        if fits && len <= room && !repeated {
            room -= len;
            words |= score.words;
            chosen.push(at);
        }
        if chosen.len() == MAX_PASSAGES_CHOSEN {
            break;
        }
    }
    // "Run this:" is useless without the code that follows.
    let announced: Vec<usize> =
        chosen.iter().filter(|&&at| passages[at].text.ends_with(':')).map(|at| at + 1).collect();
    for at in announced {
        let code = passages
            .get(at)
            .is_some_and(|next| next.kind == passages::PassageKind::Code && next.text.len() <= room);
        if code && !chosen.contains(&at) {
            room -= passages[at].text.len();
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    join(&passages, &chosen)
}

/// Whether a passage is a picture and nothing else.
fn is_picture(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("![") && text.ends_with(')') && text.matches("](").count() == 1
}

/// The part of a markdown text that fits into `max_bytes`: passages that answer the query first, then the
/// text from its start. The order of the text is kept. Without query words it is the beginning of the text.
pub fn fit_within(markdown: &str, query: &str, max_bytes: usize) -> String {
    let markdown = &markdown[..markdown.floor_char_boundary(MAX_TEXT_BYTES)];
    let passages = passages::split_passages(markdown);
    let scores = score::score_passages(&score::HighlightQuery::parse(query), &passages);
    let mut ranked: Vec<usize> = (0..passages.len()).collect();
    ranked.sort_by(|&one, &other| scores[other].value.total_cmp(&scores[one].value).then(one.cmp(&other)));
    let mut room = max_bytes;
    let mut chosen: Vec<usize> = Vec::new();
    let mut under = std::collections::HashSet::new();
    for at in ranked {
        let passage = &passages[at];
        // Headings and column names are written with the first passage under them; separators take two bytes
        // at most.
        let above = if under.contains(passage.heading) { 0 } else { passage.heading.len() + 2 };
        let cost = passage.text.len() + 2 + above + passage.columns.map_or(0, |columns| columns.len() + 1);
        if cost <= room {
            room -= cost;
            under.insert(passage.heading);
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    let mut text = join(&passages, &chosen);
    // A heading is repeated where passages under other headings are in between; rarely, and never beyond the
    // limit.
    text.truncate(text.floor_char_boundary(max_bytes));
    text
}

/// The chosen passages with the headings above them, each heading once.
fn join(passages: &[TextPassage], chosen: &[usize]) -> String {
    let mut answer = String::new();
    let mut heading = "";
    let mut last: Option<&TextPassage> = None;
    for &at in chosen {
        let passage = &passages[at];
        if passage.heading != heading
            && !passage.heading.is_empty()
            && passage.kind != passages::PassageKind::Heading
        {
            separate(&mut answer, "\n\n");
            answer.push_str(passage.heading);
            last = None;
        }
        heading = passage.heading;
        let beside = last.is_some_and(|last| last.block == passage.block);
        let between = match (passage.kind, beside) {
            (passages::PassageKind::Sentence, true) => " ",
            (passages::PassageKind::Item | passages::PassageKind::Row, _)
                if last.is_some_and(|last| last.kind == passage.kind) =>
            {
                "\n"
            }
            _ => "\n\n",
        };
        separate(&mut answer, between);
        // A table row is useless without its column names.
        if let Some(columns) = passage.columns.filter(|_| !beside) {
            answer.push_str(columns);
            answer.push('\n');
        }
        answer.push_str(passage.text.trim_end());
        last = Some(passage);
    }
    answer
}

fn separate(answer: &mut String, between: &str) {
    if !answer.is_empty() {
        answer.push_str(between);
    }
}
