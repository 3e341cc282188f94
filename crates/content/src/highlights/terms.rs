//! Normalizes words: lower case, without common endings; pairs of characters in scripts without spaces.

/// Stop words of queries.
const COMMON_WORDS: &str = "a about above after again all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from \
    further had has have having he her here hers him his how i if in into is it its just me more most much must my no nor not now of off on once only or other our out over own please same she should \
    so some such tell than that the their them then there these they this those through to too under until up us very was we were what when where which while who whom whose why will with would you your \
    der die das ein eine einer einen und oder ist sind war wie was wer wann wo warum welche welcher welches für mit von zu im in den dem des auf nicht es sich kann können bei aus nach \
    le la les un une des et ou est sont que qui quoi quand où comment pourquoi quel quelle pour avec de du dans sur pas ne ce se en au aux \
    el los las una unos y o es son qué quién cuándo dónde cómo cuál para con del por no se su al il lo gli i che chi come quando dove perché per con di da a o os as um uma e ou é são quem quando onde como \
    para com do da dos das em no na";

/// The terms of a text in order.
pub(super) fn extract_terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut last_wide: Option<char> = None;
    for c in text.chars().chain(std::iter::once(' ')) {
        if is_wide(c) {
            push(&mut terms, &mut word);
            if let Some(last) = last_wide {
                terms.push([last, c].iter().collect());
            }
            last_wide = Some(c);
            continue;
        }
        last_wide = None;
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’') {
            push(&mut terms, &mut word);
        }
    }
    terms
}

fn push(terms: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        terms.push(stem(word));
        word.clear();
    }
}

/// Characters of scripts without spaces between words.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
}

/// Whether a word is a stop word.
pub(super) fn is_common(word: &str) -> bool {
    COMMON_WORDS.split_ascii_whitespace().any(|common| common == word)
}

/// A simple stemmer. Crude on purpose: both sides are stemmed alike.
pub(super) fn stem(word: &str) -> String {
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
