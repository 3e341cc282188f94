//! Sentences about forms: what is put into a field, chosen from a list, checked or uploaded.

use super::description::{Description, parse_description};
use super::secret::is_secret_name;
use super::tokens::Phrase;
use super::{NameList, ParsedStep, description};

/// Words that begin a description of a value rather than a value: "the total number of blocks".
const DESCRIBING: &[&str] = &[
    "the",
    "a",
    "an",
    "my",
    "your",
    "our",
    "their",
    "his",
    "her",
    "its",
    "it",
    "them",
    "this",
    "that",
    "these",
    "those",
    "some",
    "any",
    "whatever",
    "something",
    "anything",
    "each",
    "all",
    "every",
    "what",
];
/// Words before a quoted value, as in: the name "Ann".
const MAX_HINT_WORDS: usize = 4;

/// What a value was given as.
enum ParsedValue {
    Text(String),
    /// Only described; nothing is made up.
    Described,
}

pub(super) fn parse_form(part: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    if let Some(rest) = part.strip(&["fill in", "fill out", "fill", "set", "complete"]) {
        return parse_filled(rest);
    }
    if let Some(rest) = part.strip(&["clear", "empty"]) {
        return Some(vec![ParsedStep::Clear(parse_description(rest)?)]);
    }
    if let Some(rest) = part.strip(&["type in", "type", "enter", "write", "put", "input", "insert"]) {
        return parse_typed(rest);
    }
    if let Some(rest) = part.strip(&["select", "choose", "pick"]) {
        if rest.strip(&["the text in", "the text of"]).is_some() {
            return None;
        }
        return parse_selected(rest).map(|step| vec![step]);
    }
    for (starts, wanted) in [(["uncheck", "untick"], false), (["check", "tick"], true)] {
        if let Some(rest) = part.strip(&starts) {
            return Some(vec![ParsedStep::Check { boxes: parse_list(rest)?, wanted }]);
        }
    }
    if let Some(rest) = part.strip(&["upload", "attach"]) {
        let (file, field) = match rest.split_at_last(&["to", "into", "in", "as"]) {
            Some((file, field)) => (file, Some(parse_description(field)?)),
            None => (rest, None),
        };
        let file = file.strip(&["the file", "file"]).unwrap_or(file);
        let is_name = file.only_quoted().is_some() || file.len() == 1 && file.word(0).contains('.');
        return is_name.then(|| vec![ParsedStep::Upload { file: file.text(), field }]);
    }
    None
}

/// "Use the textbox to enter …".
pub(super) fn parse_fill_with(rest: Phrase<'_>, tool: Phrase<'_>) -> Option<ParsedStep> {
    let value = rest.strip(&["enter", "type", "write", "set", "select", "choose"])?;
    let field = parse_description(tool)?;
    match parse_value(value).0 {
        ParsedValue::Text(value) => Some(ParsedStep::Fill { field, value }),
        ParsedValue::Described => Some(ParsedStep::FillWithoutValue(field.phrase)),
    }
}

/// "name with Ann, email with a@b.example"
fn parse_filled(rest: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    let mut steps = Vec::new();
    let parts = split_pairs(rest);
    for part in &parts {
        let Some((field, value)) = part.split_at(&["with", "to", "as"]) else {
            // One field without a value is told, of several of them nothing is done.
            return (parts.len() == 1).then(|| vec![ParsedStep::FillWithoutValue(rest_name(rest))]);
        };
        let field = parse_description(field)?;
        steps.push(match parse_value(value).0 {
            ParsedValue::Text(value) => ParsedStep::Fill { field, value },
            ParsedValue::Described => ParsedStep::FillWithoutValue(field.phrase),
        });
    }
    Some(steps)
}

fn rest_name(rest: Phrase<'_>) -> String {
    parse_description(rest).map(|field| strip_noun(&field)).unwrap_or_default()
}

/// The name of a field without "field" or "box".
fn strip_noun(field: &Description) -> String {
    let named = field.readings.iter().find(|reading| reading.kind.is_some() && !reading.name.is_empty());
    named.map_or_else(|| field.phrase.clone(), |reading| reading.name.clone())
}

