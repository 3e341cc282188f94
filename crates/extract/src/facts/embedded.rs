//! What a shop's software embeds for its own scripts: the product that [`content::product`] finds where a page declares none.

use super::declared::is_other;
use super::{Fact, How, Reader, Thing, text};
use crate::words::Words;
use content::Page;
use content::product::{Choice, Product};
use std::rc::Rc;

/// The product as a thing, as far as its values stand on the page to the letter.
pub(super) fn thing(page: &Page, reader: &mut Reader, headline: &Words) -> Option<Thing> {
    let Product { title, brand, category, description, variants, .. } = content::product::product(page)?;
    if is_other(&Words::of(&title), headline) {
        return None;
    }
    let mut values: Vec<(String, String)> = vec![("name".to_owned(), title)];
    let named = [("brand", brand), ("category", category), ("description", description)];
    values.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    // With a choice there is no one price.
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
            Choice::One(value) => Some((name.clone(), value.clone())),
            Choice::AnyOf(_) => None,
        });
        values.extend(chosen);
    }
    let dom = page.dom();
    let stands = |value: &str| dom.subtree(dom.root()).any(|id| dom.text(id).contains(value));
    let facts: Vec<Fact> = values
        .into_iter()
        .map(|(name, value)| (Words::of(&name), text::one_line(&value)))
        .filter(|(words, value)| !words.is_empty() && !value.is_empty() && stands(value))
        .map(|(words, value)| {
            let label = reader.labels.enter(words, Words::default());
            Fact {
                at: 0,
                end: 0,
                label,
                how: How::Embedded,
                text: Rc::from(value),
                machine: None,
                link: None,
                place: 1.0,
            }
        })
        .collect();
    (!facts.is_empty()).then_some(Thing { facts, weight: 1.0 })
}
