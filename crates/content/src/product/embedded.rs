//! Variants that shop software embeds for its own scripts: a JSON list of variants in a script element, or in the data
//! attribute of the form that adds to the cart.

use super::{Availability, Choice, MOST_VARIANTS, Reading, Sale, Variant, same};
use crate::dom::{Attr, Tag};
use crate::facts::money::Price;
use crate::facts::text::line;
use crate::facts::thing::Things;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Longest embedded list that is read.
const LONGEST: usize = 2 << 20;
/// Script elements that are looked into.
const MOST_SCRIPTS: usize = 40;

/// The variants the page's shop software embeds; empty where there are none.
pub(super) fn read(reading: &Reading, things: &Things) -> Vec<Variant> {
    let dom = reading.page.dom();
    let currency = page_currency(reading, things);
    let currency = currency.as_deref();
    let mut scripts = 0;
    for id in dom.subtree(dom.root()) {
        let variants = match dom.tag(id) {
            Tag::Form => dom
                .attr_named(id, "data-product_variations")
                .and_then(|json| by_attributes(reading, currency, json)),
            Tag::Script if dom.attr(id, Attr::Type).is_some_and(|kind| kind.trim() == "application/json") => {
                scripts += 1;
                if scripts > MOST_SCRIPTS {
                    break;
                }
                by_options(reading, currency, &dom.text_content(id))
            }
            _ => None,
        };
        if let Some(variants) = variants.filter(|variants| !variants.is_empty()) {
            return variants;
        }
    }
    Vec::new()
}

fn parse(json: &str) -> Option<Value> {
    if json.len() > LONGEST {
        return None;
    }
    serde_json::from_str(json.trim()).ok()
}

fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match object.get(name)? {
        Value::String(text) => line(text, 300),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Lists in which a variant has `option1` to `option3` and prices in hundredths, beside the names of the options.
fn by_options(reading: &Reading, currency: Option<&str>, json: &str) -> Option<Vec<Variant>> {
    if !json.contains("\"variants\"") {
        return None;
    }
    let value = parse(json)?;
    let product = value.get("product").unwrap_or(&value);
    let names: Vec<String> =
        product.get("options").and_then(Value::as_array).map_or_else(Vec::new, |options| {
            options
                .iter()
                .filter_map(|option| {
                    option.as_str().or_else(|| option.get("name")?.as_str()).map(|name| line(name, 80))
                })
                .collect()
        });
    let list = product.get("variants")?.as_array()?;
    let variants = list.iter().take(MOST_VARIANTS).filter_map(|value| {
        let variant = value.as_object()?;
        let price = embedded_price(reading, currency, variant.get("price")?)?;
        let was = variant.get("compare_at_price").and_then(|was| embedded_price(reading, currency, was));
        let mut values = BTreeMap::new();
        for (number, name) in ["option1", "option2", "option3"].iter().enumerate() {
            if let Some(value) = text(variant, name) {
                let name = names.get(number).cloned().unwrap_or_else(|| (*name).to_owned());
                // The only choice of a product without choices is called that by the software itself.
                if !(name == "Title" && value == "Default Title") {
                    values.insert(name, Choice::One(value));
                }
            }
        }
        let image = variant.get("featured_image").and_then(|image| {
            let url = image.as_str().or_else(|| image.get("src")?.as_str())?;
            reading.image(url, image.get("alt").and_then(Value::as_str).map(|alt| line(alt, 300)))
        });
        Some(Variant {
            id: text(variant, "id"),
            sku: text(variant, "sku"),
            title: text(variant, "title").filter(|title| title != "Default Title"),
            values,
            sale: was
                .filter(|was| was.amount > price.amount && !same(was.amount, price.amount))
                .map(|original_price| Sale { original_price }),
            price: Some(price),
            availability: stock(variant.get("available")),
            images: image.into_iter().collect(),
        })
    });
    Some(variants.collect())
}

/// Whole numbers are hundredths; text and fractions are units.
fn embedded_price(reading: &Reading, currency: Option<&str>, value: &Value) -> Option<Price> {
    let mut price = match value {
        Value::Number(number) if number.is_u64() => {
            let amount = number.as_f64()? / 100.0;
            reading.money.declared(&amount.to_string(), None)
        }
        Value::Number(number) => reading.money.declared(&number.to_string(), None),
        Value::String(text) => reading.money.declared(text, None),
        _ => None,
    }?;
    price.currency = price.currency.or_else(|| currency.map(str::to_owned));
    Some(price)
}

/// The currency the page's tags or declared offers name.
fn page_currency(reading: &Reading, things: &Things) -> Option<String> {
    let tags = ["product:price:currency", "og:price:currency", "pricecurrency"];
    let tagged =
        tags.iter().find_map(|name| reading.metadata.tag(name)).map(|code| code.trim().to_ascii_uppercase());
    tagged.or_else(|| {
        things.all().find_map(|(_, thing)| thing.text("priceCurrency")).map(|code| code.to_ascii_uppercase())
    })
}

/// Lists in which a variant has `attributes` and prices to display.
fn by_attributes(reading: &Reading, currency: Option<&str>, json: &str) -> Option<Vec<Variant>> {
    let value = parse(json)?;
    let variants = value.as_array()?.iter().take(MOST_VARIANTS).filter_map(|value| {
        let variant = value.as_object()?;
        let money = |name: &str| reading.money.declared(&text(variant, name)?, currency);
        let price = money("display_price")?;
        let values =
            variant.get("attributes").and_then(Value::as_object).map_or_else(BTreeMap::new, |attributes| {
                attributes
                    .iter()
                    .filter_map(|(name, value)| {
                        let name = name
                            .trim_start_matches("attribute_")
                            .trim_start_matches("pa_")
                            .replace(['-', '_'], " ");
                        let value = value.as_str().filter(|value| !value.is_empty())?;
                        Some((line(&name, 80), Choice::One(line(value, 300))))
                    })
                    .collect()
            });
        let image = variant
            .get("image")
            .and_then(Value::as_object)
            .and_then(|image| reading.image(&text(image, "src")?, text(image, "alt")));
        let was = money("display_regular_price");
        Some(Variant {
            id: text(variant, "variation_id"),
            sku: text(variant, "sku"),
            values,
            sale: was
                .filter(|was| was.amount > price.amount && !same(was.amount, price.amount))
                .map(|original_price| Sale { original_price }),
            price: Some(price),
            availability: stock(variant.get("is_in_stock")),
            images: image.into_iter().collect(),
            ..Variant::default()
        })
    });
    Some(variants.collect())
}

fn stock(value: Option<&Value>) -> Availability {
    Availability { in_stock: value.and_then(Value::as_bool).unwrap_or(true), text: None }
}
