//! Stems of words by their endings, for words whose language is not known. Three rules, from careful to
//! crude; [`crate::Language::stem`] is for texts whose language is known.

/// The singular of an English noun in lower case, for names that are compared; other words stay unchanged.
pub fn singular(word: &str) -> String {
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|stem| stem.len() >= least);
    if let Some(stem) = cut("ies", 2) {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match cut("s", 3) {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// Endings by their last letter in the order they are tried, with the minimum length of the rest.
fn endings(last: u8) -> &'static [(&'static [u8], usize)] {
    match last {
        b'c' => &[(b"ic", 4)],
        b'd' => &[(b"ated", 4), (b"ed", 4)],
        b'e' => &[(b"ate", 4), (b"ive", 4), (b"e", 3)],
        b'g' => &[(b"ating", 4), (b"ing", 4)],
        b'l' => &[(b"ational", 4), (b"al", 4)],
        b'n' => &[(b"ization", 4), (b"isation", 4), (b"ation", 4), (b"ion", 4)],
        b'r' => &[(b"ator", 4), (b"er", 4), (b"or", 5)],
        b's' => &[(b"ness", 4)],
        b't' => &[(b"ment", 4)],
        b'y' => &[(b"ingly", 4), (b"edly", 4), (b"ally", 4), (b"ity", 4), (b"ly", 4), (b"y", 3)],
        _ => &[],
    }
}

/// The stem of an English word in lower case, a part of the word. Words with digits are names and stay
/// unchanged, as do words with other letters than those of ASCII. The research index stores these stems.
#[inline]
pub fn english(word: &[u8]) -> &[u8] {
    if word.len() <= 3 || !word.iter().all(u8::is_ascii_lowercase) {
        return word;
    }
    let mut stem = word;
    if stem.len() > 4 && stem.ends_with(b"ies") {
        // "studies" and "study" must have the same stem; the "y" is removed below.
        stem = &stem[..stem.len() - 3];
    } else if stem.ends_with(b"sses") {
        stem = &stem[..stem.len() - 2];
    } else if stem.ends_with(b"s")
        && !(stem.ends_with(b"ss") || stem.ends_with(b"us") || stem.ends_with(b"is"))
    {
        stem = &stem[..stem.len() - 1];
    }
    let ending = stem.last().and_then(|last| {
        endings(*last)
            .iter()
            .find(|(ending, least)| stem.len() >= ending.len() + least && stem.ends_with(ending))
    });
    if let Some((ending, _)) = ending {
        stem = &stem[..stem.len() - ending.len()];
        let last = stem[stem.len() - 1];
        if stem.len() > 3 && last == stem[stem.len() - 2] && !matches!(last, b'l' | b's') {
            stem = &stem[..stem.len() - 1];
        }
        if stem.len() > 4 {
            // "studied" leaves "studi" and "studying" leaves "study".
            stem = stem
                .strip_suffix(b"e")
                .or(stem.strip_suffix(b"i"))
                .or(stem.strip_suffix(b"y"))
                .unwrap_or(stem);
        }
    }
    stem
}

/// The stem of a word of a question or of a text that may answer it, in whatever European language. Crude on
/// purpose: both sides are stemmed alike, and a match too many does little harm.
pub fn crude(word: &str) -> String {
    let len = word.chars().count();
    if len <= 3 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return word.to_owned();
    }
    for (ending, instead, least) in [
        ("ies", "y", 5),
        ("ization", "ize", 9),
        ("isation", "ise", 9),
        ("ations", "ate", 8),
        ("ation", "ate", 8),
        ("ments", "", 8),
        ("ment", "", 8),
        ("ings", "", 7),
        ("ing", "", 6),
        ("edly", "", 7),
        ("ed", "", 5),
        ("ly", "", 6),
        ("es", "", 5),
        ("s", "", 4),
        ("en", "", 6),
        ("er", "", 6),
        ("e", "", 5),
        ("n", "", 7),
    ] {
        if len >= least
            && let Some(start) = word.strip_suffix(ending)
            && !start.ends_with('s')
        {
            let cut = [start, instead].concat();
            // "planned" and "plan", "running" and "run".
            let mut chars = cut.chars().rev();
            let doubled = matches!((chars.next(), chars.next()), (Some(one), Some(other)) if one == other && !"aeiouls".contains(one));
            return if doubled {
                cut[..cut.len() - 1].to_owned()
            } else {
                cut.trim_end_matches('e').to_owned()
            };
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_an_english_word_share_a_stem() {
        for (one, other) in [
            ("studied", "studying"),
            ("imaging", "images"),
            ("bodies", "body"),
            ("running", "runs"),
            ("regulation", "regulates"),
            ("installation", "installs"),
        ] {
            assert_eq!(english(one.as_bytes()), english(other.as_bytes()), "{one} {other}");
        }
        for word in ["virus", "cd4", "größen", "is", ""] {
            assert_eq!(english(word.as_bytes()), word.as_bytes());
        }
    }

    #[test]
    fn plurals_become_singular() {
        for (plural, single) in [
            ("companies", "company"),
            ("boxes", "box"),
            ("classes", "class"),
            ("jobs", "job"),
            ("status", "status"),
            ("gas", "gas"),
        ] {
            assert_eq!(singular(plural), single);
        }
    }

    #[test]
    fn crude_stems_meet_across_forms() {
        for (one, other) in [("planned", "planning"), ("prices", "price"), ("karten", "karte")] {
            assert_eq!(crude(one), crude(other), "{one} {other}");
        }
        assert_eq!(crude("3000s"), "3000s");
    }
}
