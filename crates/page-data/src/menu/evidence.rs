//! The evidence for and against a page being a menu.

use super::{MenuPage, MenuSection, Merchant};
use crate::facts::text::of_node;
use html::NodeSet;

/// The confidence of a declared menu.
pub(super) const DECLARED_CONFIDENCE: f64 = 0.98;

/// Names of pages that are menus, in lower case.
const MENU_TITLES: &[&str] = &[
    "menu",
    "menus",
    "our menu",
    "food menu",
    "drinks menu",
    "speisekarte",
    "getränkekarte",
    "karte",
    "la carte",
    "carte",
    "notre carte",
    "menú",
    "carta",
    "la carta",
    "menù",
    "listino",
    "cardápio",
    "ementa",
    "menukaart",
    "meny",
    "menukort",
    "ruokalista",
    "jídelní lístek",
    "étlap",
    "меню",
    "メニュー",
    "お品書き",
    "菜单",
    "菜單",
    "메뉴",
    "القائمة",
];

/// Names of courses and of kinds of dishes and drinks, in lower case.
const COURSE_NAMES: &[&str] = &[
    "starter",
    "appetizer",
    "appetiser",
    "small plates",
    "mains",
    "main course",
    "entree",
    "entrée",
    "dessert",
    "sides",
    "salad",
    "soup",
    "sandwich",
    "burger",
    "pizza",
    "pasta",
    "breakfast",
    "brunch",
    "lunch",
    "dinner",
    "drinks",
    "beverages",
    "cocktail",
    "wine",
    "beer",
    "coffee",
    "tea",
    "sushi",
    "ramen",
    "noodle",
    "curry",
    "tapas",
    "tacos",
    "grill",
    "seafood",
    "vorspeise",
    "hauptgericht",
    "hauptspeise",
    "nachspeise",
    "nachtisch",
    "suppe",
    "salate",
    "getränke",
    "weine",
    "biere",
    "plats",
    "desserts",
    "boissons",
    "vins",
    "salades",
    "entrantes",
    "principales",
    "postres",
    "bebidas",
    "ensaladas",
    "vinos",
    "antipasti",
    "primi",
    "secondi",
    "contorni",
    "dolci",
    "bevande",
    "entradas",
    "pratos",
    "sobremesas",
    "voorgerecht",
    "hoofdgerecht",
    "nagerecht",
    "dranken",
    "förrätt",
    "varmrätt",
    "efterrätt",
    "przystawki",
    "zupy",
    "dania główne",
    "desery",
    "napoje",
    "закуски",
    "супы",
    "десерты",
    "напитки",
    "前菜",
    "主菜",
    "甜品",
    "饮料",
    "飲み物",
    "デザート",
    "음료",
];

/// Phrases of pages whose rows of prices are not a menu.
const NOT_MENU_PHRASES: &[&str] = &[
    "per month",
    "/month",
    "/mo",
    "per user",
    "free trial",
    "add to cart",
    "add to basket",
    "in den warenkorb",
    "ajouter au panier",
    "add to bag",
    "in stock",
    "sku",
    "market cap",
    "shares",
    "per night",
    "square feet",
    "sq ft",
    "mileage",
    "monthly",
    "invoice",
    "subtotal",
    "per hour",
    "haircut",
    "manicure",
    "massage",
    "storage",
    "warranty",
    "pro monat",
    "par mois",
    "al mes",
];

/// Whether a part of a title is only a word for "menu".
pub(super) fn is_menu_word(part: &str) -> bool {
    let part = part.to_lowercase();
    MENU_TITLES.contains(&part.as_str())
        || matches!(
            part.as_str(),
            "home" | "food" | "food & drink" | "food and drink" | "essen" | "order online"
        )
}

/// How likely the rows of a page are a menu, from 0 to 1.
pub(super) fn menu_probability(
    menu_page: &MenuPage,
    visible: &NodeSet,
    merchant: &Merchant,
    sections: &[MenuSection],
) -> f64 {
    let rows: usize = sections.iter().map(|section| section.items.len()).sum();
    let dom = menu_page.page.dom();
    let mut points: f64 = -2.5;
    if rows < 3 {
        points -= 2.5;
    }
    points += [0.0, 0.5, 1.0, 1.5][rows.checked_ilog2().map_or(0, |log| (log as usize) / 2).min(3)];
    let title = menu_page.metadata.title.as_deref().unwrap_or_default().to_lowercase();
    let path = menu_page.page.base().url().map(|url| url.path().to_lowercase()).unwrap_or_default();
    let heading = dom
        .subtree(dom.root())
        .find(|&id| dom.tag(id) == html::dom::Tag::H1)
        .map(|id| of_node(dom, id, Some(visible), 200).to_lowercase())
        .unwrap_or_default();
    let words = |text: &str| {
        MENU_TITLES.iter().any(|name| {
            text.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name)
                || (name.len() > 8 && text.contains(name))
        })
    };
    points += if words(&title) || words(&heading) { 1.8 } else { 0.0 };
    points += if words(&path) { 1.0 } else { 0.0 };
    points += if merchant.kind.is_some() { 1.5 } else { 0.0 };
    let courses = sections.iter().filter(|section| has_course(&section.name)).count();
    points += match courses {
        0 => 0.0,
        1 => 1.2,
        2 => 2.0,
        _ => 2.8,
    };
    let dishes =
        sections.iter().flat_map(|section| &section.items).filter(|item| has_course(&item.name)).count();
    points += if dishes * 4 >= rows && dishes > 0 { 0.8 } else { 0.0 };
    let diets =
        sections.iter().flat_map(|section| &section.items).filter(|item| !item.dietary.is_empty()).count();
    points += if diets > 0 { 0.7 } else { 0.0 };
    let text = of_node(dom, dom.root(), Some(visible), 20_000).to_lowercase();
    let others = NOT_MENU_PHRASES.iter().filter(|phrase| text.contains(*phrase)).count();
    points -= [0.0, 0.9, 1.8, 2.7][others.min(3)];
    // Dishes cost little and alike; a catalogue spans decades.
    let mut amounts: Vec<f64> = sections
        .iter()
        .flat_map(|section| &section.items)
        .filter_map(|item| Some(item.price.as_ref()?.amount))
        .collect();
    amounts.sort_by(f64::total_cmp);
    if let (Some(least), Some(most)) = (amounts.get(amounts.len() / 10), amounts.get(amounts.len() * 9 / 10))
        && *most > least.max(0.01) * 30.0
    {
        points -= 1.0;
    }
    if rows == 0 {
        points = points.min(-2.0);
    }
    let share = 1.0 / (1.0 + f64::exp(-points));
    (share * 100.0).round() / 100.0
}

fn has_course(name: &str) -> bool {
    let name = name.to_lowercase();
    COURSE_NAMES.iter().any(|course| name.contains(course))
}
