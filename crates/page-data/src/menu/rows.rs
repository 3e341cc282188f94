//! Rows of names and prices on a page that declares no menu.
//!
//! The row of a price is the largest element without another price; the rest of its text is the dish. Lines
//! of plain text that end in a price are rows too. Headings split the rows into sections.

use super::{MAX_ITEMS, MAX_SECTIONS, MenuItem, MenuPage, MenuSection};
use crate::facts::money::{Price, bare};
use crate::facts::text::{has_part, is_inline, line, of_node};
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use serde_json::json;

/// Limit of the text of one dish.
const MAX_ROW_BYTES: usize = 700;
const MAX_NAME_BYTES: usize = 120;
const MAX_PRICE_BYTES: usize = 24;
/// Ancestors tried for a row.
const MAX_ANCESTORS: usize = 8;

/// The sections and rows of a page; those before the first heading come under the page's own name.
pub(super) fn find_sections(menu_page: &MenuPage, visible: &NodeSet) -> Vec<MenuSection> {
    let dom = menu_page.page.dom();
    let prices = prices(menu_page, visible);
    let mut sections: Vec<MenuSection> = Vec::new();
    let mut heading: Option<(NodeId, String)> = None;
    let mut rows = 0;
    let mut next = 0;
    let mut done = NodeId(0);
    for id in dom.subtree(dom.root()) {
        if next >= prices.len() || rows >= MAX_ITEMS || sections.len() >= MAX_SECTIONS {
            break;
        }
        if id >= done && is_heading(dom, id) && visible.reaches(dom, id) {
            let text = of_node(dom, id, Some(visible), MAX_NAME_BYTES);
            if !text.is_empty() && menu_page.money.find(&text, 1).is_empty() {
                heading = Some((id, text));
            }
        }
        if prices[next].node != id {
            continue;
        }
        let row = row(dom, id, &prices);
        let end = dom.subtree_end(row);
        let inside = prices[next..].iter().take_while(|price| price.node < end).count().max(1);
        let items = read_row(menu_page, visible, row, &prices[next..next + inside]);
        next += inside;
        done = end;
        if items.is_empty() {
            continue;
        }
        // A heading inside the row is the dish's own name; the section's heading came before.
        let name = match &heading {
            Some((at, _)) if dom.contains(row, *at) => section_above(dom, row, visible),
            Some((_, text)) => Some(text.clone()),
            None => None,
        };
        rows += items.len();
        match sections.last_mut() {
            Some(last) if name.as_ref().is_none_or(|name| *name == last.name) => last.items.extend(items),
            _ => {
                let name = name.unwrap_or_else(|| "Menu".to_owned());
                sections.push(MenuSection { id: String::new(), name, description: None, items });
            }
        }
    }
    sections
}

fn is_heading(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 | Tag::Caption | Tag::Legend => true,
        Tag::Th => dom.has_attr(id, Attr::Colspan),
        Tag::Div | Tag::P | Tag::Span => {
            dom.attr(id, Attr::Role) == Some("heading")
                || dom.attr(id, Attr::Class).is_some_and(|class| {
                    has_part(class, &["section", "category", "group"])
                        && has_part(class, &["title", "name", "heading", "header"])
                })
        }
        _ => false,
    }
}

/// The nearest heading before a row that has its own.
fn section_above(dom: &Dom, row: NodeId, visible: &NodeSet) -> Option<String> {
    let own = dom.subtree(row).find_map(|id| dom.tag(id).heading_level())?;
    let from = row.0.saturating_sub(20_000);
    let above = (from..row.0)
        .rev()
        .map(NodeId)
        .find(|&id| dom.tag(id).heading_level().is_some_and(|level| level < own))?;
    Some(of_node(dom, above, Some(visible), MAX_NAME_BYTES)).filter(|text| !text.is_empty())
}

/// A text node that shows a price.
struct ShownPrice {
    node: NodeId,
    /// Whether the text is the price and nothing else.
    alone: bool,
    price: Price,
}

/// The visible prices in document order. Amounts without a currency count where they stand alone in an
/// element of theirs.
fn prices(menu_page: &MenuPage, visible: &NodeSet) -> Vec<ShownPrice> {
    let dom = menu_page.page.dom();
    let mut prices = Vec::new();
    for node in visible.iter().filter(|&id| dom.is_text(id)) {
        let text = dom.text(node).trim();
        if text.is_empty() || !text.bytes().any(|byte| byte.is_ascii_digit()) || text.len() > MAX_ROW_BYTES {
            continue;
        }
        let found = menu_page.money.find(text, 1).pop();
        let shown = match found {
            Some(found) => {
                let alone = text.len() - (found.end - found.start) <= 3 && text.len() <= MAX_PRICE_BYTES;
                // Prices inside sentences do not belong to a row.
                let ends = text.len() - found.end <= 3;
                (alone || ends).then_some(ShownPrice { node, alone, price: found.price })
            }
            None => match bare(text) {
                Some(price) if stands_alone(dom, node) => Some(ShownPrice { node, alone: true, price }),
                _ => trailing(text).map(|price| ShownPrice { node, alone: false, price }),
            },
        };
        prices.extend(shown);
        if prices.len() > 2 * MAX_ITEMS {
            break;
        }
    }
    prices
}

