//! Declared menus: `Menu`, `MenuSection` and `MenuItem` in JSON-LD or microdata, and their restaurant.

use super::{
    Identifiers, MAX_ITEMS, MAX_SECTIONS, MenuItem, MenuPage, MenuSection, Merchant, MerchantLocation,
};
use crate::facts::text::line;
use crate::facts::things::{Thing, Things};
use crate::product::{Availability, ProductImage};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Types of places that serve dishes.
const PLACE_TYPES: &[&str] = &[
    "Restaurant",
    "FoodEstablishment",
    "CafeOrCoffeeShop",
    "BarOrPub",
    "Bakery",
    "FastFoodRestaurant",
    "IceCreamShop",
    "Brewery",
    "Winery",
];

/// The restaurant: the declared one, else the site.
pub(super) fn find_merchant(menu_page: &MenuPage, things: &Things) -> Merchant {
    let place = things.of_type(PLACE_TYPES).find(|place| place.has("name"));
    let metadata = menu_page.metadata;
    let site = || metadata.tag("og:site_name").map(|name| line(name, 200));
    let title = || {
        // "Menu | Trattoria Rossi": the part that is not the page's own name.
        let title = metadata.title.as_deref()?;
        let parts: Vec<&str> = title
            .split(['|', '–', '—', '·', '•'])
            .flat_map(|part| part.split(" - "))
            .map(str::trim)
            .collect();
        let name = parts
            .iter()
            .rev()
            .find(|part| !part.is_empty() && !super::evidence::is_menu_word(part))
            .or(parts.first())?;
        Some(line(name, 200))
    };
    let host =
        || menu_page.page.base().url()?.host_str().map(|host| host.trim_start_matches("www.").to_owned());
    let name = place
        .and_then(|place| place.text("name"))
        .or_else(site)
        .or_else(title)
        .filter(|name| !name.is_empty())
        .or_else(host);
    Merchant {
        name: name.unwrap_or_default(),
        kind: place.and_then(Thing::kind).map(|kind| line(kind, 60)),
        location: place.and_then(location),
    }
}

fn location(place: Thing) -> Option<MerchantLocation> {
    let location = match place.things("address").into_iter().next() {
        Some(address) => MerchantLocation {
            address: address.text("streetAddress"),
            city: address.text("addressLocality"),
            region: address.text("addressRegion"),
            postal_code: address.text("postalCode"),
            country: address.text("addressCountry"),
        },
        None => MerchantLocation { address: place.text("address"), ..MerchantLocation::default() },
    };
    (location != MerchantLocation::default()).then_some(location)
}

/// The declared sections, nested ones after their parents. Menus with reference cycles are read once.
pub(super) fn find_sections(menu_page: &MenuPage, things: &Things) -> Vec<MenuSection> {
    let mut waiting: Vec<Thing> = things
        .of_type(PLACE_TYPES)
        .flat_map(|place| [place.things("hasMenu"), place.things("menu")].concat())
        .collect();
    waiting.extend(things.of_type(&["Menu"]));
    waiting.extend(things.of_type(&["MenuSection"]));
    waiting.reverse();
    let mut seen = HashSet::new();
    let mut sections: Vec<MenuSection> = Vec::new();
    let mut items = 0;
    while let Some(part) = waiting.pop() {
        if !seen.insert(part.key()) || !part.is(&["Menu", "MenuSection"]) {
            continue;
        }
        let mut dishes = Vec::new();
        for dish in part.things("hasMenuItem").into_iter().chain(part.things("itemListElement")) {
            if dish.is(&["MenuItem"]) && items < MAX_ITEMS && seen.insert(dish.key()) {
                items += 1;
                dishes.extend(item(menu_page, dish));
            }
        }
        if !dishes.is_empty() {
            let name = part.text("name").unwrap_or_else(|| "Menu".to_owned());
            sections.push(MenuSection {
                id: String::new(),
                name: line(&name, 200),
                description: part.text("description"),
                items: dishes,
            });
        }
        if sections.len() == MAX_SECTIONS || seen.len() > 2 * MAX_ITEMS {
            break;
        }
        let mut inner = part.things("hasMenuSection");
        inner.reverse();
        waiting.extend(inner);
    }
    if sections.is_empty() {
        let loose: Vec<MenuItem> =
            things.of_type(&["MenuItem"]).take(MAX_ITEMS).filter_map(|dish| item(menu_page, dish)).collect();
        if loose.len() > 1 {
            sections.push(MenuSection {
                id: String::new(),
                name: "Menu".to_owned(),
                description: None,
                items: loose,
            });
        }
    }
    sections
}

