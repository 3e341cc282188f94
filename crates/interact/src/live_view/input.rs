//! What a viewer may send.

use serde::{Deserialize, Serialize};

/// Something the viewer does.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ViewInput {
    /// The last frame was shown.
    Shown,
    ShowTab {
        id: String,
    },
    NewTab,
    CloseTab {
        id: String,
    },
    Navigate {
        url: String,
    },
    Back,
    Forward,
    Reload,
    Mouse {
        /// `mousePressed`, `mouseReleased` or `mouseMoved`.
        event: String,
        x: f64,
        y: f64,
        #[serde(default)]
        button: String,
        #[serde(default)]
        buttons: u32,
        #[serde(default)]
        clicks: u32,
        #[serde(default)]
        modifiers: u32,
    },
    Wheel {
        x: f64,
        y: f64,
        delta_x: f64,
        delta_y: f64,
        #[serde(default)]
        modifiers: u32,
    },
    Touch {
        event: String,
        points: Vec<TouchPoint>,
    },
    Key {
        /// `keyDown` or `keyUp`.
        event: String,
        key: String,
        code: String,
        key_code: u32,
        #[serde(default)]
        text: String,
        #[serde(default)]
        modifiers: u32,
    },
    Paste {
        text: String,
    },
    /// Text that an input method or the keyboard of a phone has finished.
    Text {
        text: String,
    },
    /// Text that an input method is still working on; empty when it was given up.
    Compose {
        text: String,
    },
    /// The answer to the dialog that is open.
    Dialog {
        accept: bool,
        text: Option<String>,
    },
    /// The options of the list that is open, by their numbers; none closes it.
    Choose {
        options: Option<Vec<usize>>,
    },
    /// Files that were sent for the page's choice of files, as their upload has named them; none closes it.
    Files {
        files: Vec<String>,
    },
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TouchPoint {
    x: f64,
    y: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_strictly() {
        let read = |text: &str| serde_json::from_str::<ViewInput>(text);
        assert!(matches!(read(r#"{"type":"shown"}"#), Ok(ViewInput::Shown)));
        let wheel = r#"{"type":"wheel","x":1,"y":2,"deltaX":0,"deltaY":-3}"#;
        assert!(matches!(read(wheel), Ok(ViewInput::Wheel { delta_y, .. }) if delta_y < 0.0));
        assert!(matches!(
            read(r#"{"type":"choose","options":[0,2]}"#),
            Ok(ViewInput::Choose { options: Some(_) })
        ));
        assert!(matches!(
            read(r#"{"type":"dialog","accept":true}"#),
            Ok(ViewInput::Dialog { text: None, .. })
        ));
        assert!(read(r#"{"type":"navigate","url":"x","more":1}"#).is_err());
        assert!(read(r#"{"type":"evaluate","script":"1"}"#).is_err());
    }
}
