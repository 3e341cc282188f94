//! `--action`: one action of a scrape, as `TYPE:VALUE` or as the API takes it.

use wire::scrape::ActionInput;

const FORMS: &str = "wait:MS, wait:SELECTOR, click:SELECTOR, write:TEXT, press:KEY, scroll:up or scroll:down, \
                     executeJavascript:CODE, scrape, screenshot, pdf, or a JSON object";

pub fn parse_action(text: &str) -> Result<ActionInput, String> {
    let text = text.trim();
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("is not an action in JSON: {error}"));
    }
    let (kind, value) = text.split_once(':').map_or((text, None), |(kind, value)| (kind, Some(value)));
    let mut action = ActionInput { kind: Some(kind.to_owned()), ..ActionInput::default() };
    let value = value.map(str::to_owned);
    match (kind, value) {
        ("wait", Some(value)) => match value.trim().parse() {
            Ok(milliseconds) => action.milliseconds = Some(milliseconds),
            Err(_) => action.selector = Some(value),
        },
        ("click", Some(selector)) => action.selector = Some(selector),
        ("write", Some(text)) => action.text = Some(text),
        ("press", Some(key)) => action.key = Some(key),
        ("scroll", direction) => action.direction = Some(direction.unwrap_or_else(|| "down".to_owned())),
        ("executeJavascript", Some(script)) => action.script = Some(script),
        ("scrape" | "screenshot" | "pdf", None) => {}
        _ => return Err(format!("must be {FORMS}")),
    }
    Ok(action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_words_with_a_value_or_json() {
        assert_eq!(parse_action("wait:500").unwrap().milliseconds, Some(500));
        assert_eq!(parse_action("wait:#late").unwrap().selector.as_deref(), Some("#late"));
        assert_eq!(parse_action("click:a:nth-child(2)").unwrap().selector.as_deref(), Some("a:nth-child(2)"));
        assert_eq!(parse_action("write:a: b").unwrap().text.as_deref(), Some("a: b"));
        assert_eq!(parse_action("scroll").unwrap().direction.as_deref(), Some("down"));
        let json = parse_action(r##"{"type":"click","selector":"#a","all":true}"##).unwrap();
        assert_eq!((json.selector.as_deref(), json.all), (Some("#a"), Some(true)));
        for wrong in ["click", "hover:#a", "{\"type\":", "scrape:x"] {
            assert!(parse_action(wrong).is_err(), "{wrong}");
        }
    }
}
