//! Markdown as the text a reader sees, with its links and images: one pass over the lines of untrusted input.

/// Markdown beyond this is not read.
const MAX_MARKDOWN_BYTES: usize = 1 << 20;
const MAX_LINKS: usize = 1_000;
const MAX_IMAGES: usize = 50;
const MAX_HEADINGS: usize = 200;
/// Quotes and lists within each other at the start of a line.
const MAX_DEPTH: usize = 16;
/// Bytes of an address, and of a tag that is left out.
const MAX_ADDRESS_BYTES: usize = 2_048;
const MAX_TAG_BYTES: usize = 1_000;
/// Stands in the output for a bracket that may turn out to be a link's.
const OPEN: u8 = 1;

/// Bytes that may mean something.
static MARKS: [bool; 256] = {
    let mut table = [false; 256];
    let marks = b"\\`![]<&|*_~\x01";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct PlainText {
    pub text: String,
    pub headings: Vec<String>,
    /// Addresses, in order.
    pub links: Vec<String>,
    /// Addresses of pictures and what is said of them.
    pub images: Vec<(String, String)>,
}

/// Reads markdown.
pub fn plain(markdown: &str) -> PlainText {
    let markdown = &markdown[..markdown.floor_char_boundary(MAX_MARKDOWN_BYTES)];
    let mut plain = PlainText { text: String::with_capacity(markdown.len()), ..PlainText::default() };
    let mut fence: Option<(u8, usize)> = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        if let Some((mark, length)) = fence {
            if run(trimmed, mark) >= length && trimmed.bytes().all(|byte| byte == mark || byte == b' ') {
                fence = None;
            } else {
                plain.add_line(line.trim_end());
            }
            continue;
        }
        if let Some(opened) = opens_fence(trimmed) {
            fence = Some(opened);
            continue;
        }
        plain.read_line(trimmed);
    }
    plain.text.truncate(plain.text.trim_end().len());
    plain
}

impl PlainText {
    fn read_line(&mut self, line: &str) {
        let line = without_marks(line);
        if is_rule(line) || is_definition(line) {
            return;
        }
        let level = run(line, b'#');
        let after = &line[level..];
        if (1..=6).contains(&level) && (after.is_empty() || after.starts_with(' ')) {
            let words = self.inline(after.trim().trim_end_matches('#'));
            if !words.is_empty() && self.headings.len() < MAX_HEADINGS {
                self.headings.push(words.clone());
            }
            self.add_line(&words);
        } else {
            let words = self.inline(line);
            self.add_line(&words);
        }
    }

