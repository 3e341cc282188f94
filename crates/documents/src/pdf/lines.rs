//! Runs gathered into lines, and lines into text.

use super::geometry::{Bounds, overlap};
use super::runs::{Run, is_right_to_left};
use crate::block::Span;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    /// From left to right.
    pub(super) runs: Vec<Run>,
    pub(super) bounds: Bounds,
    pub(super) baseline: f32,
    /// Of most of its letters.
    pub(super) size: f32,
}

/// Runs with nearly the same baseline are one line; small raised or lowered runs join the line beside them.
pub(super) fn group_lines(mut runs: Vec<Run>) -> Vec<Line> {
    runs.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut lines: Vec<Line> = Vec::new();
    for run in runs {
        let home = lines.iter_mut().rev().take(4).find(|line| {
            let small = line.size.min(run.size);
            (line.baseline - run.baseline).abs() <= small * 0.3
        });
        match home {
            Some(line) => {
                line.bounds = line.bounds.union(&run.bounds);
                line.runs.push(run);
            }
            None => lines.push(Line {
                bounds: run.bounds,
                baseline: run.baseline,
                size: run.size,
                runs: vec![run],
            }),
        }
    }
    for line in &mut lines {
        line.refresh();
    }
    join_small_lines(&mut lines);
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    lines
}

/// Notes marks and fractions: a line of small runs that touches a line of larger ones.
fn join_small_lines(lines: &mut Vec<Line>) {
    let mut index = 0;
    while index < lines.len() {
        let from = index.saturating_sub(2);
        let to = (index + 3).min(lines.len());
        let line = &lines[index];
        let letters: usize = line.runs.iter().map(|run| run.text.chars().count()).sum();
        let home = (from..to).find(|&other| {
            let host = &lines[other];
            other != index
                && line.size < host.size * 0.85
                && letters <= 12
                && host.bounds.top - host.size * 0.3 <= line.bounds.center_y()
                && line.bounds.center_y() <= host.bounds.bottom + host.size * 0.3
                && line.runs.iter().all(|run| {
                    host.runs.iter().any(|big| {
                        let gap =
                            (run.bounds.left - big.bounds.right).max(big.bounds.left - run.bounds.right);
                        gap < big.size * 0.35 && overlap(run.x(), big.x()) < run.bounds.width() * 0.5
                    })
                })
        });
        match home {
            Some(host) => {
                let runs = std::mem::take(&mut lines[index].runs);
                lines[host].runs.extend(runs);
                lines[host].refresh();
                lines.remove(index);
            }
            None => index += 1,
        }
    }
}

impl Line {
    fn refresh(&mut self) {
        self.runs.sort_by(|a, b| a.bounds.left.total_cmp(&b.bounds.left));
        if let Some(bounds) = super::geometry::union_all(self.runs.iter().map(|run| &run.bounds)) {
            self.bounds = bounds;
        }
        let main = self.runs.iter().max_by(|a, b| {
            let weight = |run: &Run| run.text.chars().count();
            weight(a).cmp(&weight(b)).then(a.size.total_cmp(&b.size))
        });
        if let Some(main) = main {
            self.size = main.size;
            self.baseline = main.baseline;
        }
    }

    pub(super) fn text(&self) -> String {
        plain_text(&self.spans())
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        spans_of(&self.runs)
    }

    pub(super) fn is_bold(&self) -> bool {
        let letters = |bold: bool| -> usize {
            self.runs.iter().filter(|run| run.bold == bold).map(|run| run.text.chars().count()).sum()
        };
        letters(true) > letters(false) * 4
    }

    pub(super) fn is_italic(&self) -> bool {
        self.runs.iter().all(|run| run.italic)
    }

    pub(super) fn is_right_to_left(&self) -> bool {
        is_right_to_left(&self.text())
    }

    pub(super) fn is_monospace(&self) -> bool {
        self.runs.iter().all(|run| run.monospace)
    }

    /// Groups of runs with a gap of at least `gap` ems between them, as (first, one past the last).
    pub(super) fn segments(&self, gap: f32) -> Vec<(usize, usize)> {
        let mut segments = Vec::new();
        let mut start = 0;
        let mut right = f32::MIN;
        for (index, run) in self.runs.iter().enumerate() {
            if index > 0 && run.bounds.left - right > gap * self.size {
                segments.push((start, index));
                start = index;
            }
            right = right.max(run.bounds.right);
        }
        if !self.runs.is_empty() {
            segments.push((start, self.runs.len()));
        }
        segments
    }
}

/// Runs of one line in reading order: from the right for right-to-left text, with embedded left-to-right pieces and
/// numbers kept in their own order.
fn reading_order(runs: &[Run]) -> Vec<&Run> {
    let mut ordered: Vec<&Run> = runs.iter().collect();
    ordered.sort_by(|a, b| a.bounds.left.total_cmp(&b.bounds.left));
    let line: String = runs.iter().flat_map(|run| [run.text.as_str(), " "]).collect();
    if !is_right_to_left(&line) {
        return ordered;
    }
    // By their middles: the boxes of right-to-left pieces may reach over each other.
    ordered.sort_by(|a, b| b.bounds.center_x().total_cmp(&a.bounds.center_x()));
    let mut start = 0;
    while start < ordered.len() {
        let mut end = start;
        while end < ordered.len() && !is_right_to_left(&ordered[end].text) {
            end += 1;
        }
        ordered[start..end].reverse();
        start = end.max(start + 1);
    }
    ordered
}

