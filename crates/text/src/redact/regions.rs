//! Where in a markdown text things are not prose: code and addresses.

use memchr::memmem;

/// Ranges of code and of addresses, each in order.
#[derive(Debug, Default)]
pub(super) struct Regions {
    code: Vec<(usize, usize)>,
    addresses: Vec<(usize, usize)>,
}

impl Regions {
    pub(super) fn find(text: &str) -> Self {
        Self { code: code(text), addresses: addresses(text) }
    }

    /// Whether a place lies in code.
    pub(super) fn in_code(&self, at: usize) -> bool {
        inside(&self.code, at)
    }

    /// Whether a place lies in an address.
    pub(super) fn in_address(&self, at: usize) -> bool {
        inside(&self.addresses, at)
    }
}

fn inside(ranges: &[(usize, usize)], at: usize) -> bool {
    let next = ranges.partition_point(|&(start, _)| start <= at);
    next > 0 && at < ranges[next - 1].1
}

/// Fenced blocks, and spans between backticks on one line.
fn code(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut fence: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start_matches([' ', '>', '\t']);
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some((open, start)), Some(mark)) if open == mark => {
                ranges.push((start, at + line.len()));
                fence = None;
            }
            (None, Some(mark)) => fence = Some((mark, at)),
            (None, None) => spans(line, at, &mut ranges),
            _ => {}
        }
        at += line.len();
    }
    if let Some((_, start)) = fence {
        ranges.push((start, text.len()));
    }
    ranges
}

fn spans(line: &str, offset: usize, ranges: &mut Vec<(usize, usize)>) {
    let mut open: Option<usize> = None;
    for at in memchr::memchr_iter(b'`', line.as_bytes()) {
        match open.take() {
            Some(start) => ranges.push((offset + start, offset + at + 1)),
            None => open = Some(at),
        }
    }
}

/// Web addresses and the destinations of links.
fn addresses(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let until = |start: usize| {
        let stop = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b'>' | b'"' | b'|' | b']');
        bytes[start..].iter().position(stop).map_or(bytes.len(), |len| start + len)
    };
    let schemes = memmem::find_iter(bytes, "://").map(|at| {
        let scheme =
            bytes[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        at - scheme
    });
    let destinations = memmem::find_iter(bytes, "](").map(|at| at + 2);
    let mut starts: Vec<usize> = schemes.chain(destinations).collect();
    starts.sort_unstable();
    for start in starts {
        // An address inside one already known adds nothing, and looking for its end again would not be
        // linear.
        if ranges.last().is_none_or(|last| start >= last.1) {
            ranges.push((start, until(start)));
        }
    }
    ranges
}
