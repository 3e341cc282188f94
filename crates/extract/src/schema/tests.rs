use super::*;
use budget::{OutOfBudget, WorkBudget};
use serde_json::{Map, json};
use std::time::{Duration, Instant};

fn parse_schema(schema: &Value) -> Schema {
    Schema::parse(schema).unwrap()
}

fn refusal(schema: &Value) -> SchemaError {
    Schema::parse(schema).unwrap_err()
}

#[test]
fn values_are_held_to_it_in_every_draft() {
    for draft in [
        None,
        Some("http://json-schema.org/draft-04/schema#"),
        Some("http://json-schema.org/draft-07/schema#"),
        Some("https://json-schema.org/draft/2019-09/schema"),
        Some("https://json-schema.org/draft/2020-12/schema"),
    ] {
        let mut schema = json!({"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}, "required": ["price"]});
        if let Some(draft) = draft {
            schema["$schema"] = json!(draft);
        }
        let schema = parse_schema(&schema);
        assert_eq!(schema.validate(&json!({"price": 3})), Ok(()));
        let wrong = schema.validate(&json!({"price": "3"})).unwrap_err();
        assert_eq!(wrong[0].pointer, "/price");
        assert!(wrong[0].message.contains("number"), "{}", wrong[0].message);
        assert!(schema.validate(&json!({})).is_err());
    }
}

#[test]
fn violations_are_few_and_short() {
    let schema = parse_schema(&json!({"type": "array", "items": {"type": "integer"}}));
    let long = "x".repeat(100_000);
    let wrong = schema.validate(&json!(vec![long; 1_000])).unwrap_err();
    assert!(wrong.len() <= MAX_VIOLATIONS);
    assert!(wrong.iter().all(|violation| violation.message.len() <= MAX_MESSAGE_BYTES + 4));
}

#[test]
fn what_is_no_schema_says_where() {
    for not in [json!(3), json!("object"), json!(null), json!([])] {
        assert!(matches!(refusal(&not), SchemaError::Invalid { .. }), "{not}");
    }
    let error = refusal(&json!({"type": "object", "properties": {"a": {"type": "strnig"}}}));
    assert!(error.to_string().contains("/properties/a/type"), "{error}");
    assert!(matches!(refusal(&json!({"pattern": "("})), SchemaError::Invalid { .. }));
}

#[test]
fn nothing_is_fetched() {
    let remote = refusal(&json!({"properties": {"a": {"$ref": "https://example.org/schema.json"}}}));
    assert_eq!(remote, SchemaError::Remote { reference: "https://example.org/schema.json".into() });
    assert!(matches!(refusal(&json!({"$ref": "file:///etc/passwd"})), SchemaError::Remote { .. }));
    assert!(matches!(refusal(&json!({"$ref": "#/$defs/none"})), SchemaError::Dangling { .. }));
    assert!(matches!(refusal(&json!({"$schema": "https://example.org/meta"})), SchemaError::Invalid { .. }));
}

#[test]
fn circles_that_end_are_fine() {
    let tree = parse_schema(&json!({
        "$defs": {"node": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "parent": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}},
        "$ref": "#/$defs/node"
    }));
    assert_eq!(tree.validate(&json!({"name": "a", "children": [{"name": "b"}]})), Ok(()));
    assert!(tree.validate(&json!({"name": "a", "children": [{"name": 1}]})).is_err());
    assert!(tree.shape().cut && tree.shape().fields.len() < 2_000);
    let mut deep = json!({"name": "leaf"});
    for _ in 0..60 {
        deep = json!({"name": "a", "children": [deep]});
    }
    assert_eq!(tree.validate(&deep).unwrap_err().len(), 1);
}

#[test]
fn circles_that_do_not_end_are_refused() {
    assert!(matches!(refusal(&json!({"$ref": "#"})), SchemaError::Endless { .. }));
    let around = json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    assert!(matches!(refusal(&around), SchemaError::Endless { .. }));
    // Two ways round: every level of a value would double the work.
    let double =
        json!({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]});
    assert!(matches!(refusal(&double), SchemaError::Endless { .. }));
}

#[test]
fn enormous_schemas_are_refused_at_once() {
    let many: serde_json::Map<String, Value> = (0..60_000).map(|at| (format!("f{at}"), json!({}))).collect();
    assert!(matches!(refusal(&json!({"properties": many})), SchemaError::TooLarge { .. }));
    let mut deep = json!({"type": "string"});
    for _ in 0..400 {
        deep = json!({"items": deep});
    }
    assert!(matches!(refusal(&deep), SchemaError::TooLarge { .. }));
    let chain: serde_json::Map<String, Value> = (0..5_000)
        .map(|at| (format!("d{at}"), json!({"items": {"$ref": format!("#/$defs/d{}", at + 1)}})))
        .collect();
    let mut chain = json!({"$defs": chain, "$ref": "#/$defs/d0"});
    chain["$defs"]["d5000"] = json!({"type": "string"});
    assert!(matches!(refusal(&chain), SchemaError::TooLarge { .. }));
    // Each level names the next one twice: two to the power of twenty ways.
    let doubled: serde_json::Map<String, Value> = (0..20)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({"allOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]}))
        })
        .collect();
    let mut doubled = json!({"$defs": doubled, "$ref": "#/$defs/d0"});
    doubled["$defs"]["d20"] = json!({"type": "string"});
    assert!(matches!(refusal(&doubled), SchemaError::TooLarge { .. }));
}

