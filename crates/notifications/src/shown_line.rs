//! A line of markdown as people read it: without the marks of headings, emphasis, links and tables. A mark that is not
//! closed stays, and so does all of a block of code. What comes out is plain text; whoever shows it escapes it.

/// Longer lines are shown as they are.
const MAX_LINE_BYTES: usize = 4_000;
/// Marks without an end that are looked for in one line; those after them stay.
const MAX_OPEN_MARKS: u32 = 20;

/// Whether a line begins or ends a block of code.
pub fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The words of a line. Empty for one that only draws: a rule, the line below the head of a table, a fence.
pub fn shown_line(line: &str) -> String {
    if line.len() > MAX_LINE_BYTES {
        return line.to_owned();
    }
    let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
    let text = without_line_marks(line.trim());
    let is_drawn = text.len() >= 3 && text.chars().all(|c| matches!(c, '|' | '-' | ':' | '*' | '_' | ' '));
    if is_drawn || is_fence(text) {
        return String::new();
    }
    let entry = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark));
    let text = entry.unwrap_or(text).replace("<br>", " ");
    let shown = match text.strip_prefix('|') {
        Some(row) => cells(row).map(|cell| inline(cell.trim())).collect::<Vec<_>>().join(" · "),
        None => inline(&text),
    };
    let mark = if entry.is_some() { "• " } else { "" };
    format!("{indent}{mark}{shown}")
}

/// Without the marks of quotes and headings.
fn without_line_marks(line: &str) -> &str {
    let text = line.trim_start_matches("> ");
    let heading = text.trim_start_matches('#');
    let level = text.len() - heading.len();
    if (1..=6).contains(&level) { heading.strip_prefix(' ').unwrap_or(text) } else { text }
}

/// The cells of a row of a table, whose first mark is taken off.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let row = row.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(row);
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let text = rest?;
        let ends = text.match_indices('|').find(|(at, _)| !text[..*at].ends_with('\\'));
        rest = ends.map(|(at, _)| &text[at + 1..]);
        Some(ends.map_or(text, |(at, _)| &text[..at]))
    })
}

fn inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // Marks that were opened and have an end.
    let mut open: Vec<&str> = Vec::new();
    let mut tries = MAX_OPEN_MARKS;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        if matches!(c, '[' | '*' | '_' | '~' | '`') {
            tries = tries.saturating_sub(1);
        }
        if tries == 0 && open.is_empty() {
            shown.push_str(rest);
            break;
        }
        if c == '\\' && tail.starts_with(|c: char| c.is_ascii_punctuation()) {
            shown.push_str(&tail[..1]);
            rest = &tail[1..];
        } else if c == '`'
            && let Some((code, after)) = tail.split_once('`')
        {
            shown.push_str(code);
            rest = after;
        } else if let Some((label, after)) = link(rest.strip_prefix('!').unwrap_or(rest)) {
            // A label may hold emphasis and pictures, not links.
            rest = after;
            tries = MAX_OPEN_MARKS;
            shown.push_str(&without_marks(label));
        } else if let Some(mark) = ["**", "__", "~~"].into_iter().find(|mark| rest.starts_with(mark)) {
            let after = &rest[mark.len()..];
            let is_end = open.last() == Some(&mark);
            if is_end {
                open.pop();
                tries = MAX_OPEN_MARKS;
            } else if after.contains(mark) {
                open.push(mark);
            } else {
                shown.push_str(mark);
            }
            rest = after;
        } else if c == '*' && (open.last() == Some(&"*") || begins_emphasis(&shown, tail)) {
            if open.last() == Some(&"*") {
                open.pop();
                tries = MAX_OPEN_MARKS;
            } else {
                open.push("*");
            }
            rest = tail;
        } else {
            shown.push(c);
            rest = tail;
        }
    }
    shown
}

/// Whether a mark begins emphasis: words touch it, and another one ends them.
fn begins_emphasis(before: &str, after: &str) -> bool {
    let is_apart = !before.ends_with(char::is_alphanumeric);
    let mut ends = after.match_indices('*');
    let has_end = ends.any(|(at, _)| at > 0 && !after[..at].ends_with([' ', '\\', '*']));
    is_apart && has_end && !after.starts_with([' ', '*'])
}

/// The label of the link that a text begins with, and what follows the link.
fn link(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ if at == 0 => return None,
            _ => {}
        }
        if depth == 0 && at > 0 {
            let target = text[at + 1..].strip_prefix('(')?;
            return Some((&text[1..at], after_target(target)?));
        }
    }
    None
}

/// What follows the target of a link; pairs of brackets may stand in it.
fn after_target(text: &str) -> Option<&str> {
    let (mut depth, mut escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(&text[at + 1..]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A label without its marks; of a picture within it, what is said of the picture.
fn without_marks(label: &str) -> String {
    let picture = label.strip_prefix('!').and_then(link).map_or(label, |(said, _)| said);
    let mut shown = String::with_capacity(picture.len());
    let mut escaped = false;
    for c in picture.replace("**", "").replace("__", "").chars() {
        match c {
            '\\' if !escaped => escaped = true,
            '`' if !escaped => {}
            c => {
                shown.push(c);
                escaped = false;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_as_it_reads() {
        for (line, shown) in [
            ("## Plans and prices", "Plans and prices"),
            ("- **Team**: $49 [a month](https://e.org/a_(b))", "• Team: $49 a month"),
            ("  1. Ask *us* first", "  1. Ask us first"),
            ("| Plan | **Price** | a \\| b |", "Plan · Price · a | b"),
            ("| --- | :-: |", ""),
            ("---", ""),
            ("```rust", ""),
            ("\\<b> is \\*not\\* bold", "<b> is *not* bold"),
            ("> `a_b[0] * c`", "a_b[0] * c"),
            ("![A chair](/a.png) [![Logo](/l.png)](/)", "A chair Logo"),
            ("2 * 3 * 4 and **open", "2 * 3 * 4 and **open"),
            ("[a] (b) [c", "[a] (b) [c"),
            ("snake_case __init__", "snake_case init"),
            ("", ""),
        ] {
            assert_eq!(shown_line(line), shown, "{line}");
        }
    }

    #[test]
    fn hostile_lines_end() {
        for part in ["[", "](", "*", "**a", "`", "\\", "|", "![", "é*"] {
            let line: String = part.repeat(4_000).chars().take(2_000).collect();
            for _ in 0..20 {
                assert!(shown_line(&line).len() <= line.len() * 3, "{part}");
            }
        }
    }
}
