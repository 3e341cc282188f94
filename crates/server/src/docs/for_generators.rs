//! What generators of clients need of the OpenAPI document beyond what the declarations of the types say: lists of
//! values as `enum`, and fields that may be left out as fields that may be left out.

use serde_json::{Map, Value, json};
use wire::scrape::{Effect, SCRAPE_FIELDS};

/// Rewrites a document.
pub fn adapt(document: &mut Value) {
    name_values(document);
    name_plain_values(document);
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for schema in schemas.into_iter().flat_map(Map::values_mut) {
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        properties.into_iter().flat_map(Map::values_mut).for_each(describe_default);
    }
}

/// Patterns that only list values become enums, of which generators make types.
fn name_values(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_values),
        Value::Object(fields) => {
            if let Some(values) = fields.get("pattern").and_then(Value::as_str).and_then(listed_values) {
                fields.remove("pattern");
                restrict(fields, values);
            } else if let Some(values) =
                fields.get("description").and_then(Value::as_str).and_then(values_in_words)
            {
                // Of a parameter the words stand beside its schema, of a list beside its entries.
                let inner = ["schema", "items"]
                    .into_iter()
                    .find(|name| fields.get(*name).is_some_and(Value::is_object));
                let target = match inner {
                    Some(name) => fields.get_mut(name).and_then(Value::as_object_mut),
                    None => Some(&mut *fields),
                };
                if let Some(target) = target.filter(|target| is_free_text(target)) {
                    restrict(target, values);
                }
            }
            fields.values_mut().for_each(name_values);
        }
        _ => {}
    }
}

/// Types that are a name or an object: the names that count.
fn name_plain_values(document: &mut Value) {
    let formats = SCRAPE_FIELDS.iter().filter(|field| field.effect != Effect::Refused);
    let formats =
        formats.filter_map(|field| field.name.strip_prefix("formats: ")).filter(|name| !name.contains(' '));
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (schema, title, values) in [
        ("FormatAsked", "FormatName", formats.map(str::to_owned).collect()),
        ("ParserAsked", "ParserName", names(&["pdf", "image"])),
        ("SourceAsked", "SourceName", names(&["web", "news", "images", "alexandria"])),
    ] {
        let variants = document.pointer_mut(&format!("/components/schemas/{schema}/oneOf"));
        for variant in
            variants.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
        {
            if is_free_text(variant) {
                restrict(variant, values.clone());
                variant.insert("title".to_owned(), title.into());
            }
        }
    }
}

/// Leaves a text these values. One that may be null is written as a choice of two, of which generators make one type.
fn restrict(schema: &mut Map<String, Value>, values: Vec<String>) {
    let is_nullable =
        schema.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.contains(&json!("null")));
    if is_nullable {
        schema.remove("type");
        let choices = json!([{ "type": "string", "enum": values }, { "type": "null" }]);
        schema.insert("oneOf".to_owned(), choices);
    } else {
        schema.insert("enum".to_owned(), values.into());
    }
}

/// Whether a schema is that of any text.
fn is_free_text(schema: &Map<String, Value>) -> bool {
    let is_text = match schema.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == "string" || kind == "null"),
        _ => false,
    };
    is_text && ["enum", "pattern", "format"].iter().all(|name| !schema.contains_key(*name))
}

/// The values that a description begins with, as all of ours do whose field has a few: "`low`, `medium` or `high`; …".
fn values_in_words(description: &str) -> Option<Vec<String>> {
    let (mut values, mut rest) = (Vec::new(), description);
    loop {
        let (value, after) = rest.strip_prefix('`')?.split_once('`')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-@.".contains(c);
        if value.is_empty() || !value.chars().all(is_plain) {
            return None;
        }
        values.push(value.to_owned());
        rest = match ["; ", ". ", ", ", " or "].into_iter().find(|sign| after.starts_with(*sign)) {
            Some(sign @ (", " | " or ")) if after[sign.len()..].starts_with('`') => &after[sign.len()..],
            Some("; " | ". ") => break,
            None if ["", "."].contains(&after.trim_end()) => break,
            _ => return None,
        };
    }
    (values.len() > 1).then_some(values)
}

/// The values of a pattern such as `^(include|only|skip)$`.
fn listed_values(pattern: &str) -> Option<Vec<String>> {
    let listed = pattern.strip_prefix("^(")?.strip_suffix(")$")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "|_-@.".contains(c);
    listed.chars().all(is_plain).then(|| listed.split('|').map(str::to_owned).collect())
}

/// Some generators take a field with a default for one that is always there, also in requests. So the default stands in
/// words, and as `x-default`.
fn describe_default(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    let Some(default) = fields.remove("default") else { return };
    let shown = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
    let about = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let about = format!("{about} Default: `{shown}`.").trim().to_owned();
    fields.insert("description".to_owned(), about.into());
    fields.insert("x-default".to_owned(), default);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_values_are_enums_and_fields_with_defaults_may_be_left_out() {
        let mut document = json!({
            "paths": { "/x": { "get": { "parameters": [
                { "name": "status", "schema": { "type": ["string", "null"], "pattern": "^(same|new)$" } },
                { "name": "limit", "schema": { "type": "integer", "default": 25 } },
            ] } } },
            "components": { "schemas": { "Request": { "properties": {
                "sitemap": { "type": "string", "description": "How.", "default": "include", "pattern": "^(include|skip)$" },
                "day": { "type": "string", "pattern": "^[0-9]{4}$" },
            } } } },
        });
        adapt(&mut document);
        let parameters = &document["paths"]["/x"]["get"]["parameters"];
        let choices = json!([{ "type": "string", "enum": ["same", "new"] }, { "type": "null" }]);
        assert_eq!(parameters[0]["schema"]["oneOf"], choices);
        assert_eq!(parameters[1]["schema"]["default"], 25, "parameters are not taken for required");
        let listed = ["low", "high"].map(str::to_owned).to_vec();
        for words in ["`low` or `high`", "`low`, `high`; how many.", "`low` or `high`. Not together."] {
            assert_eq!(values_in_words(words), Some(listed.clone()), "{words}");
        }
        for words in [
            "`low`",
            "low or `high`",
            "`low`, high",
            "`a:1`, `b:2`.",
            "`low`, `high`: of these",
            "`low` and `high`",
            "`low` or",
            "",
        ] {
            assert_eq!(values_in_words(words), None, "{words}");
        }
        let fields = &document["components"]["schemas"]["Request"]["properties"];
        let sitemap = json!({
            "type": "string", "description": "How. Default: `include`.", "x-default": "include",
            "enum": ["include", "skip"],
        });
        assert_eq!((&fields["sitemap"], &fields["day"]["pattern"]), (&sitemap, &json!("^[0-9]{4}$")));
    }
}
