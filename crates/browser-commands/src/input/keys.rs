//! The keys of a keyboard, as the browser wants to hear of them.

pub(super) const ALT: u32 = 1;
pub(super) const CONTROL: u32 = 2;
pub(super) const META: u32 = 4;
pub(super) const SHIFT: u32 = 8;

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) code: String,
    pub(super) number: u32,
    /// What it writes.
    pub(super) text: Option<String>,
}

/// Keys that write nothing of their own: name, code, number.
const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "Enter", 13),
    ("Tab", "Tab", 9),
    ("Escape", "Escape", 27),
    ("Backspace", "Backspace", 8),
    ("Delete", "Delete", 46),
    ("Insert", "Insert", 45),
    ("ArrowLeft", "ArrowLeft", 37),
    ("ArrowUp", "ArrowUp", 38),
    ("ArrowRight", "ArrowRight", 39),
    ("ArrowDown", "ArrowDown", 40),
    ("Home", "Home", 36),
    ("End", "End", 35),
    ("PageUp", "PageUp", 33),
    ("PageDown", "PageDown", 34),
    ("Shift", "ShiftLeft", 16),
    ("Control", "ControlLeft", 17),
    ("Alt", "AltLeft", 18),
    ("Meta", "MetaLeft", 91),
    ("CapsLock", "CapsLock", 20),
    ("ContextMenu", "ContextMenu", 93),
];

/// Other words for the same keys.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("return", "Enter"),
    ("esc", "Escape"),
    ("del", "Delete"),
    ("ctrl", "Control"),
    ("controlormeta", "Control"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("option", "Alt"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("space", " "),
];

/// Signs of a US keyboard: the sign, the same key with shift, its code and its number.
const SIGNS: &[(char, char, &str, u32)] = &[
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
];

impl Key {
    pub(super) fn parse(typed: &str) -> Option<Self> {
        let lower = typed.to_lowercase();
        let name = OTHER_NAMES.iter().find(|(other, _)| *other == lower).map_or(typed, |(_, name)| name);
        let mut characters = name.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            return Self::from_character(character).or_else(|| {
                let text = Some(character.to_string());
                Some(Self { name: character.to_string(), code: String::new(), number: 0, text })
            });
        }
        if let Some(number) = lower.strip_prefix('f').and_then(|number| number.parse::<u32>().ok())
            && (1..=12).contains(&number)
        {
            let name = format!("F{number}");
            return Some(Self { code: name.clone(), name, number: 111 + number, text: None });
        }
        let found = NAMED.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name));
        let (name, code, number) = found?;
        let text = (*name == "Enter").then(|| "\r".to_owned());
        Some(Self { name: (*name).to_owned(), code: (*code).to_owned(), number: *number, text })
    }

    /// The key that writes a character; `None` when no key of a US keyboard does.
    pub(super) fn from_character(character: char) -> Option<Self> {
        let (code, number) = match character {
            'a'..='z' | 'A'..='Z' => {
                let upper = character.to_ascii_uppercase();
                (format!("Key{upper}"), u32::from(upper))
            }
            '0'..='9' => (format!("Digit{character}"), u32::from(character)),
            ' ' => ("Space".to_owned(), 32),
            '\n' | '\r' => return Self::parse("Enter"),
            '\t' => return Self::parse("Tab"),
            _ => {
                let sign = |(plain, shifted, _, _): &&(char, char, &str, u32)| {
                    *plain == character || *shifted == character
                };
                let (_, _, code, number) = SIGNS.iter().find(sign)?;
                ((*code).to_owned(), *number)
            }
        };
        Some(Self { name: character.to_string(), code, number, text: Some(character.to_string()) })
    }

    pub(super) fn modifier_bit(&self) -> u32 {
        match self.name.as_str() {
            "Alt" => ALT,
            "Control" => CONTROL,
            "Meta" => META,
            "Shift" => SHIFT,
            _ => 0,
        }
    }
}

/// A key with the modifiers that are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) modifiers: Vec<Key>,
    pub(super) key: Key,
}

impl Combination {
    pub(super) fn parse(typed: &str) -> Result<Self, String> {
        let unknown = || {
            let names: Vec<&str> = NAMED.iter().map(|(name, _, _)| *name).collect();
            format!("Unknown key: {typed}\nKeys: single characters, Space, F1 to F12, {}", names.join(", "))
        };
        let (held, last) = match typed.strip_suffix('+') {
            // The last key is the plus sign itself.
            Some(held) => (held.trim_end_matches('+'), "+"),
            None => typed.rsplit_once('+').unwrap_or(("", typed)),
        };
        let mut key = Key::parse(last).ok_or_else(unknown)?;
        let mut modifiers = Vec::new();
        for name in held.split('+').filter(|name| !name.is_empty()).take(4) {
            let modifier = Key::parse(name).filter(|key| key.modifier_bit() != 0).ok_or_else(unknown)?;
            modifiers.push(modifier);
        }
        if modifiers.iter().any(|modifier| modifier.name == "Shift") && key.name.len() == 1 {
            key.name = key.name.to_uppercase();
            key.text = key.text.map(|text| text.to_uppercase());
        }
        Ok(Self { modifiers, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_read() {
        let parse = |typed: &str| Combination::parse(typed).unwrap();
        assert_eq!(parse("Control+a").key.code, "KeyA");
        assert_eq!(parse("Control+a").modifiers[0].modifier_bit(), CONTROL);
        assert_eq!(parse("enter").key.text.as_deref(), Some("\r"));
        assert_eq!(parse("Shift+a").key.text.as_deref(), Some("A"));
        assert_eq!(parse("+").key.code, "Equal");
        assert_eq!(parse("Control++").modifiers.len(), 1);
        assert_eq!(parse("F5").key.number, 116);
        assert_eq!(parse("é").key.text.as_deref(), Some("é"));
        assert!(Combination::parse("Hyper+x").unwrap_err().contains("ArrowLeft"));
        assert!(Combination::parse("").is_err());
    }
}
