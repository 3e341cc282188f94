//! `redactPII`: what must not be told.

use text::redact::{Entity, EntitySet, RedactMode, RedactOptions, RedactStyle};
use wire::Issues;
use wire::scrape::{RedactInput, RedactObject};

pub fn resolve(asked: Option<&RedactInput>, issues: &mut Issues) -> Option<RedactOptions> {
    let default = RedactObject::default();
    let asked = match asked? {
        RedactInput::Plain(false) => return None,
        RedactInput::Plain(true) => &default,
        RedactInput::Object(object) => object.as_ref(),
    };
    let mode = match asked.mode.as_deref() {
        None | Some("accurate") => RedactMode::Accurate,
        Some("aggressive") => RedactMode::Aggressive,
        Some("fast") => RedactMode::Fast,
        Some(_) => {
            issues.add("redactPII.mode", "must be accurate, aggressive or fast", "invalid_value");
            RedactMode::Accurate
        }
    };
    let style = match asked.replace_style.as_deref() {
        None | Some("tag") => RedactStyle::Tag,
        Some("mask") => RedactStyle::Mask,
        Some("remove") => RedactStyle::Remove,
        Some(_) => {
            issues.add("redactPII.replaceStyle", "must be tag, mask or remove", "invalid_value");
            RedactStyle::Tag
        }
    };
    let entities = match &asked.entities {
        None => EntitySet::all(),
        Some(names) => names
            .iter()
            .filter_map(|name| {
                let entity = Entity::ALL.into_iter().find(|entity| entity.name() == name.as_str());
                if entity.is_none() {
                    let why = "must be PERSON, EMAIL, PHONE, LOCATION, FINANCIAL or SECRET";
                    issues.add("redactPII.entities", why, "invalid_value");
                }
                entity
            })
            .collect(),
    };
    Some(RedactOptions { mode, entities, style })
}
