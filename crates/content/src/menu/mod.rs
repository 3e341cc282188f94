//! The menu of a restaurant, café or bar: sections and dishes with their prices.
//!
//! Owns the decision whether a page is a menu at all, and says how sure it is. Declared menus ([`declared`]: JSON-LD,
//! microdata) come before rows of names and prices on the page ([`rows`]). Every page gets an answer; on one that is no
//! menu it has no sections.

mod declared;
mod evidence;
mod rows;

use crate::facts::money::{Money, Price};
use crate::facts::thing::Things;
use crate::metadata::Metadata;
use crate::page::Page;
use crate::visible;
use serde::Serialize;
use serde_json::Value;

/// Sections and dishes kept of one menu.
const MOST_SECTIONS: usize = 200;
const MOST_ITEMS: usize = 2_000;
/// How sure of a menu is sure enough.
const ENOUGH: f64 = 0.5;

/// What a page says as a menu.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu {
    /// Whether the page is a menu.
    pub is_menu: bool,
    /// How likely it is one, from 0 to 1, to two digits.
    pub confidence: f64,
    /// Whose menu it is.
    pub merchant: Merchant,
    /// The currency of its prices, where they agree on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Absolute address of the page.
    pub source_url: String,
    /// Its sections in order.
    pub sections: Vec<Section>,
}

/// Who serves the dishes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Merchant {
    /// Its name; the site's where nothing better is known.
    pub name: String,
    /// What it is, such as `Restaurant` or `CafeOrCoffeeShop`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// Where a merchant is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Street and number, or the whole address in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Town.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// State or region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// Country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// A part of a menu.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// Its place on this menu, such as `s2`.
    pub id: String,
    /// Its heading.
    pub name: String,
    /// What is said under the heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its dishes in order.
    pub items: Vec<Item>,
}

/// A dish or drink.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its place on this menu, such as `s2-i5`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its pictures.
    pub images: Vec<crate::product::Image>,
    /// What it costs; the smallest size where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can be had; menus list what can.
    pub availability: crate::product::Availability,
    /// Diets it suits, such as `vegan` or `glutenFree`.
    pub dietary: Vec<&'static str>,
    /// Calories of a portion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calories: Option<f64>,
    /// Sizes and extras, each with a name and a list of priced options.
    pub option_groups: Vec<Value>,
    /// The merchant's own number for it.
    pub identifiers: Identifiers,
    /// Its own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Absolute address of the menu.
    pub source_url: String,
}

/// Numbers others know a dish by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identifiers {
    /// The merchant's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_item_id: Option<String>,
}

/// What the readers of one page share.
struct Reading<'a> {
    page: &'a Page,
    metadata: &'a Metadata,
    money: Money,
}

/// The menu on a page, or that there is none.
pub fn menu(page: &Page) -> Menu {
    let metadata = page.metadata();
    let language = metadata.language.as_ref().map(|language| language.value.as_str());
    let reading = Reading { page, metadata: &metadata, money: Money::of_language(language) };
    let things = Things::of(&metadata);
    let source_url =
        page.base().url().map(ToString::to_string).or_else(|| metadata.canonical.clone()).unwrap_or_default();
    let visible = visible::visible(page.dom());
    let merchant = declared::merchant(&reading, &things);
    let mut sections = declared::sections(&reading, &things);
    let confidence = if sections.is_empty() {
        sections = rows::sections(&reading, &visible);
        evidence::weigh(&reading, &visible, &merchant, &sections)
    } else {
        evidence::DECLARED
    };
    let is_menu = confidence >= ENOUGH;
    if !is_menu {
        sections.clear();
    }
    let currency = settle(&mut sections, &source_url);
    Menu { is_menu, confidence, merchant, currency, source_url, sections }
}

/// Numbers sections and dishes, and spreads the one currency the menu uses over prices that name none.
fn settle(sections: &mut Vec<Section>, source_url: &str) -> Option<String> {
    sections.retain(|section| !section.items.is_empty());
    sections.truncate(MOST_SECTIONS);
    let mut room = MOST_ITEMS;
    for section in sections.iter_mut() {
        section.items.truncate(room);
        room -= section.items.len();
    }
    sections.retain(|section| !section.items.is_empty());
    let mut named = sections
        .iter()
        .flat_map(|section| &section.items)
        .filter_map(|item| item.price.as_ref()?.currency.clone());
    let first = named.next();
    let currency = first.filter(|first| named.all(|other| other == *first));
    for (number, section) in sections.iter_mut().enumerate() {
        section.id = format!("s{}", number + 1);
        for (place, item) in section.items.iter_mut().enumerate() {
            item.id = format!("{}-i{}", section.id, place + 1);
            source_url.clone_into(&mut item.source_url);
            if let Some(price) = &mut item.price {
                price.currency = price.currency.take().or_else(|| currency.clone());
            }
        }
    }
    currency
}
