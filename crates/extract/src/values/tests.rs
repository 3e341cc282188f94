use super::*;
use crate::words::NameWords;
use crate::{Schema, values};
use html::dom::{Dom, Limits};
use serde_json::json;

fn read_as(schema: &Value, name: &str, text: &str, link: Option<&str>) -> Option<Value> {
    let schema = Schema::parse(schema).unwrap();
    let field = schema.shape().root().clone();
    let url = url::Url::parse("https://shop.example/a/b").unwrap();
    let base = Base::from_dom(&Dom::parse("", &Limits::default()), Some(&url));
    let locale = PageLocale { base: &base, decimal_comma: false, month_first: false };
    let role = ValueRole::for_field(&field, &NameWords::from_name(name));
    values::parse_value(&field, role, FoundText { text, machine: None, link }, &locale)
        .map(|(value, _)| value)
}

#[test]
fn numbers_as_people_write_them() {
    for (text, comma, value) in [
        ("12,480", false, 12480.0),
        ("22.05", false, 22.05),
        ("1.205,50 €", true, 1205.5),
        ("119,90 €", true, 119.9),
        ("119,90 €", false, 119.9),
        ("1.205", true, 1205.0),
        ("1.205", false, 1.205),
        ("12 480 km", false, 12480.0),
        ("−29", false, -29.0),
        ("£6.4 million", false, 6_400_000.0),
        ("CHF 1'250.-", false, 1250.0),
        ("1,620円(税込)", false, 1620.0),
        ("27 (3 x 9)", false, 27.0),
    ] {
        assert_eq!(
            number::find_numbers(text, comma, 3).first().map(|number| number.value),
            Some(value),
            "{text}"
        );
    }
    assert_eq!(
        number::find_numbers("3-5 days", false, 3).iter().map(|number| number.value).collect::<Vec<_>>(),
        [3.0, 5.0]
    );
    assert!(number::find_numbers("192.168.0.1 v1.2.3", false, 9).is_empty());
    assert!(number::find_numbers("B12", false, 9).is_empty());
}

#[test]
fn dates_in_several_languages() {
    for text in [
        "14 December 2026",
        "Mon, 14th of December, 2026 at noon",
        "December 14, 2026",
        "Dec. 14 2026",
        "14. Dezember 2026",
        "14 décembre 2026",
        "14 de diciembre de 2026",
        "14.12.2026",
        "14/12/2026",
        "2026年12月14日",
        "2026-12-14T10:00:00Z",
        "posted 2026/12/14",
    ] {
        assert_eq!(date::find_iso_date(text, false, false).as_deref(), Some("2026-12-14"), "{text}");
    }
    assert_eq!(date::find_iso_date("12/14/2026", true, false).as_deref(), Some("2026-12-14"));
    assert_eq!(
        date::find_iso_date("5 December 2026, 7:30 pm", false, true).as_deref(),
        Some("2026-12-05T19:30:00")
    );
    assert_eq!(
        date::find_iso_date("2026-12-05T19:30:00+01:00", false, true).as_deref(),
        Some("2026-12-05T19:30:00+01:00")
    );
    for text in ["December", "14 marketing 2026", "14.13.20", "", "call 555 0100", "99 December 2026"] {
        assert_eq!(date::find_iso_date(text, false, false), None, "{text}");
    }
    assert_eq!(date::find_year("Founded in 1931 by"), Some(1931));
}

#[test]
fn texts_become_what_is_wanted() {
    let text = json!({"type": "string"});
    assert_eq!(read_as(&text, "website", "corvid", Some("/go")), Some(json!("https://shop.example/go")));
    assert_eq!(
        read_as(&text, "email", "Write to office@wharf.example.", None),
        Some(json!("office@wharf.example"))
    );
    assert_eq!(read_as(&text, "email", "no address", None), None);
    assert_eq!(
        read_as(&text, "phone", "Tel: +44 131 496 0101 (office)", None),
        Some(json!("+44 131 496 0101"))
    );
    assert_eq!(read_as(&text, "phone", "on 14.12.2026", None), None);
    assert_eq!(read_as(&json!({"type": "boolean"}), "garden", "Yes", None), Some(json!(true)));
    assert_eq!(
        read_as(&json!({"type": "boolean"}), "in_stock", "https://schema.org/OutOfStock", None),
        Some(json!(false))
    );
    assert_eq!(read_as(&json!({"type": "boolean"}), "garden", "Nothing is said", None), None);
    assert_eq!(
        read_as(&json!({"enum": ["InStock", "OutOfStock"]}), "availability", "Out of stock", None),
        Some(json!("OutOfStock"))
    );
    assert_eq!(read_as(&json!({"type": "integer"}), "gears", "2.5", None), None);
    assert_eq!(read_as(&json!({"type": "integer"}), "founded", "on 3 May 1931", None), Some(json!(1931)));
    assert_eq!(read_as(&json!({"type": "number"}), "price", "2 for $3.50", None), Some(json!(3.5)));
    assert_eq!(read_as(&text, "currency", "from €3", None), Some(json!("EUR")));
}
