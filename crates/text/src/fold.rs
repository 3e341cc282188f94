//! Lower-casing and removal of accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Lower-cases a word, as stemmers expect it.
#[inline]
pub fn lower(word: &str, into: &mut String) {
    into.clear();
    if word.is_ascii() {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        into.extend(word.chars().flat_map(char::to_lowercase).filter(|c| !is_invisible(*c)).nfc());
    }
}

/// Removes what writers often omit from a lower-case word: accents, ligatures, vowel points. Marks that are
/// letters stay.
#[inline]
pub fn fold(lower: &str, into: &mut String) {
    into.clear();
    if lower.is_ascii() {
        into.push_str(lower);
        return;
    }
    for c in lower.chars() {
        match c {
            'ß' => into.push_str("ss"),
            'æ' => into.push_str("ae"),
            'œ' => into.push_str("oe"),
            'ø' => into.push('o'),
            'đ' | 'ð' => into.push('d'),
            'ł' => into.push('l'),
            'ı' => into.push('i'),
            'þ' => into.push_str("th"),
            c if c.is_ascii() => into.push(c),
            // Korean syllables and Japanese sound marks distinguish words, so they stay.
            '\u{3040}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' => {
                into.extend([c].into_iter().nfkc().flat_map(char::to_lowercase));
            }
            c => into.extend([c].into_iter().nfkd().filter(|c| !is_accent(*c))),
        }
    }
}

fn is_accent(c: char) -> bool {
    is_combining_mark(c)
        && matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// Soft hyphens, joiners, and the Arabic tatweel.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{640}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let (mut lowered, mut plain) = (String::new(), String::new());
        lower(word, &mut lowered);
        fold(&lowered, &mut plain);
        plain
    }

    #[test]
    fn accents_and_case_are_folded() {
        for (word, plain) in [
            ("Straße", "strasse"),
            ("ÉTÉ", "ete"),
            ("Ｆｕｌｌ", "full"),
            ("ﾃｽﾄ", "テスト"),
            ("がぎ", "がぎ"),
            ("한국", "한국"),
            ("ЁЛКА", "елка"),
            ("مُحَمَّد", "محمد"),
            ("İstanbul", "istanbul"),
            ("हिन्दी", "हिन्दी"),
            ("Łódź", "lodz"),
        ] {
            assert_eq!(folded(word), plain);
        }
    }
}
