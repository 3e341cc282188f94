//! The keyboard: keys by their names, and text as if it were typed.

use super::Failed;
use crate::error::VisitError;
use crate::tab::Tab;
use serde_json::{Value, json};

/// Keys with a name: how they are called, their code on the keyboard, their number, the text they make.
const NAMED: [(&str, &str, u16, &str); 30] = [
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, ""),
    ("Escape", "Escape", 27, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("Insert", "Insert", 45, ""),
    ("Space", "Space", 32, " "),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    ("Shift", "ShiftLeft", 16, ""),
    ("Control", "ControlLeft", 17, ""),
    ("Alt", "AltLeft", 18, ""),
    ("Meta", "MetaLeft", 91, ""),
    ("CapsLock", "CapsLock", 20, ""),
    ("Pause", "Pause", 19, ""),
    ("ContextMenu", "ContextMenu", 93, ""),
    ("NumLock", "NumLock", 144, ""),
    ("ScrollLock", "ScrollLock", 145, ""),
    ("PrintScreen", "PrintScreen", 44, ""),
    ("Clear", "NumLock", 12, ""),
    ("Help", "Help", 47, ""),
    ("Select", "Select", 41, ""),
    ("Cancel", "Abort", 3, ""),
    ("Convert", "Convert", 28, ""),
];

/// Other words people use for the same keys.
const ALIASES: [(&str, &str); 12] = [
    ("return", "Enter"),
    ("esc", "Escape"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("del", "Delete"),
    ("ctrl", "Control"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("option", "Alt"),
    ("spacebar", "Space"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    name: String,
    code: String,
    number: u16,
    text: String,
}

/// What a key is, by its name or its character.
fn key(name: &str) -> Option<Key> {
    let lower = name.to_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(name, |(_, name)| name);
    if let Some((name, code, number, text)) =
        NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
    {
        // The space bar is the one key that is called by what it writes.
        let key = if *name == "Space" { " " } else { name };
        return Some(Key { name: key.into(), code: (*code).into(), number: *number, text: (*text).into() });
    }
    if let Some(number @ 1..=24) = name.strip_prefix(['F', 'f']).and_then(|rest| rest.parse::<u16>().ok()) {
        let name = format!("F{number}");
        return Some(Key { name: name.clone(), code: name, number: 111 + number, text: String::new() });
    }
    let mut characters = name.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else { return None };
    Some(typed(character))
}

/// The key that writes a character.
fn typed(character: char) -> Key {
    let upper = character.to_ascii_uppercase();
    let (code, number) = match upper {
        'A'..='Z' => (format!("Key{upper}"), upper as u16),
        '0'..='9' => (format!("Digit{upper}"), upper as u16),
        ' ' => ("Space".into(), 32),
        // Without a place on every keyboard: the character says it all.
        _ => (String::new(), 0),
    };
    Key { name: character.to_string(), code, number, text: character.to_string() }
}

/// A key with the modifiers before it: `Control+Shift+A`. A lone `+` is the key of that name.
fn chord(text: &str) -> Option<(Vec<Key>, Key)> {
    let text = text.trim();
    let (before, last) = match text.strip_suffix('+') {
        Some(rest) => (rest.strip_suffix('+').unwrap_or(rest), "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    let modifiers = before.split('+').filter(|part| !part.is_empty()).map(|part| key(part.trim()));
    let modifiers: Vec<Key> = modifiers.collect::<Option<_>>()?;
    let legal = modifiers.iter().all(|held| bit(&held.name) != 0);
    (legal && modifiers.len() <= 4).then_some((modifiers, key(last.trim()).or_else(|| key(last))?))
}

fn bit(key: &str) -> u8 {
    match key {
        "Alt" => 1,
        "Control" => 2,
        "Meta" => 4,
        "Shift" => 8,
        _ => 0,
    }
}

fn event(kind: &str, key: &Key, modifiers: u8, text: &str) -> Value {
    json!({
        "type": kind, "key": key.name, "code": key.code, "windowsVirtualKeyCode": key.number,
        "modifiers": modifiers, "text": text, "unmodifiedText": text,
    })
}

/// Presses a key and lets it go.
pub(super) async fn press(tab: &Tab, name: &str) -> Result<(), Failed> {
    let Some((held, key)) = chord(name) else {
        return Err(Failed::Step(format!("there is no key {name:?}")));
    };
    let mut modifiers = 0;
    let mut events = Vec::new();
    for held in &held {
        modifiers |= bit(&held.name);
        events.push(event("rawKeyDown", held, modifiers, ""));
    }
    // With a modifier other than Shift a key is a command, not a text.
    let text = if modifiers & !bit("Shift") == 0 { key.text.as_str() } else { "" };
    let upper = text.to_uppercase();
    let text = if modifiers == bit("Shift") { upper.as_str() } else { text };
    let mut down = event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, &key, modifiers, text);
    if modifiers == bit("Control") && key.name.eq_ignore_ascii_case("a") {
        // Selecting everything is done by the program around the page, which we do not have.
        down["commands"] = json!(["selectAll"]);
    }
    events.push(down);
    events.push(event("keyUp", &key, modifiers, ""));
    for held in held.iter().rev() {
        modifiers &= !bit(&held.name);
        events.push(event("keyUp", held, modifiers, ""));
    }
    send(tab, &events).await?;
    Ok(())
}

/// Types a text, character by character.
pub(super) async fn type_text(tab: &Tab, text: &str) -> Result<(), VisitError> {
    let mut events = Vec::new();
    for character in text.chars() {
        let key = if matches!(character, '\n' | '\r') { key("Enter") } else { Some(typed(character)) };
        let Some(key) = key else { continue };
        events.push(event("keyDown", &key, 0, &key.text));
        events.push(event("keyUp", &key, 0, ""));
    }
    send(tab, &events).await
}

async fn send(tab: &Tab, events: &[Value]) -> Result<(), VisitError> {
    let replies: Vec<_> = events.iter().map(|event| tab.send("Input.dispatchKeyEvent", event)).collect();
    for reply in replies {
        tab.answer(reply).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<(Vec<String>, String)> {
        chord(text).map(|(held, key)| (held.into_iter().map(|held| held.name).collect(), key.name))
    }

    #[test]
    fn keys_are_known_by_name_by_alias_and_by_character() {
        for (text, wanted) in [
            ("Enter", "Enter"),
            ("enter", "Enter"),
            ("Return", "Enter"),
            ("ESC", "Escape"),
            ("Down", "ArrowDown"),
            ("F5", "F5"),
            ("f", "f"),
            ("a", "a"),
            ("Z", "Z"),
            ("é", "é"),
            ("+", "+"),
            ("Space", " "),
        ] {
            assert_eq!(names(text), Some((Vec::new(), wanted.into())), "{text}");
        }
        for text in ["", "Entre", "F25", "a+b", "ab", "Control+"] {
            assert!(names(text).is_none() || text == "Control+", "{text}");
        }
    }

    #[test]
    fn modifiers_stand_before_their_key() {
        let held = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(names("Control+Shift+A"), Some((held(&["Control", "Shift"]), "A".into())));
        assert_eq!(names("ctrl + Enter"), Some((held(&["Control"]), "Enter".into())));
        assert_eq!(names("Control++"), Some((held(&["Control"]), "+".into())));
        assert_eq!(typed('a').code, "KeyA");
        assert_eq!(typed('7').number, 55);
    }
}