    fn add_line(&mut self, line: &str) {
        if line.is_empty() {
            // One empty line is enough.
            if !self.text.is_empty() && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The words of one line.
    fn inline(&mut self, line: &str) -> String {
        let bytes = line.as_bytes();
        let is_row = bytes.first() == Some(&b'|');
        let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
        // Brackets that are open: their place in the output, and whether a picture begins there.
        let mut open: Vec<(usize, bool)> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            // Most of a text means nothing but itself.
            let plain = bytes[at..].iter().take_while(|byte| !MARKS[usize::from(**byte)]).count();
            out.extend_from_slice(&bytes[at..at + plain]);
            at += plain;
            let Some(byte) = bytes.get(at).copied() else { break };
            let next = bytes.get(at + 1).copied();
            match byte {
                b'\\' if next.is_some_and(|next| next.is_ascii_punctuation()) => {
                    out.extend(next);
                    at += 2;
                    continue;
                }
                b'`' => {
                    let (code, end) = code_span(line, at);
                    out.extend_from_slice(code.as_bytes());
                    at = end;
                    continue;
                }
                b'!' if next == Some(b'[') => {
                    open.push((out.len(), true));
                    out.push(OPEN);
                    at += 2;
                    continue;
                }
                b'[' => {
                    open.push((out.len(), false));
                    out.push(OPEN);
                }
                b']' if let Some((address, end)) = destination(line, at + 1) => {
                    self.link(&mut out, open.pop(), address);
                    at = end;
                    continue;
                }
                b']' => {
                    if let Some((place, _)) = open.pop() {
                        out[place] = b'[';
                    }
                    out.push(byte);
                }
                b'<' if let Some((inside, end)) = tag(line, at) => {
                    out.extend_from_slice(inside.as_bytes());
                    at = end;
                    continue;
                }
                b'&' if let Some((character, end)) = entity(line, at) => {
                    out.push(character);
                    at = end;
                    continue;
                }
                b'|' if is_row => out.push(b' '),
                b'*' | b'_' | b'~' if is_mark(bytes, at) => {}
                OPEN => {}
                _ => out.push(byte),
            }
            at += 1;
        }
        for (place, _) in open {
            out[place] = b'[';
        }
        out.retain(|byte| *byte != OPEN);
        // Whole characters were copied, and only ASCII was replaced.
        let words = String::from_utf8(out).unwrap_or_default();
        words.trim().to_owned()
    }

    /// A link or a picture ends. What is said of a picture is no text of the page.
    fn link(&mut self, out: &mut Vec<u8>, open: Option<(usize, bool)>, address: &str) {
        let is_web = address.starts_with("http://") || address.starts_with("https://");
        match open {
            Some((place, true)) => {
                let said: Vec<u8> = out.split_off(place).into_iter().filter(|byte| *byte != OPEN).collect();
                if is_web && self.images.len() < MAX_IMAGES {
                    self.images.push((address.to_owned(), String::from_utf8_lossy(&said).trim().to_owned()));
                }
            }
            _ if is_web && self.links.len() < MAX_LINKS => self.links.push(address.to_owned()),
            _ => {}
        }
    }
}

/// How often a byte stands at the start of a text.
fn run(text: &str, byte: u8) -> usize {
    text.bytes().take_while(|one| *one == byte).count()
}

fn opens_fence(line: &str) -> Option<(u8, usize)> {
    [b'`', b'~'].into_iter().map(|mark| (mark, run(line, mark))).find(|(_, length)| *length >= 3)
}

/// A line without the marks of quotes and lists before it.
fn without_marks(mut line: &str) -> &str {
    for _ in 0..MAX_DEPTH {
        let digits = line.bytes().take_while(u8::is_ascii_digit).take(9).count();
        let rest = if let Some(rest) = line.strip_prefix('>') {
            rest
        } else if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
            rest
        } else if digits > 0
            && let Some(rest) = [". ", ") "].iter().find_map(|mark| line[digits..].strip_prefix(mark))
        {
            rest
        } else {
            break;
        };
        line = rest.trim_start();
    }
    line
}

/// A line between sections, under a heading, or between a table's head and its rows.
fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 2
        && line.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'|' | b':' | b' '))
        && line.bytes().any(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_'))
}

/// `[name]: address`, which only the source has.
fn is_definition(line: &str) -> bool {
    line.starts_with('[') && line.split_once("]:").is_some_and(|(name, _)| !name[1..].contains(['[', ']']))
}

/// What stands between backticks, and where it ends. Unclosed ones are themselves.
fn code_span(line: &str, at: usize) -> (&str, usize) {
    let length = run(&line[at..], b'`');
    let start = at + length;
    let mut from = start;
    while let Some(found) = line[from..].find('`') {
        let tick = from + found;
        let ticks = run(&line[tick..], b'`');
        if ticks == length {
            return (&line[start..tick], tick + ticks);
        }
        from = tick + ticks;
    }
    (&line[at..start], start)
}

/// The address in parentheses at a place, and where they end.
fn destination(line: &str, at: usize) -> Option<(&str, usize)> {
    let inside = line[at..].strip_prefix('(')?;
    let inside = &inside[..inside.floor_char_boundary(MAX_ADDRESS_BYTES)];
    let start = at + 1;
    if let Some(angled) = inside.strip_prefix('<') {
        let end = angled.find('>')?;
        let close = end + angled[end..].find(')')?;
        return Some((&angled[..end], start + 1 + close + 1));
    }
    let mut depth = 1_usize;
    let mut address_end = None;
    for (offset, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b' ' | b'\t' if address_end.is_none() => address_end = Some(offset),
            _ => {}
        }
        if depth == 0 {
            return Some((&inside[..address_end.unwrap_or(offset)], start + offset + 1));
        }
    }
    None
}

