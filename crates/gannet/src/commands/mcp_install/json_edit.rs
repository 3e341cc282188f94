//! Puts one entry into a JSON file and leaves every other byte as it is: order, spaces and line ends of a
//! file that belongs to its user.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::ops::Range;

/// The text with `section.name = entry`. The result is parsed again and compared before it is given back.
pub fn with_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String> {
    if text.trim().is_empty() {
        let all = json!({ section: { name: entry } });
        return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
    }
    let before: Value =
        serde_json::from_str(text).context("it is not plain JSON (comments are not understood)")?;
    let mut wanted = before.clone();
    let Value::Object(root) = &mut wanted else { bail!("it is not a JSON object") };
    let servers = root.entry(section).or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else { bail!("{section} is not an object") };
    if servers.insert(name.to_owned(), entry.clone()).as_ref() == Some(entry) {
        return Ok(text.to_owned());
    }
    let start = text.find('{').context("it is not a JSON object")?;
    let changed = match member(text, start, section)? {
        None => insert(text, start, section, &json!({ name: entry }), 1)?,
        Some(servers) => match member(text, servers.start, name)? {
            None => insert(text, servers.start, name, entry, 2)?,
            Some(old) => {
                let new = indented(entry, 2)?;
                format!("{}{new}{}", &text[..old.start], &text[old.end..])
            }
        },
    };
    let read: Value = serde_json::from_str(&changed).context("the changed file would not be valid JSON")?;
    ensure!(read == wanted, "the entry cannot be added without changing other parts");
    Ok(changed)
}

/// Adds a member at the beginning of the object that opens at `start`.
fn insert(text: &str, start: usize, name: &str, value: &Value, level: usize) -> Result<String> {
    let rest = &text[start + 1..];
    let space = "  ".repeat(level);
    let (comma, end) = if rest.trim_start().starts_with('}') {
        ("", format!("\n{}", "  ".repeat(level - 1)))
    } else {
        (",", String::new())
    };
    // What follows a comma stays where it was.
    let rest = if comma.is_empty() { rest.trim_start() } else { rest };
    let added = format!("\n{space}{}: {}{comma}{end}", json!(name), indented(value, level)?);
    Ok(format!("{}{added}{rest}", &text[..=start]))
}

fn indented(value: &Value, level: usize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(text.replace('\n', &format!("\n{}", "  ".repeat(level))))
}

/// Where the value of a member is in the object that opens at `start`. The text is known to be valid JSON.
/// The last one counts where a name is there twice, as for parsers.
fn member(text: &str, start: usize, name: &str) -> Result<Option<Range<usize>>> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut found) = (start + 1, 0_usize, None);
    // The name of the member that the scan is in, and where its value begins.
    let (mut key, mut value_start): (Option<String>, Option<usize>) = (None, None);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at).context("a string without an end")?;
                if depth == 0 && value_start.is_none() && key.is_none() {
                    key = Some(serde_json::from_str(&text[at..end])?);
                } else if depth == 0 && value_start.is_none() {
                    value_start = Some(at);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                if depth == 0 && value_start.is_none() {
                    value_start = Some(at);
                }
                depth += 1;
            }
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => {
                if let (Some(key), Some(value)) = (key.take(), value_start.take())
                    && key == name
                {
                    let end = value + text[value..at].trim_end().len();
                    found = Some(value..end);
                }
                if *byte == b'}' {
                    return Ok(found);
                }
            }
            // A number, true, false or null.
            byte if depth == 0
                && value_start.is_none()
                && (byte.is_ascii_alphanumeric() || *byte == b'-') =>
            {
                value_start = Some(at);
            }
            _ => {}
        }
        at += 1;
    }
    bail!("an object without an end")
}

/// The place behind the closing quote.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str) -> Result<Value> {
        let entry = json!({ "command": "gannet", "args": ["mcp"] });
        let changed = with_entry(text, "mcpServers", "gannet", &entry)?;
        assert_eq!(
            with_entry(&changed, "mcpServers", "gannet", &entry)?,
            changed,
            "a second time changes nothing"
        );
        let value: Value = serde_json::from_str(&changed)?;
        assert_eq!(value["mcpServers"]["gannet"], entry, "{changed}");
        Ok(json!({ "text": changed, "value": value }))
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            "",
            "{}",
            "{ }\n",
            "{\"z\": 1, \"a\": [1, {\"mcpServers\": {}}]}",
            "{\n\t\"mcpServers\": {},\n\t\"b\": \"}{\\\"\"\n}",
            "{\"mcpServers\":{\"other\":{\"command\":\"x\",\"args\":[\"}\"]}},\"n\":null}",
            "{\"mcpServers\":{\"gannet\":{\"command\":\"old\"},\"z\":1}}",
            "{\"mcpServers\":{\"a\":1,\"gannet\": false }}",
        ] {
            let made = changed(text).unwrap();
            let mut value = made["value"].clone();
            let servers = value["mcpServers"].as_object_mut().unwrap();
            servers.remove("gannet");
            let mut before: Value = serde_json::from_str(text).unwrap_or_else(|_| json!({}));
            if let Some(servers) = before.get_mut("mcpServers").and_then(Value::as_object_mut) {
                servers.remove("gannet");
            } else {
                before["mcpServers"] = json!({});
            }
            assert_eq!(value, before, "{text}");
        }
        let made = changed("{\"z\": 1,\n   \"a\": 2}").unwrap();
        assert!(made["text"].as_str().unwrap().ends_with("\"z\": 1,\n   \"a\": 2}"), "{made}");
    }

    #[test]
    fn what_cannot_be_parsed_is_left_alone() {
        for text in ["// mine\n{}", "{", "[]", "5", "{\"mcpServers\": []}", "{\"a\": 1,}"] {
            assert!(with_entry(text, "mcpServers", "gannet", &json!({})).is_err(), "{text}");
        }
    }
}