/// The runs of one line as styled text, with spaces where words end.
pub(super) fn spans_of(runs: &[Run]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut previous: Option<&Run> = None;
    for run in reading_order(runs) {
        let apart = previous.is_some_and(|previous| {
            let gap = (run.bounds.left - previous.bounds.right).max(previous.bounds.left - run.bounds.right);
            let size = previous.size.min(run.size);
            // Pieces that stand over each other are words of their own as well.
            previous.space_after || run.space_before || gap > size * 0.12 || gap < -size * 0.5
        });
        push_span(&mut spans, run, apart);
        previous = Some(run);
    }
    spans
}

fn push_span(spans: &mut Vec<Span>, run: &Run, apart: bool) {
    let text = run.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match spans.last_mut() {
        Some(last)
            if last.bold == run.bold
                && last.italic == run.italic
                && last.code == run.monospace
                && last.link == run.link =>
        {
            if apart {
                last.text.push(' ');
            }
            last.text.push_str(&text);
        }
        last => {
            if apart && let Some(last) = last {
                last.text.push(' ');
            }
            spans.push(Span {
                text,
                bold: run.bold,
                italic: run.italic,
                code: run.monospace,
                link: run.link.clone(),
                ..Span::default()
            });
        }
    }
}

pub(super) fn plain_text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// Appends the text of the next line of a paragraph; a word cut by a hyphen at the end of the line is joined.
pub(super) fn append_line(paragraph: &mut Vec<Span>, line: Vec<Span>) {
    let starts_lower = line.first().and_then(|span| span.text.chars().next()).is_some_and(char::is_lowercase);
    let mut joined = false;
    if let Some(last) = paragraph.last_mut() {
        let mut end = last.text.trim_end().chars().rev();
        let hyphen = end.next().is_some_and(|c| matches!(c, '-' | '\u{2010}'));
        let letter = end.next().is_some_and(char::is_lowercase);
        if hyphen && letter && starts_lower {
            let kept = last.text.trim_end().len()
                - last.text.trim_end().chars().next_back().map_or(0, char::len_utf8);
            last.text.truncate(kept);
            joined = true;
        } else if hyphen && !letter {
            // A dash between two parts of a compound or a range: nothing is added.
            joined = true;
        } else {
            last.text.push(' ');
        }
    }
    for span in line {
        match paragraph.last_mut() {
            Some(last)
                if last.bold == span.bold
                    && last.italic == span.italic
                    && last.code == span.code
                    && last.link == span.link =>
            {
                last.text.push_str(&span.text);
            }
            Some(last) if joined && last.text.is_empty() => *last = span,
            _ => paragraph.push(span),
        }
        joined = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::runs::tests::run;

    #[test]
    fn runs_on_one_baseline_are_one_line() {
        let lines = group_lines(vec![
            run("world", 60.0, 100.5, 30.0),
            run("Hello", 20.0, 100.0, 30.0),
            run("below", 20.0, 114.0, 30.0),
        ]);
        assert_eq!(lines.iter().map(Line::text).collect::<Vec<_>>(), ["Hello world", "below"]);
    }

    #[test]
    fn note_mark_joins_its_line() {
        let mut mark = run("2", 50.2, 96.0, 3.0);
        mark.size = 5.0;
        mark.bounds.top = 92.0;
        mark.bounds.bottom = 97.0;
        let lines = group_lines(vec![run("word", 20.0, 100.0, 30.0), mark]);
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn hyphen_at_the_end_of_a_line_is_joined() {
        let span = |text: &str| vec![Span { text: text.to_owned(), ..Span::default() }];
        let mut paragraph = span("the magni-");
        append_line(&mut paragraph, span("tude of"));
        append_line(&mut paragraph, span("it"));
        assert_eq!(plain_text(&paragraph), "the magnitude of it");
        let mut range = span("from 1990-");
        append_line(&mut range, span("1995"));
        assert_eq!(plain_text(&range), "from 1990-1995");
    }

    #[test]
    fn right_to_left_lines_read_from_the_right() {
        let text = spans_of(&[
            run("12", 10.0, 50.0, 10.0),
            run("עולם", 40.0, 50.0, 30.0),
            run("שלום", 90.0, 50.0, 30.0),
        ]);
        assert_eq!(plain_text(&text), "שלום עולם 12");
    }

    #[test]
    fn segments_split_at_wide_gaps() {
        let lines = group_lines(vec![
            run("a", 0.0, 10.0, 10.0),
            run("b", 14.0, 10.0, 10.0),
            run("c", 60.0, 10.0, 10.0),
        ]);
        assert_eq!(lines[0].segments(1.0), [(0, 2), (2, 3)]);
    }
}
