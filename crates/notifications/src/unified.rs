//! A unified diff, as checks keep it, read back into rows with both sides next to each other.

use crate::shown_line::{is_fence, shown_line};

/// Lines that are read; a longer diff is cut.
const MAX_LINES: usize = 5_000;
/// Bytes of a line that are kept.
const MAX_LINE_BYTES: usize = 8_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    pub chunks: Vec<DiffChunkRows>,
    /// Lines that were left out because the diff is too long.
    pub left_out_lines: usize,
}

/// One place that differs, with the lines around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffChunkRows {
    pub rows: Vec<DiffRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Its number in its version, from 1.
    pub number: usize,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffRow {
    Same {
        before: DiffLine,
        after: DiffLine,
    },
    /// A line that was replaced, added (no `before`) or removed (no `after`).
    Changed {
        before: Option<DiffLine>,
        after: Option<DiffLine>,
    },
}

/// Reads a unified diff. Lines that are none of a diff are skipped.
pub fn parse_unified(text: &str) -> UnifiedDiff {
    let mut diff = UnifiedDiff::default();
    let mut open = OpenChunk::default();
    let mut in_chunk = false;
    for (at, line) in text.lines().enumerate() {
        if at >= MAX_LINES {
            diff.left_out_lines = text.lines().count() - MAX_LINES;
            break;
        }
        if let Some((before, after)) = line.strip_prefix("@@ ").and_then(chunk_start) {
            diff.chunks.extend(std::mem::take(&mut open).close());
            (open.before, open.after) = (before, after);
            in_chunk = true;
            continue;
        }
        if !in_chunk {
            continue;
        }
        let (sign, rest) = line.split_at_checked(1).unwrap_or((line, ""));
        let rest = &rest[..rest.floor_char_boundary(MAX_LINE_BYTES)];
        match sign {
            "-" => {
                // A removed line after added ones begins the next change.
                if !open.added.is_empty() {
                    open.pair();
                }
                let number = OpenChunk::count(&mut open.before);
                open.removed.push(DiffLine { number, text: rest.to_owned() });
            }
            "+" => {
                let number = OpenChunk::count(&mut open.after);
                open.added.push(DiffLine { number, text: rest.to_owned() });
            }
            _ => {
                open.pair();
                let line = |number| DiffLine { number, text: rest.to_owned() };
                let (before, after) = (OpenChunk::count(&mut open.before), OpenChunk::count(&mut open.after));
                open.rows.push(DiffRow::Same { before: line(before), after: line(after) });
            }
        }
    }
    diff.chunks.extend(open.close());
    diff
}

/// Reads a unified diff of markdown, with its lines as people read them. Lines that only draw something are left out,
/// and lines that differ in nothing that is read are shown as they are.
pub fn parse_shown(text: &str) -> UnifiedDiff {
    let mut diff = parse_unified(text);
    for chunk in &mut diff.chunks {
        let mut in_code = false;
        chunk.rows.retain_mut(|row| {
            let sides: Vec<&mut DiffLine> = match row {
                DiffRow::Same { before, after } => vec![before, after],
                DiffRow::Changed { before, after } => before.iter_mut().chain(after.iter_mut()).collect(),
            };
            let is_fence = sides.iter().all(|line| is_fence(&line.text));
            in_code ^= is_fence;
            let shown: Vec<String> = if in_code && !is_fence {
                sides.iter().map(|line| line.text.clone()).collect()
            } else {
                sides.iter().map(|line| shown_line(&line.text)).collect()
            };
            let is_drawn = |(line, shown): (&&mut DiffLine, &String)| {
                shown.trim().is_empty() && !line.text.trim().is_empty()
            };
            if sides.iter().zip(&shown).all(is_drawn) {
                return false;
            }
            let differs = |one: &[String]| one.windows(2).all(|pair| pair[0] != pair[1]);
            let was_same = sides.windows(2).all(|pair| pair[0].text == pair[1].text);
            if was_same || differs(&shown) {
                for (line, shown) in sides.into_iter().zip(shown) {
                    line.text = shown;
                }
            }
            true
        });
    }
    diff.chunks.retain(|chunk| !chunk.rows.is_empty());
    diff
}

#[derive(Debug, Default)]
struct OpenChunk {
    before: usize,
    after: usize,
    rows: Vec<DiffRow>,
    removed: Vec<DiffLine>,
    added: Vec<DiffLine>,
}

