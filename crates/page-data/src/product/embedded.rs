//! Variants that shop software embeds for its own scripts: a JSON list of variants in a script element, or in
//! the data attribute of the form that adds to the cart.

use super::{Availability, MAX_VARIANTS, ProductChoice, ProductPage, Sale, Variant, same};
use crate::facts::money::Price;
use crate::facts::text::line;
use crate::facts::things::Things;
use html::dom::{Attr, Tag};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Larger scripts are not parsed.
const MAX_SCRIPT_BYTES: usize = 2 << 20;
/// Script elements examined.
const MAX_SCRIPTS: usize = 40;

/// The variants the page's shop software embeds; empty where there are none.
pub(super) fn find_variants(product_page: &ProductPage, things: &Things) -> Vec<Variant> {
    let dom = product_page.page.dom();
    let currency = page_currency(product_page, things);
    let currency = currency.as_deref();
    let mut scripts = 0;
    for id in dom.subtree(dom.root()) {
        let variants = match dom.tag(id) {
            Tag::Form => dom
                .attr_named(id, "data-product_variations")
                .and_then(|json| by_attributes(product_page, currency, json)),
            Tag::Script if dom.attr(id, Attr::Type).is_some_and(|kind| kind.trim() == "application/json") => {
                scripts += 1;
                if scripts > MAX_SCRIPTS {
                    break;
                }
                by_options(product_page, currency, &dom.text_content(id))
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
    if json.len() > MAX_SCRIPT_BYTES {
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

/// Lists in which a variant has `option1` to `option3` and prices in hundredths, with the names of the
/// options.
fn by_options(product_page: &ProductPage, currency: Option<&str>, json: &str) -> Option<Vec<Variant>> {
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
    let variants = list.iter().take(MAX_VARIANTS).filter_map(|value| {
        let variant = value.as_object()?;
        let price = embedded_price(product_page, currency, variant.get("price")?)?;
        let was = variant.get("compare_at_price").and_then(|was| embedded_price(product_page, currency, was));
        let mut values = BTreeMap::new();
        for (number, name) in ["option1", "option2", "option3"].iter().enumerate() {
            if let Some(value) = text(variant, name) {
                let name = names.get(number).cloned().unwrap_or_else(|| (*name).to_owned());
                // The shop software uses this name for a product without choices.
                if !(name == "Title" && value == "Default Title") {
                    values.insert(name, ProductChoice::One(value));
                }
            }
        }
        let image = variant.get("featured_image").and_then(|image| {
            let url = image.as_str().or_else(|| image.get("src")?.as_str())?;
            product_page.image(url, image.get("alt").and_then(Value::as_str).map(|alt| line(alt, 300)))
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
fn embedded_price(product_page: &ProductPage, currency: Option<&str>, value: &Value) -> Option<Price> {
    let mut price = match value {
        Value::Number(number) if number.is_u64() => {
            let amount = number.as_f64()? / 100.0;
            product_page.money.declared(&amount.to_string(), None)
        }
        Value::Number(number) => product_page.money.declared(&number.to_string(), None),
        Value::String(text) => product_page.money.declared(text, None),
        _ => None,
    }?;
    price.currency = price.currency.or_else(|| currency.map(str::to_owned));
    Some(price)
}

/// The currency the page's tags or declared offers name.
fn page_currency(product_page: &ProductPage, things: &Things) -> Option<String> {
    let tags = ["product:price:currency", "og:price:currency", "pricecurrency"];
    let tagged = tags
        .iter()
        .find_map(|name| product_page.metadata.tag(name))
        .map(|code| code.trim().to_ascii_uppercase());
    tagged.or_else(|| {
        things.all().find_map(|(_, thing)| thing.text("priceCurrency")).map(|code| code.to_ascii_uppercase())
    })
}

/// Lists in which a variant has `attributes` and prices to display.
fn by_attributes(product_page: &ProductPage, currency: Option<&str>, json: &str) -> Option<Vec<Variant>> {
    let value = parse(json)?;
    let variants = value.as_array()?.iter().take(MAX_VARIANTS).filter_map(|value| {
        let variant = value.as_object()?;
        let money = |name: &str| product_page.money.declared(&text(variant, name)?, currency);
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
                        Some((line(&name, 80), ProductChoice::One(line(value, 300))))
                    })
                    .collect()
            });
        let image = variant
            .get("image")
            .and_then(Value::as_object)
            .and_then(|image| product_page.image(&text(image, "src")?, text(image, "alt")));
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
