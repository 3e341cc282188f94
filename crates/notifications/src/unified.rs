//! A unified diff, as checks keep it, read back into rows with both sides next to each other.

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