impl OpenChunk {
    fn count(number: &mut usize) -> usize {
        let current = *number;
        *number = number.saturating_add(1);
        current
    }

    /// Puts removed lines next to the added lines that follow them.
    fn pair(&mut self) {
        let rows = self.removed.len().max(self.added.len());
        let (mut removed, mut added) = (self.removed.drain(..), self.added.drain(..));
        self.rows.extend((0..rows).map(|_| DiffRow::Changed { before: removed.next(), after: added.next() }));
    }

    fn close(mut self) -> Option<DiffChunkRows> {
        self.pair();
        (!self.rows.is_empty()).then_some(DiffChunkRows { rows: self.rows })
    }
}

/// `-3,7 +3,8 @@` → the numbers of the first lines.
fn chunk_start(header: &str) -> Option<(usize, usize)> {
    let mut parts = header.split(' ');
    let mut number = |sign: char| {
        let part = parts.next()?.strip_prefix(sign)?;
        part.split(',').next()?.parse::<usize>().ok()
    };
    Some((number('-')?, number('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_as_they_read() {
        let before = "## Plans\n\n| Plan | Price |\n| --- | --- |\n| **Team** | 49 |\n[Buy](/a)\n```\na[0] = *b\n```\n";
        let after = "## Plans\n\n| Plan | Price |\n| --- | --- |\n| **Team** | 39 |\n[Buy](/b)\n```\na[0] = *c\n```\n";
        let diff = parse_shown(&text::diff::diff(before, after).unwrap().text);
        let rows = diff.chunks.iter().flat_map(|chunk| &chunk.rows);
        let shown: Vec<String> = rows
            .map(|row| match row {
                DiffRow::Same { after, .. } => after.text.clone(),
                DiffRow::Changed { before, after } => {
                    let text =
                        |line: &Option<DiffLine>| line.as_ref().map_or("", |line| &line.text).to_owned();
                    format!("{} > {}", text(before), text(after))
                }
            })
            .filter(|line| !line.is_empty())
            .collect();
        let price = "Team · 49 > Team · 39";
        assert_eq!(shown, ["Plans", "Plan · Price", price, "[Buy](/a) > [Buy](/b)", "a[0] = *b > a[0] = *c"]);
    }

    #[test]
    fn sides_are_put_next_to_each_other() {
        let before = "# Prices\n\nBasic: 5\nPro: 9\nTeam: 20\n";
        let after = "# Prices\n\nBasic: 6\nPro: 9\nTeam: 20\nMax: 50\n";
        let text = text::diff::diff(before, after).unwrap().text;
        let diff = parse_unified(&text);
        let rows: Vec<(Option<&str>, Option<&str>)> = diff.chunks[0]
            .rows
            .iter()
            .map(|row| match row {
                DiffRow::Same { before, after } => (Some(before.text.as_str()), Some(after.text.as_str())),
                DiffRow::Changed { before, after } => (
                    before.as_ref().map(|line| line.text.as_str()),
                    after.as_ref().map(|line| line.text.as_str()),
                ),
            })
            .collect();
        assert_eq!(
            rows,
            [
                (Some("# Prices"), Some("# Prices")),
                (Some("Basic: 5"), Some("Basic: 6")),
                (Some("Pro: 9"), Some("Pro: 9")),
                (Some("Team: 20"), Some("Team: 20")),
                (None, Some("Max: 50")),
            ]
        );
    }

    #[test]
    fn anything_is_read() {
        for text in [
            "",
            "@@",
            "@@ -1 +1",
            "@@ -1,2 +1,2 @@\n",
            "@@ -99999999999999999999 +1 @@\n+x",
            "+++\n---",
            "é\n+é",
        ] {
            assert!(parse_unified(text).chunks.is_empty(), "{text}");
        }
        let long = format!("@@ -18446744073709551615 +1 @@\n{}", "-é\n+\n\n".repeat(9_000));
        let diff = parse_unified(&long);
        assert_eq!(diff.left_out_lines, 27_001 - MAX_LINES);
        let wide = format!("@@ -1 +1 @@\n+{}", "é".repeat(9_000));
        assert!(matches!(&parse_unified(&wide).chunks[0].rows[0],
            DiffRow::Changed { after: Some(line), .. } if line.text.len() <= MAX_LINE_BYTES));
    }
}
