//! The passages of a text that answer a query, word for word.
//!
//! Owns cutting markdown into passages ([`passages`]), scoring them against the query ([`score`]) and choosing. Extractive
//! only: every line of the answer stands in the text, in the text's order, under the headings it stands under. When nothing
//! fits, the answer is empty.

mod passages;
mod score;
mod terms;

use passages::Passage;

/// Bytes of markdown that are looked at.
const MOST_TEXT: usize = 8 << 20;
/// Passages chosen, and bytes of them.
const MOST_CHOSEN: usize = 10;
const LONGEST_ANSWER: usize = 4_000;
/// How good a passage must be beside the best one.
const CLOSE: f32 = 0.45;
/// And how good one that adds a word of the query.
const FAR: f32 = 0.2;
/// Share of the query's weight that the best passage must cover.
const COVERED: f32 = 0.34;

/// The passages of a markdown text that answer the query, in the order of the text; empty when none does.
pub fn highlights(markdown: &str, query: &str) -> String {
    let markdown = &markdown[..markdown.floor_char_boundary(MOST_TEXT)];
    let query = score::Query::of(query);
    let passages = passages::of(markdown);
    let scores = score::all(&query, &passages);
    let best = scores.iter().map(|score| score.value).fold(0.0, f32::max);
    let mut ranked: Vec<usize> = (0..passages.len())
        .filter(|&at| scores[at].value > best * FAR && scores[at].covered >= COVERED)
        .collect();
    ranked.sort_by(|&one, &other| scores[other].value.total_cmp(&scores[one].value).then(one.cmp(&other)));
    let mut room = LONGEST_ANSWER;
    let mut chosen: Vec<usize> = Vec::new();
    let mut words = 0;
    for at in ranked {
        let score = scores[at];
        // Further down only what holds a word of the query that nothing better held.
        let fits = score.value > best * CLOSE || score.words & !words != 0;
        let len = passages[at].text.len();
        let repeated = chosen.iter().any(|&known| passages[known].text.trim() == passages[at].text.trim());
        if fits && len <= room && !repeated {
            room -= len;
            words |= score.words;
            chosen.push(at);
        }
        if chosen.len() == MOST_CHOSEN {
            break;
        }
    }
    // "Run this:" says nothing without what it announces.
    let announced: Vec<usize> =
        chosen.iter().filter(|&&at| passages[at].text.ends_with(':')).map(|at| at + 1).collect();
    for at in announced {
        let code =
            passages.get(at).is_some_and(|next| next.kind == passages::Kind::Code && next.text.len() <= room);
        if code && !chosen.contains(&at) {
            room -= passages[at].text.len();
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    join(&passages, &chosen)
}

/// As much of a markdown text as fits into `most` bytes: what answers the query first, and what room is left from the top. The
/// order is the text's own. Without a word to go by it is the beginning of the text.
pub fn within(markdown: &str, query: &str, most: usize) -> String {
    let markdown = &markdown[..markdown.floor_char_boundary(MOST_TEXT)];
    let passages = passages::of(markdown);
    let scores = score::all(&score::Query::of(query), &passages);
    let mut ranked: Vec<usize> = (0..passages.len()).collect();
    ranked.sort_by(|&one, &other| scores[other].value.total_cmp(&scores[one].value).then(one.cmp(&other)));
    let mut room = most;
    let mut chosen: Vec<usize> = Vec::new();
    let mut under = std::collections::HashSet::new();
    for at in ranked {
        let passage = &passages[at];
        // Headings and columns come along with the first passage that stands under them; separators cost two bytes at most.
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
    // A heading is repeated where passages under others lie between; seldom, and never past the room.
    text.truncate(text.floor_char_boundary(most));
    text
}

/// The chosen passages with the headings above them, each heading once.
fn join(passages: &[Passage], chosen: &[usize]) -> String {
    let mut answer = String::new();
    let mut heading = "";
    let mut last: Option<&Passage> = None;
    for &at in chosen {
        let passage = &passages[at];
        if passage.heading != heading
            && !passage.heading.is_empty()
            && passage.kind != passages::Kind::Heading
        {
            separate(&mut answer, "\n\n");
            answer.push_str(passage.heading);
            last = None;
        }
        heading = passage.heading;
        let beside = last.is_some_and(|last| last.block == passage.block);
        let between = match (passage.kind, beside) {
            (passages::Kind::Sentence, true) => " ",
            (passages::Kind::Item | passages::Kind::Row, _)
                if last.is_some_and(|last| last.kind == passage.kind) =>
            {
                "\n"
            }
            _ => "\n\n",
        };
        separate(&mut answer, between);
        // A row means nothing without the names of its columns.
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
