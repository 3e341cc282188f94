//! Splits text into sentences, by rules that fit what the sentences are for.

use std::ops::Range;

/// What ends a sentence.
#[derive(Clone, Copy, Debug)]
pub struct SentenceRules {
    /// These marks end a sentence when white space follows.
    pub marks: &'static [char],
    /// These characters end a sentence whatever follows: line ends, marks of scripts without spaces.
    pub always: &'static [char],
    /// Quotation marks and brackets after a mark belong to its sentence.
    pub closing_quotes: bool,
    /// A mark before a word in lower case ends nothing.
    pub lower_case_continues: bool,
    /// Words whose full stop ends nothing.
    pub short_forms: ShortForms,
    /// What happens to a sentence without an end.
    pub too_long: TooLong,
}

/// Words whose full stop ends nothing.
#[derive(Clone, Copy, Debug)]
pub enum ShortForms {
    /// None: every mark counts.
    None,
    /// Initials, and the abbreviations of a list (without their last full stop); `of_any_mark` if a question
    /// or exclamation mark after them ends nothing either.
    Listed { words: &'static [&'static str], of_any_mark: bool },
    /// Every word of at most so many characters that is not a number: "Dr. Rae", "No. 5".
    UpTo(usize),
}

/// Where a long sentence is cut.
#[derive(Clone, Copy, Debug)]
pub enum TooLong {
    /// Nowhere: the caller has bounded the text.
    Whole,
    /// At the last space before so many bytes.
    CutBefore(usize),
    /// At the first space after so many bytes; without one, after twice as many.
    CutAfter(usize),
}

const CLOSING: [char; 8] = ['"', '\'', ')', ']', '”', '*', '_', '»'];

impl SentenceRules {
    /// A full stop, question or exclamation mark before a space: for abstracts.
    pub const PLAIN: Self = Self {
        marks: &['.', '?', '!'],
        always: &[],
        closing_quotes: false,
        lower_case_continues: false,
        short_forms: ShortForms::None,
        too_long: TooLong::Whole,
    };

    /// One line of a page without its markdown: a wrong cut would part a value from its name, so short words
    /// and lower case continue.
    pub const STATEMENTS: Self = Self {
        marks: &['.', '!', '?'],
        always: &['。'],
        closing_quotes: false,
        lower_case_continues: true,
        short_forms: ShortForms::UpTo(3),
        too_long: TooLong::Whole,
    };

    /// A paragraph of markdown, in passages of at most `max_bytes`.
    pub const fn paragraph(max_bytes: usize) -> Self {
        Self {
            marks: &['.', '!', '?'],
            always: &['。', '！', '？'],
            closing_quotes: true,
            lower_case_continues: true,
            short_forms: ShortForms::Listed {
                words: &[
                    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "etc", "no", "nr", "ca",
                    "z.b", "u.s", "fig", "approx", "inc",
                ],
                of_any_mark: false,
            },
            too_long: TooLong::CutBefore(max_bytes),
        }
    }

    /// Plain text of a page in any language, with its lines, in sentences of about `max_bytes` at most.
    pub const fn lines(max_bytes: usize) -> Self {
        Self {
            marks: &['.', '!', '?', '…', '؟', '।'],
            always: &['\n', '。', '！', '？'],
            closing_quotes: false,
            lower_case_continues: false,
            short_forms: ShortForms::Listed {
                words: &[
                    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "etc", "nr", "z.b", "bzw",
                    "fig", "inc", "approx",
                ],
                of_any_mark: true,
            },
            too_long: TooLong::CutAfter(max_bytes),
        }
    }

    /// The length of the first sentence of a text that does not begin with white space.
    fn first_end(&self, text: &str) -> usize {
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            match self.too_long {
                TooLong::CutBefore(max) if at > max => return text[..at].rfind(' ').unwrap_or(at),
                TooLong::CutAfter(max) if end >= max && (c.is_whitespace() || end >= max * 2) => return end,
                _ => {}
            }
            // Nearly all characters; no rule names one of them.
            if c.is_ascii_alphanumeric() || c == ' ' {
                continue;
            }
            if self.always.contains(&c) {
                return end;
            }
            if self.marks.contains(&c)
                && let Some(end) = self.end_after_mark(text, at, c)
            {
                return end;
            }
        }
        text.len()
    }

    /// The end of the sentence, if a mark ends it.
    fn end_after_mark(&self, text: &str, at: usize, mark: char) -> Option<usize> {
        let after = &text[at + mark.len_utf8()..];
        let rest = if self.closing_quotes { after.trim_start_matches(CLOSING) } else { after };
        if !rest.starts_with(char::is_whitespace)
            || (self.lower_case_continues && rest.trim_start().starts_with(char::is_lowercase))
            || self.short_forms.continues(&text[..at], mark)
        {
            return None;
        }
        Some(text.len() - rest.len())
    }
}