/// Takes a list of pairs apart where each part has its own "with".
fn split_pairs(rest: Phrase<'_>) -> Vec<Phrase<'_>> {
    let is_pair = |part: Phrase<'_>| part.split_at(&["with", "to", "as"]).is_some();
    let parts = split_list(rest);
    if parts.len() > 1 && parts.iter().all(|part| is_pair(*part)) { parts } else { vec![rest] }
}

/// Splits at commas and "and".
fn split_list(rest: Phrase<'_>) -> Vec<Phrase<'_>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 0..rest.len() {
        if rest.mark(at) == Some(',') || rest.word(at) == "and" {
            parts.push(rest.range(start, at));
            start = at + 1;
        }
    }
    parts.push(rest.from(start));
    parts.into_iter().map(Phrase::without_marks).filter(|part| !part.is_empty()).collect()
}

/// A value, with the words before it that say what it is.
fn parse_value(phrase: Phrase<'_>) -> (ParsedValue, Option<Description>) {
    let phrase = phrase.without_marks();
    if let Some(quoted) = phrase.only_quoted() {
        return (ParsedValue::Text(quoted.to_owned()), None);
    }
    let last = phrase.len().wrapping_sub(1);
    if let Some(quoted) = phrase.quoted(last)
        && last <= MAX_HINT_WORDS
        && (0..last).all(|at| phrase.quoted(at).is_none())
        && (0..last).all(|at| !["with", "like", "not", "or", "by", "than"].contains(&phrase.word(at)))
    {
        return (ParsedValue::Text(quoted.to_owned()), parse_description(phrase.to(last)));
    }
    let is_described = phrase.is_empty()
        || !phrase.is_capital(0) && DESCRIBING.contains(&phrase.word(0))
        || (0..phrase.len()).any(|at| phrase.quoted(at).is_some());
    if is_described {
        return (ParsedValue::Described, None);
    }
    (ParsedValue::Text(phrase.text()), None)
}

/// "Ann into the name field"
fn parse_typed(rest: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    // What stands behind a quoted value says how it is written and where it goes.
    let quoted_at = (0..rest.len()).find(|at| rest.quoted(*at).is_some());
    let (value, target) = match quoted_at {
        Some(at) if rest.len() > at + 1 => {
            if let Some(steps) = parse_credentials(rest) {
                return Some(steps);
            }
            (rest.to(at + 1), Some(rest.from(at + 1)))
        }
        Some(_) => (rest, None),
        None => match rest.split_at(&["into"]).or_else(|| rest.split_at_last(&["in", "as", "to"])) {
            Some((value, _)) => (value, Some(rest.from(value.len()))),
            None => (rest, None),
        },
    };
    let (case, target) = match target {
        Some(target) => strip_case(target),
        None => (Case::AsIs, None),
    };
    let (value, hint) = parse_value(value);
    let text = match value {
        ParsedValue::Text(text) => case.apply(&text),
        ParsedValue::Described => {
            let field = target.and_then(|target| parse_description(target.from(1)));
            let name = field.map_or_else(|| rest_name(rest), |field| strip_noun(&field));
            return Some(vec![ParsedStep::FillWithoutValue(name)]);
        }
    };
    let Some(target) = target else {
        // "enter password": a field without a value.
        if quoted_at.is_none() && is_secret_name(&text) {
            return Some(vec![ParsedStep::FillWithoutValue(text)]);
        }
        return Some(vec![ParsedStep::Type { value: text, hint }]);
    };
    let field = target.strip(&["into", "in", "as", "to", "for"])?;
    Some(vec![ParsedStep::Fill { field: parse_description(field)?, value: text }])
}

/// The username "ann" and the password "x" [into the text fields].
fn parse_credentials(rest: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    let list = match rest.split_at(&["into"]) {
        Some((list, fields))
            if fields.is(&["the text fields", "the fields", "the form", "the textboxes"]) =>
        {
            list
        }
        Some(_) => return None,
        None => rest,
    };
    let parts = split_list(list);
    if parts.len() < 2 {
        return None;
    }
    let step = |part: &Phrase<'_>| match parse_value(*part) {
        (ParsedValue::Text(value), Some(field)) => Some(ParsedStep::Fill { field, value }),
        _ => None,
    };
    parts.iter().map(step).collect()
}

#[derive(Clone, Copy)]
enum Case {
    AsIs,
    Upper,
    Lower,
}

impl Case {
    fn apply(self, text: &str) -> String {
        match self {
            Self::AsIs => text.to_owned(),
            Self::Upper => text.to_uppercase(),
            Self::Lower => text.to_lowercase(),
        }
    }
}

/// "in all upper case letters" before the field.
fn strip_case(target: Phrase<'_>) -> (Case, Option<Phrase<'_>>) {
    let Some(rest) = target.strip(&["in all", "in"]) else { return (Case::AsIs, Some(target)) };
    let cases: [(&[&str], Case); 2] = [
        (&["upper case", "uppercase", "capital", "capitals"], Case::Upper),
        (&["lower case", "lowercase", "small"], Case::Lower),
    ];
    for (words, case) in cases {
        if let Some(rest) = rest.strip(words) {
            let rest = rest.strip(&["letters", "characters"]).unwrap_or(rest);
            return (case, Some(rest).filter(|rest| !rest.is_empty()));
        }
    }
    (Case::AsIs, Some(target))
}

/// "Medium from the size list", "Red and Blue", "File > Open"
fn parse_selected(rest: Phrase<'_>) -> Option<ParsedStep> {
    let written = rest.text();
    if rest.only_quoted().is_none() && written.contains('>') {
        let path: Vec<String> = written.split('>').map(|part| part.trim().to_owned()).collect();
        return path.iter().all(|part| !part.is_empty()).then_some(ParsedStep::SelectPath(path));
    }
    let (values, list) = match rest.split_at_last(&["from", "with", "using", "in", "as", "for"]) {
        Some((values, list)) if !values.is_empty() => (values, Some(list)),
        _ => (rest, None),
    };
    let values = parse_list(values)?;
    if let Some(list) = list {
        let list = parse_description(list)?;
        // A slider and a spinner are set, not chosen from.
        let is_number = values.parts.len() == 1 && values.whole.phrase.parse::<f64>().is_ok();
        let is_set = |reading: &description::Reading| {
            use super::nouns::ElementKind::{Date, Slider, Spinner, Time};
            matches!(reading.kind, Some(Slider | Spinner | Date | Time))
        };
        let is_date = values.parts.len() == 1 && is_date(&values.whole.phrase);
        if is_date || is_number && list.readings.iter().any(is_set) {
            return Some(ParsedStep::Fill { value: values.whole.phrase.clone(), field: list });
        }
        return Some(ParsedStep::Select { values, list: Some(list) });
    }
    Some(ParsedStep::Select { values, list: None })
}

/// Names, which commas and "and" separate.
fn parse_list(rest: Phrase<'_>) -> Option<NameList> {
    let parts = split_list(rest).into_iter().map(parse_description).collect::<Option<_>>()?;
    Some(NameList { whole: parse_description(rest)?, parts })
}

/// "04/09/2026" and "9.4.2026"
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['/', '.', '-']).collect();
    parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}
