//! Numbers, names, strings and operators of a content stream. Few of them are wanted, so this is a small scanner
//! instead of a whole decoder.

use std::ops::{Deref, Range};

/// One content stream while it is scanned.
#[derive(Debug)]
pub(super) struct ContentTokens {
    content: Vec<u8>,
    position: usize,
}

pub(super) enum Token {
    Number(f32),
    Name(Vec<u8>),
    /// Where a string stands in the content, its marks included.
    Text(Range<usize>),
    Operator(Operator),
}

/// An operator; none that is known has more than three letters, so the rest of a longer word is cut off.
pub(super) struct Operator {
    word: [u8; 4],
    length: usize,
}

impl Deref for Operator {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.word[..self.length]
    }
}

impl Operator {
    fn new(bytes: &[u8]) -> Self {
        let mut word = [0; 4];
        let length = bytes.len().min(word.len());
        word[..length].copy_from_slice(&bytes[..length]);
        Self { word, length }
    }
}

impl ContentTokens {
    pub(super) fn new(content: Vec<u8>) -> Self {
        Self { content, position: 0 }
    }

    /// The content up to the last token that was read.
    pub(super) fn into_read(mut self) -> Vec<u8> {
        self.content.truncate(self.position);
        self.content
    }

    /// A part of the content, as far as it goes.
    pub(super) fn slice(&self, place: Range<usize>) -> &[u8] {
        self.content.get(place.start..place.end.min(self.content.len())).unwrap_or_default()
    }

    /// The bytes that a string stands for.
    pub(super) fn decode_text(&self, place: Range<usize>) -> Vec<u8> {
        match self.content.get(place) {
            Some([b'(', inner @ ..]) => decode_literal(inner.strip_suffix(b")").unwrap_or(inner)),
            Some([b'<', inner @ ..]) => decode_hexadecimal(inner),
            _ => Vec::new(),
        }
    }

    pub(super) fn skip_inline_image(&mut self) {
        let bytes = &self.content;
        let mut at = self.position;
        while at + 2 < bytes.len() {
            let ends = bytes[at..].starts_with(b"EI")
                && at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_whitespace())
                && bytes.get(at + 2).is_none_or(u8::is_ascii_whitespace);
            if ends {
                self.position = at + 2;
                return;
            }
            at += 1;
        }
        self.position = bytes.len();
    }

    pub(super) fn next_token(&mut self) -> Option<Token> {
        let bytes = &self.content;
        let mut at = self.position;
        loop {
            let byte = *bytes.get(at)?;
            match byte {
                b'%' => {
                    while at < bytes.len() && bytes[at] != b'\n' && bytes[at] != b'\r' {
                        at += 1;
                    }
                }
                b'(' => {
                    let from = at;
                    self.position = end_of_string(bytes, at);
                    return Some(Token::Text(from..self.position));
                }
                b'<' if bytes.get(at + 1) != Some(&b'<') => {
                    let from = at;
                    while at < bytes.len() && bytes[at] != b'>' {
                        at += 1;
                    }
                    self.position = (at + 1).min(bytes.len());
                    return Some(Token::Text(from..self.position));
                }
                // Two of them are the marks of a dictionary.
                b'<' => at += 2,
                b'/' => {
                    let from = at + 1;
                    at = from;
                    while at < bytes.len() && is_regular(bytes[at]) {
                        at += 1;
                    }
                    self.position = at;
                    return Some(Token::Name(bytes[from..at].to_vec()));
                }
                b'0'..=b'9' | b'+' | b'-' | b'.' => {
                    let from = at;
                    at += 1;
                    while at < bytes.len() && is_regular(bytes[at]) {
                        at += 1;
                    }
                    self.position = at;
                    return Some(Token::Number(parse_number(&bytes[from..at])));
                }
                _ if is_regular(byte) => {
                    let from = at;
                    while at < bytes.len() && is_regular(bytes[at]) {
                        at += 1;
                    }
                    self.position = at;
                    return Some(Token::Operator(Operator::new(&bytes[from..at])));
                }
                _ => at += 1,
            }
        }
    }
}

fn is_regular(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && byte != 0 && !b"()<>[]{}/%".contains(&byte)
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0usize, start);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn decode_literal(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            // A line that goes on.
            Some(b'\r') => drop(rest.next_if_eq(&b'\n')),
            Some(b'\n') | None => {}
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                }
                out.push(u8::try_from(code & 0xff).unwrap_or(0));
            }
            Some(other) => out.push(other),
        }
    }
    out
}

fn decode_hexadecimal(bytes: &[u8]) -> Vec<u8> {
    let digits = bytes.iter().filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.filter_map(|digit| u8::try_from(digit).ok()).collect();
    // A last digit without its pair counts as if a zero followed.
    digits.chunks(2).map(|pair| pair[0] * 16 + pair.get(1).copied().unwrap_or(0)).collect()
}

fn parse_number(bytes: &[u8]) -> f32 {
    let value = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<f32>().ok()).unwrap_or(0.0);
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{ContentTokens, Token};

    #[test]
    fn strings_are_decoded_from_both_forms() {
        let mut tokens = ContentTokens::new(b"(a\\(b\\051\\101\\\nc) <41 4> << /K (d) >> Tj".to_vec());
        let mut texts = Vec::new();
        while let Some(token) = tokens.next_token() {
            if let Token::Text(place) = token {
                texts.push(tokens.decode_text(place));
            }
        }
        assert_eq!(texts, [b"a(b)Ac".to_vec(), b"A@".to_vec(), b"d".to_vec()]);
    }
}