impl ShortForms {
    /// Whether the mark after `before` belongs to a short form.
    fn continues(&self, before: &str, mark: char) -> bool {
        match self {
            Self::None => false,
            Self::Listed { words, of_any_mark } => {
                let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
                let mut letters = word.chars();
                let initial = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
                (mark == '.' || *of_any_mark) && (initial || words.contains(&word.to_lowercase().as_str()))
            }
            Self::UpTo(characters) => {
                let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
                word.chars().nth(*characters).is_none() && !word.bytes().all(|byte| byte.is_ascii_digit())
            }
        }
    }
}

/// The sentences of a text in order, without the white space around them; linear in the text.
pub fn sentences<'a>(text: &'a str, rules: &SentenceRules) -> impl Iterator<Item = &'a str> + use<'a> {
    sentence_ranges(text, rules).map(move |range| &text[range])
}

/// Where the sentences of a text are.
pub fn sentence_ranges<'a>(
    text: &'a str,
    rules: &SentenceRules,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let rules = *rules;
    let mut from = 0;
    std::iter::from_fn(move || {
        from += text[from..].len() - text[from..].trim_start().len();
        let rest = &text[from..];
        if rest.is_empty() {
            return None;
        }
        let end = rules.first_end(rest);
        let range = from..from + rest[..end].trim_end().len();
        from += end;
        Some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split<'a>(text: &'a str, rules: &SentenceRules) -> Vec<&'a str> {
        sentences(text, rules).collect()
    }

    #[test]
    fn plain_sentences_end_before_a_space() {
        let found = split("First, 3.5 mg. Second? Third e.g.this. Tail", &SentenceRules::PLAIN);
        assert_eq!(found, ["First, 3.5 mg.", "Second?", "Third e.g.this.", "Tail"]);
        assert_eq!(split("", &SentenceRules::PLAIN), Vec::<&str>::new());
        assert_eq!(split("...", &SentenceRules::PLAIN), ["..."]);
    }

    #[test]
    fn lines_and_abbreviations() {
        let text = "Dr. Smith paid 3.50 e.g. in coins. He left!\nA new line\n\n東京。大阪。";
        assert_eq!(
            split(text, &SentenceRules::lines(320)),
            ["Dr. Smith paid 3.50 e.g. in coins.", "He left!", "A new line", "東京。", "大阪。"]
        );
        let endless = "x".repeat(100_000);
        assert!(split(&endless, &SentenceRules::lines(320)).iter().all(|sentence| sentence.len() <= 640));
        let spaced = "word ".repeat(1_000);
        assert!(split(&spaced, &SentenceRules::lines(320)).iter().all(|sentence| sentence.len() <= 325));
    }

    #[test]
    fn paragraphs_keep_their_quotes_and_are_cut_at_a_space() {
        let rules = SentenceRules::paragraph(40);
        assert_eq!(
            split("He said \"no.\" Then he left (St. Ives, J. Doe). ok, e.g. so. 東京。大阪", &rules),
            ["He said \"no.\"", "Then he left (St. Ives, J. Doe). ok,", "e.g. so.", "東京。", "大阪"]
        );
        assert!(split(&"word ".repeat(100), &rules).iter().all(|part| part.len() <= 40));
        assert!(split(&"x".repeat(100), &rules).iter().all(|part| part.len() <= 41));
    }

    #[test]
    fn statements_go_on_after_short_words() {
        assert_eq!(
            split("Dr. Rae lives at No. 5. Since 1887. It is so. the end.", &SentenceRules::STATEMENTS),
            ["Dr. Rae lives at No. 5.", "Since 1887.", "It is so. the end."]
        );
    }

    #[test]
    fn ranges_are_places_in_the_text() {
        let text = "  One. Two.";
        let ranges: Vec<_> = sentence_ranges(text, &SentenceRules::PLAIN).collect();
        assert_eq!(ranges, [2..6, 7..11]);
    }
}