#[test]
fn the_longest_chains_that_pass_can_be_walked() {
    // As deep as is let through, in references and in the value: must not exhaust the stack of a thread.
    let mut schema = json!({"$defs": {}, "$ref": "#/$defs/d0"});
    for at in 0..20 {
        schema["$defs"][format!("d{at}")] = json!({"$ref": format!("#/$defs/d{}", at + 1)});
    }
    schema["$defs"]["d20"] = json!({"properties": {"a": {"$ref": "#/$defs/d0"}, "b": {"type": "string"}}});
    let schema = parse_schema(&schema);
    let mut value = json!({"b": 1});
    for _ in 0..30 {
        value = json!({"a": value});
    }
    assert!(schema.validate(&value).is_err());
}

#[test]
fn contradictions_are_told_where_they_bind() {
    for schema in [
        json!(false),
        json!({"type": "number", "minimum": 5, "maximum": 4}),
        json!({"type": "string", "enum": [1, 2]}),
        json!({"const": 1, "enum": [2]}),
        json!({"type": "object", "required": ["a"], "properties": {"b": {}}, "additionalProperties": false}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 3, "maxItems": 1}}}),
    ] {
        assert!(matches!(refusal(&schema), SchemaError::Contradictory { .. }), "{schema}");
    }
    parse_schema(
        &json!({"type": "object", "properties": {"a": {"type": "number", "minimum": 5, "maximum": 4}}}),
    );
}

#[test]
fn patterns_that_explode_end() {
    let schema = parse_schema(&json!({"type": "string", "pattern": "^(?=(a+)+$)(a|aa)+\\1$"}));
    let started = std::time::Instant::now();
    let _ = schema.validate(&json!("a".repeat(5_000) + "b"));
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn patterns_are_held_to_and_counted() {
    let schema =
        parse_schema(&json!({"type": "array", "items": {"type": "string", "pattern": "^(?!x)[a-z]+$"}}));
    assert_eq!(schema.validate(&json!(["gannet", 7])).unwrap_err()[0].pointer, "/1");
    let wrong = schema.validate(&json!(["gannet", "xeno"])).unwrap_err();
    assert_eq!((wrong.len(), wrong[0].pointer.as_str()), (1, "/1"));
    assert!(wrong[0].message.contains("does not match"), "{}", wrong[0].message);
    let slow = parse_schema(&json!({"items": {"pattern": "^(?=(a+)+$)(a|aa)+\\1$"}}));
    let many = json!(vec!["a".repeat(2_000) + "b"; 2_000]);
    let end = Instant::now() + Duration::from_millis(100);
    let out = WorkBudget::new(u64::MAX, Some(end)).run(|| slow.validate(&many).is_ok());
    assert_eq!(out, Err(OutOfBudget::Time));
}

#[test]
fn more_patterns_than_a_schema_needs_are_refused_soon() {
    let started = Instant::now();
    let large = |number: usize| json!({"type": "string", "pattern": format!("^(?:[a-z]?b?){{{}}}x$", 2_000 + number)});
    let fields: Map<String, Value> = (0..2_000).map(|number| (format!("f{number}"), large(number))).collect();
    assert!(matches!(refusal(&json!({"properties": fields})), SchemaError::Invalid { .. }));
    let names: Map<String, Value> = (0..101).map(|number| (format!("^p{number}"), json!({}))).collect();
    assert!(matches!(refusal(&json!({"patternProperties": names})), SchemaError::TooLarge { .. }));
    assert!(started.elapsed() < Duration::from_mins(2), "{:?}", started.elapsed());
    let date = json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"});
    let fields: Map<String, Value> = (0..500).map(|number| (format!("f{number}"), date.clone())).collect();
    parse_schema(&json!({"properties": fields}));
}

#[test]
fn a_shape_lists_what_is_wanted() {
    let schema = parse_schema(&json!({
        "type": "object",
        "required": ["name", "plans"],
        "$defs": {"money": {"type": "number", "description": "in euro"}},
        "properties": {
            "name": {"type": ["string", "null"], "title": "Name"},
            "name_citation": {"type": "string"},
            "founded": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "plans": {"type": "array", "items": {"type": "object", "properties": {
                "price": {"$ref": "#/$defs/money"}, "unit": {"enum": ["month", "year"]}}}},
            "tags": {"type": "array", "items": {"type": "string"}},
            "specs": {"type": "object", "additionalProperties": {"type": "string"}},
            "a/b": {"allOf": [{"type": "integer"}, {"description": "slashed"}]}
        }
    }));
    let shape = schema.shape();
    let field = |pointer: &str| shape.fields.iter().find(|field| field.pointer == pointer).unwrap();
    let at = |pointer: &str| shape.fields.iter().position(|field| field.pointer == pointer).unwrap();
    assert!(field("/name").nullable && field("/name").required && field("/name").kind == FieldKind::Text);
    assert_eq!(field("/name_citation").citation_of, Some(at("/name")));
    assert_eq!(field("/founded").format.as_deref(), Some("date"));
    assert!(field("/founded").nullable && field("/founded").kind == FieldKind::Text);
    assert_eq!(field("/plans/*/price").kind, FieldKind::Number);
    assert_eq!(field("/plans/*/price").description, "in euro");
    assert_eq!(field("/plans/*/unit").choices, [json!("month"), json!("year")]);
    assert!(shape.is_rows(at("/plans")) && !shape.is_rows(at("/tags")));
    assert_eq!(field("/tags/*").kind, FieldKind::Text);
    assert!(field("/specs").open);
    assert_eq!(field("/a~1b").kind, FieldKind::Integer);
    assert!(!shape.cut && shape.leaves().count() == 6);
}

#[test]
fn a_thousand_fields_fit() {
    let many: serde_json::Map<String, Value> =
        (0..1_000).map(|at| (format!("field{at}"), json!({"type": "string"}))).collect();
    let schema = parse_schema(&json!({"type": "object", "properties": many}));
    assert_eq!(schema.shape().fields.len(), 1_001);
}
