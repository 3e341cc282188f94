//! Product data that shop software embeds for its own scripts, found by [`page_data::product`] where a page
//! has no structured data.

use super::structured_data::has_other_name;
use super::{EvidenceKind, Fact, FactCollector, Thing, text};
use crate::words::NameWords;
use content::Page;
use page_data::product::{Product, ProductChoice};
use std::rc::Rc;

/// The product as a thing, with those values that appear verbatim on the page.
pub(super) fn thing(page: &Page, collector: &mut FactCollector, headline: &NameWords) -> Option<Thing> {
    let Product { title, brand, category, description, variants, .. } = page_data::product::product(page)?;
    if has_other_name(&NameWords::from_name(&title), headline) {
        return None;
    }
    let mut values: Vec<(String, String)> = vec![("name".to_owned(), title)];
    let named = [("brand", brand), ("category", category), ("description", description)];
    values.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    // With variants there is no single price.
    if let [only] = variants.as_slice() {
        values.extend(only.sku.clone().map(|sku| ("sku".to_owned(), sku)));
        let price = only.price.as_ref().and_then(|price| price.formatted.clone());
        values.extend(
            price.iter().flat_map(|price| ["price", "currency"].map(|name| (name.to_owned(), price.clone()))),
        );
        let before = only.sale.as_ref().and_then(|sale| sale.original_price.formatted.clone());
        values.extend(before.map(|price| ("original price".to_owned(), price)));
        values.extend(only.availability.text.clone().map(|text| ("stock".to_owned(), text)));
        let chosen = only.values.iter().filter_map(|(name, choice)| match choice {
            ProductChoice::One(value) => Some((name.clone(), value.clone())),
            ProductChoice::AnyOf(_) => None,
        });
        values.extend(chosen);
    }
    let dom = page.dom();
    let stands = |value: &str| dom.subtree(dom.root()).any(|id| dom.text(id).contains(value));
    let facts: Vec<Fact> = values
        .into_iter()
        .map(|(name, value)| (NameWords::from_name(&name), text::collapse_whitespace(&value)))
        .filter(|(words, value)| !words.is_empty() && !value.is_empty() && stands(value))
        .map(|(words, value)| {
            let label = collector.labels.intern(words, NameWords::default());
            Fact {
                at: 0,
                end: 0,
                label,
                how: EvidenceKind::Embedded,
                text: Rc::from(value),
                machine: None,
                link: None,
                position_weight: 1.0,
            }
        })
        .collect();
    (!facts.is_empty()).then_some(Thing { facts, weight: 1.0 })
}
