//! The menu of a restaurant, café or bar: sections and dishes with their prices.
//!
//! Decides whether a page is a menu, with a confidence. Declared menus ([`declared`]: JSON-LD, microdata)
//! take precedence over rows of names and prices on the page ([`rows`]). Every page gets a result; without a
//! menu it has no sections.

mod declared;
mod evidence;
mod rows;

use crate::facts::money::{Money, Price};
use crate::facts::things::Things;
use content::metadata::Metadata;
use content::page::Page;
use html::visible;
use serde::Serialize;
use serde_json::Value;

/// Limits of one menu.
const MAX_SECTIONS: usize = 200;
const MAX_ITEMS: usize = 2_000;
/// From this confidence on a page is a menu.
const MIN_CONFIDENCE: f64 = 0.5;

/// The menu of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu {
    /// Whether the page is a menu.
    pub is_menu: bool,
    /// How likely it is one, from 0 to 1, to two digits.
    pub confidence: f64,
    /// The restaurant.
    pub merchant: Merchant,
    /// The currency of its prices, where they agree on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Absolute URL of the page.
    pub source_url: String,
    /// Its sections in order.
    pub sections: Vec<MenuSection>,
}

/// The restaurant, café or bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Merchant {
    /// Its name; the site's where nothing better is known.
    pub name: String,
    /// What it is, such as `Restaurant` or `CafeOrCoffeeShop`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<MerchantLocation>,
}

/// Where a merchant is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MerchantLocation {
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
pub struct MenuSection {
    /// Its place on this menu, such as `s2`.
    pub id: String,
    /// Its heading.
    pub name: String,
    /// What is said under the heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its dishes in order.
    pub items: Vec<MenuItem>,
}

/// A dish or drink.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuItem {
    /// Its place on this menu, such as `s2-i5`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its pictures.
    pub images: Vec<crate::product::ProductImage>,
    /// What it costs; the smallest size where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it is available; dishes on a menu are, unless marked otherwise.
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
    /// Absolute URL of the menu.
    pub source_url: String,
}

/// Identifiers of a dish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identifiers {
    /// The merchant's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_item_id: Option<String>,
}

/// The page and what all extractors of a menu share.
struct MenuPage<'a> {
    page: &'a Page,
    metadata: &'a Metadata,
    money: Money,
}

/// The menu of a page, which may have none.
pub fn menu(page: &Page) -> Menu {
    let metadata = page.metadata();
    let language = metadata.language.as_ref().map(|language| language.value.as_str());
    let menu_page = MenuPage { page, metadata: &metadata, money: Money::of_language(language) };
    let things = Things::collect(&metadata);
    let source_url =
        page.base().url().map(ToString::to_string).or_else(|| metadata.canonical.clone()).unwrap_or_default();
    let visible = visible::visible_nodes(page.dom());
    let merchant = declared::find_merchant(&menu_page, &things);
    let mut sections = declared::find_sections(&menu_page, &things);
    let confidence = if sections.is_empty() {
        sections = rows::find_sections(&menu_page, &visible);
        evidence::menu_probability(&menu_page, &visible, &merchant, &sections)
    } else {
        evidence::DECLARED_CONFIDENCE
    };
    let is_menu = confidence >= MIN_CONFIDENCE;
    if !is_menu {
        sections.clear();
    }
    let currency = number_items(&mut sections, &source_url);
    Menu { is_menu, confidence, merchant, currency, source_url, sections }
}

/// Numbers sections and dishes, and sets the menu's single currency for prices without one.
fn number_items(sections: &mut Vec<MenuSection>, source_url: &str) -> Option<String> {
    sections.retain(|section| !section.items.is_empty());
    sections.truncate(MAX_SECTIONS);
    let mut room = MAX_ITEMS;
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