/// A tag, which is left out, or an address in angle brackets, which stays; and where it ends.
fn tag(line: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &line[at + 1..];
    let first = rest.bytes().next()?;
    if !(first.is_ascii_alphabetic() || matches!(first, b'/' | b'!')) {
        return None;
    }
    let end = rest[..rest.floor_char_boundary(MAX_TAG_BYTES)].find('>')?;
    let inside = &rest[..end];
    let is_address = inside.contains("://") && !inside.contains(' ');
    Some((if is_address { inside } else { "" }, at + 1 + end + 1))
}

fn entity(line: &str, at: usize) -> Option<(u8, usize)> {
    let known: [(&str, u8); 6] = [
        ("&amp;", b'&'),
        ("&lt;", b'<'),
        ("&gt;", b'>'),
        ("&quot;", b'"'),
        ("&#39;", b'\''),
        ("&nbsp;", b' '),
    ];
    let (name, character) = known.into_iter().find(|(name, _)| line[at..].starts_with(name))?;
    Some((character, at + name.len()))
}

/// Whether a star, an underscore or a tilde emphasises what stands beside it.
fn is_mark(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(at + 1).copied();
    let space = |byte: Option<u8>| byte.is_none_or(|byte| byte == b' ');
    let word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80);
    match bytes[at] {
        b'~' => before == Some(b'~') || after == Some(b'~'),
        b'_' => !((word(before) && word(after)) || (space(before) && space(after))),
        _ => !(space(before) && space(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_and_marks_go() {
        let cases = [
            ("# Gannets *dive*\n\nThey **dive** from 30 m.", "Gannets dive\n\nThey dive from 30 m."),
            ("- one\n- [ ] two\n1. three\n> quoted", "one\n[ ] two\nthree\nquoted"),
            ("| a | b |\n| --- | :-: |\n| 1 | 2 |", "a   b\n1   2"),
            ("see [the page](https://a.test/x_(y) \"t\") now", "see the page now"),
            ("[![alt](https://a.test/i.png)](https://a.test/p) end", "end"),
            ("a [1] and \\[x\\](y) and `vec![0]`", "a [1] and [x](y) and vec![0]"),
            ("```rust\nlet a = b[0](c);\n# no heading\n```\nafter", "let a = b[0](c);\n# no heading\nafter"),
            ("snake_case and _this_ and 2 * 3 ~~gone~~", "snake_case and this and 2 * 3 gone"),
            (
                "<div align=\"center\">in</div> <https://b.test/> a < b &amp; c",
                "in https://b.test/ a < b & c",
            ),
            ("Title\n=====\n\n\n\ntext\n\n---\nmore", "Title\n\ntext\n\nmore"),
            ("[name]: https://x.test/\ntext [open", "text [open"),
            ("über\\*all 東京 [読む](https://j.test/)", "über*all 東京 読む"),
        ];
        for (markdown, words) in cases {
            assert_eq!(plain(markdown).text, words, "{markdown}");
        }
    }

    #[test]
    fn what_it_links_to_and_shows_is_known() {
        let markdown = "## A **B**\n[x](https://a.test/) [y](#part) [z](</rel>) [![cat [1]](http://a.test/c.png)](https://b.test/)";
        let read = plain(markdown);
        assert_eq!(read.headings, ["A B"]);
        assert_eq!(read.links, ["https://a.test/", "https://b.test/"]);
        assert_eq!(read.images, [("http://a.test/c.png".to_owned(), "cat [1]".to_owned())]);
    }

    #[test]
    fn hostile_markdown_costs_time_in_proportion() {
        let begun = std::time::Instant::now();
        for piece in
            ["[", "![", "](", "[a](", "`", "<a", "> ", "\\", "*", "[](b)", "``` ", "|", "&", "\u{1}["]
        {
            let text = piece.repeat(100_000 / piece.len());
            plain(&text);
            plain(&format!("{text}{}", "](x)".repeat(20_000)));
        }
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