/// Whether a number is all that its element says, and the element looks like a cell or a price.
fn stands_alone(dom: &Dom, node: NodeId) -> bool {
    let Some(parent) = dom.parent(node) else { return false };
    let priced = |id: NodeId| {
        matches!(dom.tag(id), Tag::Td | Tag::Dd)
            || dom.attr(id, Attr::Class).is_some_and(|class| {
                has_part(class, &["price", "preis", "prix", "precio", "prezzo", "cost", "amount"])
            })
    };
    dom.subtree_end(parent).0 - parent.0 <= 3 && (priced(parent) || dom.parent(parent).is_some_and(priced))
}

/// The amount after dots or a wide gap: `Espresso ........ 2,80`.
fn trailing(text: &str) -> Option<Price> {
    let at = text.rfind(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-')))?;
    let at = at + text[at..].chars().next()?.len_utf8();
    let (before, amount) = text.split_at(at);
    let amount = amount.trim_start_matches('.');
    let leader = text[..text.len() - amount.len()].trim_end();
    let dotted = leader.ends_with("..") || leader.ends_with(['…', '·', '_']) || before.ends_with("   ");
    if dotted && amount.contains(['.', ',']) { bare(amount) } else { None }
}

/// The largest element around a price without a price of another row.
fn row(dom: &Dom, price: NodeId, prices: &[ShownPrice]) -> NodeId {
    let held = |id: NodeId| {
        let start = prices.partition_point(|shown| shown.node < id);
        let end = prices.partition_point(|shown| shown.node < dom.subtree_end(id));
        end - start
    };
    let mut row = dom.parent(price).unwrap_or(price);
    for above in dom.ancestors(price).take(MAX_ANCESTORS) {
        let stops = matches!(
            dom.tag(above),
            Tag::Body
                | Tag::Main
                | Tag::Section
                | Tag::Ul
                | Tag::Ol
                | Tag::Table
                | Tag::Tbody
                | Tag::Dl
                | Tag::Html
                | Tag::Form
        );
        let several = held(above) > 1;
        if stops || (several && dom.tag(above) != Tag::Tr && !names_sizes(dom, above, prices)) {
            break;
        }
        let headings = dom.subtree(above).filter(|&id| dom.tag(id).heading_level().is_some()).take(2).count();
        if headings > 1 {
            break;
        }
        row = above;
        if matches!(dom.tag(above), Tag::Tr | Tag::Li | Tag::Article | Tag::Dt | Tag::Dd) {
            break;
        }
    }
    row
}

/// Whether several prices in one small element are sizes of one dish: nothing but prices after the first.
fn names_sizes(dom: &Dom, id: NodeId, prices: &[ShownPrice]) -> bool {
    let start = prices.partition_point(|shown| shown.node < id);
    let end = prices.partition_point(|shown| shown.node < dom.subtree_end(id));
    let inside = &prices[start..end];
    if inside.len() > 4 || dom.subtree_end(id).0 - id.0 > 40 || !inside.iter().all(|shown| shown.alone) {
        return false;
    }
    let first = inside[0].node;
    let after: usize = dom
        .subtree(id)
        .filter(|&node| node > first && dom.is_text(node))
        .map(|node| dom.text(node).trim().len())
        .sum();
    let priced: usize = inside[1..].iter().map(|shown| dom.text(shown.node).trim().len()).sum();
    after <= priced + 12 * inside.len()
}

/// The dishes of a row: one, or one a line where lines of text end in prices.
fn read_row(menu_page: &MenuPage, visible: &NodeSet, row: NodeId, prices: &[ShownPrice]) -> Vec<MenuItem> {
    let dom = menu_page.page.dom();
    if prices.len() == 1 && !prices[0].alone {
        return line_item(menu_page, dom.text(prices[0].node), &prices[0]).into_iter().collect();
    }
    let mut lines: Vec<String> = vec![String::new()];
    let mut length = 0;
    for id in dom.subtree(row) {
        if dom.is_text(id) {
            let text = dom.text(id);
            if visible.contains(id) && !prices.iter().any(|shown| shown.node == id && shown.alone) {
                length += text.len();
                if let Some(last) = lines.last_mut() {
                    last.push_str(text);
                }
            }
        } else if !is_inline(dom.tag(id)) || is_part(dom, id) {
            lines.push(String::new());
        }
        if length > MAX_ROW_BYTES {
            return Vec::new();
        }
    }
    let mut lines: Vec<String> =
        lines.iter().map(|text| tidy(text)).filter(|text| !text.is_empty()).collect();
    // A definition's text is the next element.
    if dom.tag(row) == Tag::Dt
        && let Some(next) = dom
            .next_sibling(row)
            .into_iter()
            .chain(dom.next_sibling(row).and_then(|id| dom.next_sibling(id)))
            .find(|&id| dom.tag(id) == Tag::Dd)
    {
        lines.push(of_node(dom, next, Some(visible), MAX_ROW_BYTES));
    }
    if lines.is_empty() || lines[0].len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let name = lines.remove(0);
    if !name.chars().any(char::is_alphabetic) {
        return Vec::new();
    }
    let url = dom
        .subtree(row)
        .find(|&id| dom.tag(id) == Tag::A)
        .and_then(|id| dom.attr(id, Attr::Href))
        .filter(|href| !href.starts_with('#'));
    let image =
        dom.subtree(row).find(|&id| dom.tag(id) == Tag::Img).and_then(|id| html::image::best_source(dom, id));
    let address = |written: &str| menu_page.page.base().resolve(written).map(std::borrow::Cow::into_owned);
    let mut item = described(&name, &lines.join(" "));
    item.price = Some(prices[0].price.clone());
    item.url = url.and_then(address);
    item.images = image
        .and_then(address)
        .map(|url| crate::product::ProductImage { url, alt: None })
        .into_iter()
        .collect();
    if prices.len() > 1 {
        let options: Vec<_> = prices.iter().map(|shown| json!({ "price": shown.price })).collect();
        item.option_groups = vec![json!({ "name": "Size", "options": options })];
    }
    vec![item]
}

/// Parts of a row that begin a line of their own although their tags would not.
fn is_part(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Tag::Strong | Tag::B | Tag::Small | Tag::Em)
        || dom
            .attr(id, Attr::Class)
            .is_some_and(|class| has_part(class, &["name", "title", "desc", "description", "price"]))
}

