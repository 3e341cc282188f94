//! Sentences about the mouse, the keyboard, dialogs, and parts of the page that open.

use super::description::{parse_count, parse_description};
use super::tokens::Phrase;
use super::{HiddenParts, ParsedStep, PointerAction, parse_hidden_part};

const CLICKS: &[&str] = &["click on", "click", "tap on", "tap", "push", "choose to click", "press on"];
const DOUBLE_CLICKS: &[&str] = &["double-click on", "double-click", "double click on", "double click"];
const HOVERS: &[&str] = &[
    "hover over",
    "hover on",
    "hover",
    "mouse over",
    "move the mouse over",
    "move the mouse to",
    "move the pointer over",
    "point at",
];
const FOCUSES: &[&str] = &["focus into", "focus on", "focus", "put the cursor into", "put the cursor in"];
const KEYS: &[&str] =
    &["enter", "return", "tab", "escape", "esc", "space", "backspace", "delete", "home", "end", "insert"];
const DIALOGS: &[&str] = &[
    "dialog",
    "dialog box",
    "alert",
    "confirm",
    "confirmation",
    "prompt",
    "popup",
    "pop-up",
    "message",
    "question",
];
const MAX_TIMES: usize = 100;

pub(super) fn parse_pointer(part: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    if let Some(step) = parse_dialog(part) {
        return Some(vec![step]);
    }
    if let Some(steps) = parse_hidden(part) {
        return Some(steps);
    }
    if let Some(rest) = part.strip(&["press", "hit"]) {
        return parse_press(rest).map(|step| vec![step]);
    }
    if let Some(rest) = part.strip(&["drag"]) {
        let (from, to) = rest.split_at_last(&["onto", "into", "to", "over"])?;
        return Some(vec![ParsedStep::Drag { from: parse_description(from)?, to: parse_description(to)? }]);
    }
    if let Some(rest) = part.strip(&["copy"]) {
        let (what, target) = rest.split_at(&["from", "in", "of", "inside"])?;
        let is_text = what.is(&["the text", "text", "the content", "the value", "the contents"]);
        return Some(vec![ParsedStep::Copy(parse_description(target).filter(|_| is_text)?)]);
    }
    if let Some(rest) = part.strip(&["highlight", "select the text", "mark"]) {
        let rest = rest.strip(&["the text"]).unwrap_or(rest);
        let target = rest.strip(&["in", "of", "inside"])?;
        return Some(vec![ParsedStep::Highlight(parse_description(target)?)]);
    }
    if let Some(rest) = part.strip(&["paste"]) {
        let rest = rest.strip(&["it", "the text", "that", "this text"]).unwrap_or(rest);
        return Some(vec![ParsedStep::Paste(parse_description(rest.strip(&["into", "in", "to"])?)?)]);
    }
    for (starts, how) in [
        (DOUBLE_CLICKS, PointerAction::DoubleClick),
        (CLICKS, PointerAction::Click),
        (HOVERS, PointerAction::Hover),
        (FOCUSES, PointerAction::Focus),
    ] {
        if let Some(rest) = part.strip(starts) {
            if how == PointerAction::Click && rest.is(&["submit", "the submit button"]) {
                return Some(vec![ParsedStep::Submit]);
            }
            return parse_pointed(rest, how).map(|step| vec![step]);
        }
    }
    // "accept all cookies", "close the banner": what is named may be a button. The whole sentence is its name, or what is
    // accepted is.
    let is_button = ["accept", "dismiss", "cancel", "confirm", "close"].contains(&part.word(0));
    if is_button {
        if let Some((_, button)) =
            part.split_at(&["by clicking on", "by clicking", "by pressing", "with the button"])
        {
            let container = part.from(1).split_at(&["by"])?.0;
            let mut steps: Vec<ParsedStep> =
                super::parse_scope(container).into_iter().map(ParsedStep::Scope).collect();
            steps.push(parse_pointed(button, PointerAction::Click)?);
            return Some(steps);
        }
        let target = parse_description(part)?;
        return Some(vec![ParsedStep::Point { how: PointerAction::Click, target, times: 1 }]);
    }
    None
}

