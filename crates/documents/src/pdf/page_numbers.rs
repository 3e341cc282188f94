//! Page numbers as they are written at the edges of pages.

/// Words that stand before a page number, in lower case.
const PAGE_WORDS: [&str; 22] = [
    "page",
    "p",
    "pg",
    "seite",
    "s",
    "página",
    "pagina",
    "pág",
    "pag",
    "side",
    "sida",
    "sivu",
    "strona",
    "str",
    "strana",
    "stran",
    "sayfa",
    "oldal",
    "страница",
    "стр",
    "第",
    "trang",
];
/// Between the number of the page and the number of all pages, in lower case.
const OF_WORDS: [&str; 11] =
    [" of ", " von ", " de ", " di ", " van ", " av ", " af ", " z ", " sur ", " из ", "/"];
/// What stands around a number for its looks.
const ORNAMENTS: [char; 12] = ['-', '–', '—', '|', '[', ']', '(', ')', '·', '•', ' ', '\u{a0}'];
const MAX_DIGITS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageNumber {
    pub(super) value: u32,
    /// More than a number: `Page 3`, `3 of 9`.
    pub(super) is_named: bool,
}

/// `12`, `- 3 -`, `xiv`, `Page 4 of 20`, `5 / 9`, `7-45`, `A-2`. `None` for a text that holds anything else.
pub(super) fn parse_page_number(text: &str) -> Option<PageNumber> {
    let text = text.trim_matches(ORNAMENTS);
    let (rest, mut is_named) = match strip_page_word(text) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let lower = rest.to_lowercase();
    for word in OF_WORDS {
        if let Some((page, total)) = lower.split_once(word) {
            let (value, total) = (number(page.trim())?, number(total.trim())?);
            is_named |= word != "/";
            return (value <= total).then_some(PageNumber { value, is_named });
        }
    }
    // A capital that stands alone is a heading of an index, and only here and there a roman number.
    let roman = || if is_named { roman_number(&lower) } else { roman_number(rest) };
    let value = number(rest).or_else(roman).or_else(|| chaptered(rest))?;
    Some(PageNumber { value, is_named })
}

fn strip_page_word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_word = PAGE_WORDS.contains(&word.to_lowercase().as_str());
    let rest = rest.trim_start_matches(['.', ':', ' ', '\u{a0}']).trim_end_matches(['页', '頁']).trim_end();
    (is_word && !rest.is_empty()).then_some(rest)
}

fn number(text: &str) -> Option<u32> {
    let is_number = (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The page behind the number or the letter of its chapter.
fn chaptered(text: &str) -> Option<u32> {
    let (chapter, page) = text.split_once(['-', '–'])?;
    let is_chapter = number(chapter).is_some() || chapter.chars().all(char::is_alphabetic);
    (is_chapter && (1..=2).contains(&chapter.chars().count())).then(|| number(page)).flatten()
}

/// Small letters only, and only as a number is written: `ill` is a word.
fn roman_number(text: &str) -> Option<u32> {
    const NUMERALS: [(&str, u32); 9] =
        [("c", 100), ("xc", 90), ("l", 50), ("xl", 40), ("x", 10), ("ix", 9), ("v", 5), ("iv", 4), ("i", 1)];
    let (mut rest, mut value) = (text, 0);
    for (numeral, worth) in NUMERALS {
        let most = if numeral.len() == 1 && !matches!(numeral, "v" | "l") { 3 } else { 1 };
        for _ in 0..most {
            let Some(after) = rest.strip_prefix(numeral) else { break };
            rest = after;
            value += worth;
        }
    }
    (rest.is_empty() && value > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::parse_page_number;

    fn value(text: &str) -> Option<u32> {
        parse_page_number(text).map(|number| number.value)
    }

    #[test]
    fn page_numbers_have_many_forms() {
        let forms = [
            ("12", 12),
            ("- 3 -", 3),
            ("xiv", 14),
            ("Page 4 of 20", 4),
            ("5 / 9", 5),
            ("7-45", 45),
            ("A-2", 2),
            ("Seite 3 von 10", 3),
            ("p. 7", 7),
            ("Page XL", 40),
            ("第3页", 3),
        ];
        for (text, page) in forms {
            assert_eq!(value(text), Some(page), "{text}");
        }
    }

    #[test]
    fn words_headings_and_amounts_are_no_page_numbers() {
        let others =
            ["Chapter 3", "2,400", "12345", "Total", "2.40", "C", "ill", "civil", "9 of 3", "Page", "", "-"];
        for text in others {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