fn line_item(menu_page: &MenuPage, text: &str, shown: &ShownPrice) -> Option<MenuItem> {
    let text = line(text, MAX_ROW_BYTES);
    let cut = menu_page.money.find(&text, 1).first().map_or_else(
        || text.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-')).len(),
        |found| found.start,
    );
    let before = tidy(&text[..cut]);
    let (name, rest) = before
        .split_once(" – ")
        .or_else(|| before.split_once(" - "))
        .or_else(|| before.split_once(": "))
        .unwrap_or((&before, ""));
    if name.len() > MAX_NAME_BYTES || !name.chars().any(char::is_alphabetic) {
        return None;
    }
    Some(MenuItem { price: Some(shown.price.clone()), ..described(name, rest) })
}

/// A name and a description, with the marks for diets taken out of both.
fn described(name: &str, description: &str) -> MenuItem {
    let mut dietary = Vec::new();
    let mut kept: Vec<&str> = Vec::new();
    for word in name.split(' ') {
        let mark = word.trim_matches(['(', ')', '[', ']', ',', '*']);
        let marked = word.len() > mark.len() || kept.len() > 1;
        match diet(mark).filter(|_| marked) {
            Some(diet) => dietary.push(diet),
            None => kept.push(word),
        }
    }
    let lower = description.to_lowercase();
    for (word, diet) in [
        ("vegan", "vegan"),
        ("vegetarian", "vegetarian"),
        ("vegetarisch", "vegetarian"),
        ("gluten-free", "glutenFree"),
        ("gluten free", "glutenFree"),
        ("glutenfrei", "glutenFree"),
        ("halal", "halal"),
        ("kosher", "kosher"),
    ] {
        if lower.contains(word) {
            dietary.push(diet);
        }
    }
    dietary.dedup();
    let calories = lower
        .split_once("kcal")
        .or_else(|| lower.split_once(" cal"))
        .and_then(|(before, _)| before.trim_end().rsplit(' ').next()?.parse().ok());
    let name = kept.join(" ");
    let description = Some(line(description, MAX_ROW_BYTES)).filter(|text| !text.is_empty() && *text != name);
    MenuItem { name, description, dietary, calories, ..MenuItem::default() }
}

fn diet(mark: &str) -> Option<&'static str> {
    match mark {
        "V" | "v" | "VG" | "veg" => Some("vegetarian"),
        "VE" | "Ve" | "ve" | "VGN" | "vegan" | "Vegan" => Some("vegan"),
        "GF" | "gf" => Some("glutenFree"),
        "DF" | "df" => Some("dairyFree"),
        _ => None,
    }
}

/// One line without dot leaders and trailing punctuation.
fn tidy(text: &str) -> String {
    let text = line(text, MAX_ROW_BYTES);
    text.trim_matches(|c: char| matches!(c, '.' | '…' | '·' | '_' | '|' | '-' | '–' | ':' | ' ')).to_owned()
}
