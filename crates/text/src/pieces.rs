//! Splits text into words.

/// A part of a text: a word, or a run of characters of a script without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPiece<'a> {
    pub text: &'a str,
    /// Its start in the whole text, in bytes.
    pub from: usize,
    pub wide: bool,
}

/// The pieces of a text in order.
#[inline]
pub fn pieces(text: &str) -> TextPieces<'_> {
    TextPieces { text, at: 0 }
}

/// See [`pieces`].
#[derive(Clone, Debug)]
pub struct TextPieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = TextPiece<'a>;

    #[inline]
    fn next(&mut self) -> Option<TextPiece<'a>> {
        // Fast path: most text is ASCII and can be read byte by byte.
        let bytes = self.text.as_bytes();
        let mut from = self.at;
        while bytes.get(from).is_some_and(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()) {
            from += 1;
        }
        let rest = &self.text[from..];
        let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if plain > 0 && rest.as_bytes().get(plain).is_none_or(u8::is_ascii) {
            let len = plain + suffix(&rest[..plain], &rest[plain..]);
            self.at = from + len;
            return Some(TextPiece { text: &rest[..len], from, wide: false });
        }
        self.next_of_any_script(from)
    }
}

impl<'a> TextPieces<'a> {
    fn next_of_any_script(&mut self, from: usize) -> Option<TextPiece<'a>> {
        let rest = &self.text[from..];
        let Some((skipped, first)) = rest.char_indices().find(|&(_, c)| c.is_alphanumeric() || is_wide(c))
        else {
            self.at = self.text.len();
            return None;
        };
        let from = from + skipped;
        let wide = is_wide(first);
        let rest = &self.text[from..];
        let inside =
            |c: char| if wide { is_wide(c) } else { (c.is_alphanumeric() && !is_wide(c)) || is_mark(c) };
        let mut len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        if !wide {
            len += suffix(&rest[..len], &rest[len..]);
        }
        self.at = from + len;
        Some(TextPiece { text: &rest[..len], from, wide })
    }
}

/// Length of signs that belong to a short name: `C++`, `C#`, `F#`.
fn suffix(word: &str, after: &str) -> usize {
    if word.len() > 2 {
        return 0;
    }
    let len = if after.starts_with("++") {
        2
    } else if after.starts_with('#') {
        1
    } else {
        return 0;
    };
    if after[len..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '+' | '#')) { 0 } else { len }
}

/// Combining marks and joiners that belong to the word around them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{981}'..='\u{983}' | '\u{9bc}'..='\u{9cd}' | '\u{b82}' | '\u{bbe}'..='\u{bcd}'
        | '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// Characters of scripts without spaces between words (and Korean, whose words take many endings).
#[inline]
pub fn is_wide(c: char) -> bool {
    c >= '\u{e00}'
        && matches!(c,
            '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e80}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
            | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3134f}')
}

/// Chinese characters, which can be words by themselves.
#[inline]
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        pieces(text).map(|piece| piece.text).collect()
    }

    #[test]
    fn splits_words_of_many_scripts() {
        assert_eq!(
            words("Don't use C++, C# or node.js!"),
            ["Don", "t", "use", "C++", "C#", "or", "node", "js"]
        );
        assert_eq!(words("snake_case a+b  —"), ["snake", "case", "a", "b"]);
        assert_eq!(words("東京タワー、高さ333m"), ["東京タワー", "高さ", "333m"]);
        assert_eq!(words("cafe\u{301} हिन्दी"), ["cafe\u{301}", "हिन्दी"]);
        assert_eq!(words("\u{0}\u{7} ... "), Vec::<&str>::new());
    }
}