fn parse_pointed(rest: Phrase<'_>, how: PointerAction) -> Option<ParsedStep> {
    let (rest, times) = strip_times(rest);
    let rest = rest.strip_end(&["again"]).filter(|rest| !rest.is_empty()).unwrap_or(rest);
    Some(ParsedStep::Point { how, target: parse_description(rest)?, times })
}

/// "twice", "three times", "5 times" at the end.
pub(super) fn strip_times(phrase: Phrase<'_>) -> (Phrase<'_>, u32) {
    let phrase = phrase.without_marks();
    if let Some(rest) = phrase.strip_end(&["twice"]) {
        return (rest, 2);
    }
    if let Some(rest) = phrase.strip_end(&["once"]) {
        return (rest, 1);
    }
    let counted = phrase.strip_end(&["times"]).filter(|rest| !rest.is_empty());
    let number = counted.and_then(|rest| Some((rest, parse_count(rest.last_word())?)));
    match number.filter(|(_, number)| *number <= MAX_TIMES) {
        Some((rest, number)) => (rest.to(rest.len() - 1), u32::try_from(number).unwrap_or(1)),
        None => (phrase, 1),
    }
}

fn parse_press(rest: Phrase<'_>) -> Option<ParsedStep> {
    let (rest, times) = strip_times(rest);
    let bare = rest.strip(&["the"]).unwrap_or(rest);
    let key = bare.strip_end(&["key"]).unwrap_or(bare);
    let lower = key.text().to_lowercase();
    let is_named = KEYS.contains(&lower.as_str()) || lower.starts_with("arrow") || lower.starts_with("page");
    let is_combination = lower.len() > 1 && lower.contains('+') && !lower.contains(' ');
    if key.len() == 1 && key.only_quoted().is_none() && (is_named || is_combination) {
        return Some(ParsedStep::Press { key: key.text(), times });
    }
    if rest.is(&["submit", "the submit button"]) {
        return Some(ParsedStep::Submit);
    }
    Some(ParsedStep::Point { how: PointerAction::Click, target: parse_description(rest)?, times })
}

fn parse_dialog(part: Phrase<'_>) -> Option<ParsedStep> {
    let accepts = match part.word(0) {
        "accept" | "confirm" => true,
        "dismiss" | "cancel" => false,
        "answer" => part.len() > 2,
        _ => return None,
    };
    let (what, text) = match part.from(1).split_at(&["with"]) {
        Some((what, text)) => (what, Some(text.text())),
        None => (part.from(1), None),
    };
    let bare = what.strip(&["the", "this", "that"]).unwrap_or(what);
    let bare = bare.strip(&["javascript"]).unwrap_or(bare);
    let is_dialog = bare.is(DIALOGS) || (what.is_empty() || what.is(&["it"])) && text.is_none();
    is_dialog.then_some(ParsedStep::Dialog { accepts, text })
}

fn parse_hidden(part: Phrase<'_>) -> Option<Vec<ParsedStep>> {
    const LOOKS: &[&str] = &[
        "switch between",
        "switch through",
        "look through",
        "go through",
        "navigate through",
        "look behind",
        "look in",
    ];
    if let Some(rest) = part.strip(LOOKS) {
        return parse_hidden_part(rest).map(|parts| vec![ParsedStep::Explore(parts)]);
    }
    if let Some(rest) = part.strip(&["switch to", "change to"]) {
        let target = parse_description(rest)?;
        return Some(vec![ParsedStep::Point { how: PointerAction::Click, target, times: 1 }]);
    }
    for (starts, wanted) in [(["expand", "unfold"], true), (["collapse", "fold"], false)] {
        let Some(rest) = part.strip(&starts) else { continue };
        if rest.strip_end(&["to find"]).is_some() {
            return parse_hidden_part(rest).map(|parts| vec![ParsedStep::Explore(parts)]);
        }
        if parse_hidden_part(rest) == Some(HiddenParts::Tree) {
            return None;
        }
        return Some(vec![ParsedStep::Expand { target: parse_description(rest)?, wanted }]);
    }
    None
}