fn item(menu_page: &MenuPage, dish: Thing) -> Option<MenuItem> {
    let name = line(&dish.text("name")?, 300);
    let offers = dish.things("offers");
    let priced = |offer: Thing| {
        let currency = offer.text("priceCurrency");
        let amount = offer
            .text("price")
            .or_else(|| offer.text("lowPrice"))
            .or_else(|| offer.things("priceSpecification").first()?.text("price"))?;
        menu_page.money.declared(&amount, currency.as_deref())
    };
    let price = offers
        .first()
        .copied()
        .and_then(priced)
        .or_else(|| menu_page.money.declared(&dish.text("price")?, None));
    // Several offers of one dish are its sizes.
    let sizes: Vec<Value> = if offers.len() > 1 {
        offers
            .iter()
            .filter_map(|offer| Some(json!({ "name": offer.text("name")?, "price": priced(*offer)? })))
            .collect()
    } else {
        Vec::new()
    };
    let extras: Vec<Value> = dish
        .things("menuAddOn")
        .into_iter()
        .take(50)
        .filter_map(|extra| {
            let price = extra.things("offers").first().copied().and_then(priced);
            let mut option = json!({ "name": extra.text("name")? });
            if let Some(price) = price {
                option["price"] = json!(price);
            }
            Some(option)
        })
        .collect();
    let groups = [("Size", sizes), ("Extras", extras)];
    let option_groups = groups
        .into_iter()
        .filter(|(_, options)| !options.is_empty())
        .map(|(name, options)| json!({ "name": name, "options": options }));
    let stock = offers.first().and_then(|offer| offer.text("availability"));
    let address = |url: String| menu_page.page.base().resolve(&url).map(std::borrow::Cow::into_owned);
    let calories = dish
        .things("nutrition")
        .first()
        .and_then(|facts| facts.text("calories"))
        .and_then(|text| leading_number(&text));
    Some(MenuItem {
        name,
        description: dish.text("description"),
        images: dish
            .texts("image")
            .into_iter()
            .take(5)
            .filter_map(address)
            .map(|url| ProductImage { url, alt: None })
            .collect(),
        price,
        availability: Availability {
            in_stock: stock
                .as_deref()
                .is_none_or(|word| !word.ends_with("OutOfStock") && !word.ends_with("SoldOut")),
            text: None,
        },
        dietary: diets(&dish.texts("suitableForDiet")),
        calories,
        option_groups: option_groups.collect(),
        identifiers: Identifiers { merchant_item_id: dish.text("identifier").or_else(|| dish.text("sku")) },
        url: dish.text("url").and_then(address),
        ..MenuItem::default()
    })
}

fn leading_number(text: &str) -> Option<f64> {
    let digits: String =
        text.chars().filter(|c| *c != ',').take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 100_000.0)
}

fn diets(words: &[String]) -> Vec<&'static str> {
    const KNOWN: &[(&str, &str)] = &[
        ("VeganDiet", "vegan"),
        ("VegetarianDiet", "vegetarian"),
        ("GlutenFreeDiet", "glutenFree"),
        ("HalalDiet", "halal"),
        ("KosherDiet", "kosher"),
        ("LowLactoseDiet", "lactoseFree"),
        ("LowCalorieDiet", "lowCalorie"),
        ("DiabeticDiet", "diabetic"),
    ];
    KNOWN
        .iter()
        .filter(|(word, _)| words.iter().any(|said| said.ends_with(word)))
        .map(|(_, diet)| *diet)
        .collect()
}
