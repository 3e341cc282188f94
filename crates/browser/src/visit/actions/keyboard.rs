//! Keyboard input: pressing keys by name, and typing text.

use super::ActionError;
use crate::error::VisitError;
use crate::tab::Tab;
use serde_json::{Value, json};

/// Named keys: name, code on the keyboard, virtual key code, text.
const NAMED_KEYS: [(&str, &str, u16, &str); 30] = [
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

/// Other common names for the same keys.
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

/// Finds a key by its name or character.
fn find_key(name: &str) -> Option<Key> {
    let lower = name.to_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(name, |(_, name)| name);
    if let Some((name, code, number, text)) =
        NAMED_KEYS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
    {
        // The space bar is the one key whose `key` value is the text it writes.
        let key = if *name == "Space" { " " } else { name };
        return Some(Key { name: key.into(), code: (*code).into(), number: *number, text: (*text).into() });
    }
    if let Some(number @ 1..=24) = name.strip_prefix(['F', 'f']).and_then(|rest| rest.parse::<u16>().ok()) {
        let name = format!("F{number}");
        return Some(Key { name: name.clone(), code: name, number: 111 + number, text: String::new() });
    }
    let mut characters = name.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else { return None };
    Some(character_key(character))
}

/// The key that types a character.
fn character_key(character: char) -> Key {
    let upper = character.to_ascii_uppercase();
    let (code, number) = match upper {
        'A'..='Z' => (format!("Key{upper}"), upper as u16),
        '0'..='9' => (format!("Digit{upper}"), upper as u16),
        ' ' => ("Space".into(), 32),
        // Not on every keyboard: the character is enough.
        _ => (String::new(), 0),
    };
    Key { name: character.to_string(), code, number, text: character.to_string() }
}

/// Parses a key with modifiers, such as `Control+Shift+A`. A single `+` is the key of that name.
fn parse_chord(text: &str) -> Option<(Vec<Key>, Key)> {
    let text = text.trim();
    let (before, last) = match text.strip_suffix('+') {
        Some(rest) => (rest.strip_suffix('+').unwrap_or(rest), "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    let modifiers = before.split('+').filter(|part| !part.is_empty()).map(|part| find_key(part.trim()));
    let modifiers: Vec<Key> = modifiers.collect::<Option<_>>()?;
    let legal = modifiers.iter().all(|held| modifier_bit(&held.name) != 0);
    (legal && modifiers.len() <= 4).then_some((modifiers, find_key(last.trim()).or_else(|| find_key(last))?))
}

fn modifier_bit(key: &str) -> u8 {
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

/// Presses and releases a key.
pub(super) async fn press(tab: &Tab, name: &str) -> Result<(), ActionError> {
    let Some(events) = key_events(name) else {
        return Err(ActionError::Action(format!("unknown key {name:?}")));
    };
    send_events(tab, &events).await?;
    Ok(())
}

/// The parameters of `Input.dispatchKeyEvent` that press and release a key by its name, with its modifiers.
pub fn key_events(name: &str) -> Option<Vec<Value>> {
    let (held, key) = parse_chord(name)?;
    let mut modifiers = 0;
    let mut events = Vec::new();
    for held in &held {
        modifiers |= modifier_bit(&held.name);
        events.push(event("rawKeyDown", held, modifiers, ""));
    }
    // With a modifier other than Shift a key is a command and types no text.
    let text = if modifiers & !modifier_bit("Shift") == 0 { key.text.as_str() } else { "" };
    let upper = text.to_uppercase();
    let text = if modifiers == modifier_bit("Shift") { upper.as_str() } else { text };
    let mut down = event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, &key, modifiers, text);
    if modifiers == modifier_bit("Control") && key.name.eq_ignore_ascii_case("a") {
        // "Select all" is normally done by the browser window, which we do not have.
        down["commands"] = json!(["selectAll"]);
    }
    events.push(down);
    events.push(event("keyUp", &key, modifiers, ""));
    for held in held.iter().rev() {
        modifiers &= !modifier_bit(&held.name);
        events.push(event("keyUp", held, modifiers, ""));
    }
    Some(events)
}

/// Types a text character by character.
pub(super) async fn type_text(tab: &Tab, text: &str) -> Result<(), VisitError> {
    let mut events = Vec::new();
    for character in text.chars() {
        let key =
            if matches!(character, '\n' | '\r') { find_key("Enter") } else { Some(character_key(character)) };
        let Some(key) = key else { continue };
        events.push(event("keyDown", &key, 0, &key.text));
        events.push(event("keyUp", &key, 0, ""));
    }
    send_events(tab, &events).await
}

async fn send_events(tab: &Tab, events: &[Value]) -> Result<(), VisitError> {
    let responses: Vec<_> = events.iter().map(|event| tab.send("Input.dispatchKeyEvent", event)).collect();
    for response in responses {
        tab.wait_for(response).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<(Vec<String>, String)> {
        parse_chord(text).map(|(held, key)| (held.into_iter().map(|held| held.name).collect(), key.name))
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
        assert_eq!(character_key('a').code, "KeyA");
        assert_eq!(character_key('7').number, 55);
    }
}
