//! The product a page sells: name, brand, price, availability, variants.
//!
//! Owns the order of trust: what the page declares ([`declared`]: JSON-LD, microdata), what its shop software embeds
//! ([`embedded`]), its Open Graph tags ([`tagged`]), and last what a shopper sees ([`shown`]). A page that lists many products, or
//! only writes about one, has none. Never invents a variant: choices whose combinations are unknown stay choices.

mod choices;
mod declared;
mod embedded;
mod shown;
mod tagged;

use crate::facts::money::{Money, Price};
use crate::facts::thing::Things;
use crate::metadata::Metadata;
use crate::page::Page;
use crate::visible;
use serde::Serialize;
use shown::Shown;
use std::collections::BTreeMap;

/// Variants kept of one product.
const MOST_VARIANTS: usize = 250;
/// Images kept of one variant.
const MOST_IMAGES: usize = 20;

/// A product on its own page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Product {
    /// Its name.
    pub title: String,
    /// Who makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// What kind of thing it is, in the shop's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Absolute address of its page.
    pub url: String,
    /// The shop's description in plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What can be bought; one without values where there is no choice.
    pub variants: Vec<Variant>,
}

/// One thing that can be put in the cart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Variant {
    /// The shop's number for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The stock keeping unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// Its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sets it apart, such as size and colour.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Choice>,
    /// What it costs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it cost before, when it is on sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Sale>,
    /// Whether it can be had.
    pub availability: Availability,
    /// Its pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// The value of one property of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Choice {
    /// The value of this variant.
    One(String),
    /// The values on offer, where the page does not say which combinations there are.
    AnyOf(Vec<String>),
}

/// A reduced price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sale {
    /// The price before.
    pub original_price: Price,
}

/// Whether something can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// In stock, as far as the page says; a price without any word about stock counts as in stock.
    pub in_stock: bool,
    /// The page's word for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Default for Availability {
    fn default() -> Self {
        Self { in_stock: true, text: None }
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Absolute address.
    pub url: String,
    /// What it shows, in the page's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// What one source knows of a product.
#[derive(Clone, Debug, Default)]
struct Draft {
    title: Option<String>,
    brand: Option<String>,
    category: Option<String>,
    url: Option<String>,
    description: Option<String>,
    images: Vec<Image>,
    variants: Vec<Variant>,
}

/// What all readers of one page share.
struct Reading<'a> {
    page: &'a Page,
    metadata: &'a Metadata,
    money: Money,
}

impl Reading<'_> {
    /// An address as the page writes it, absolute.
    fn address(&self, written: &str) -> Option<String> {
        self.page.base().resolve(written).map(std::borrow::Cow::into_owned)
    }

    fn image(&self, written: &str, alt: Option<String>) -> Option<Image> {
        let url = self.address(written).filter(|url| url.starts_with("http"))?;
        Some(Image { url, alt: alt.filter(|alt| !alt.is_empty()) })
    }
}

/// The product of a page, if it is the page of one.
pub fn product(page: &Page) -> Option<Product> {
    let metadata = page.metadata();
    let language = metadata.language.as_ref().map(|language| language.value.as_str());
    let reading = Reading { page, metadata: &metadata, money: Money::of_language(language) };
    let things = Things::of(&metadata);
    let visible = visible::visible(page.dom());
    let shown = Shown::of(&reading, &visible);
    let declared = declared::read(&reading, &things, &shown);
    if declared.is_none() && !shown.sells_one_thing(&metadata) {
        return None;
    }
    let tagged = tagged::read(&reading);
    let seen = shown.draft(&reading, &things);
    let mut draft = declared.unwrap_or_default();
    let embedded = embedded::read(&reading, &things);
    // The shop software knows each variant by its options; declarations often know only the cheapest.
    if embedded.len() > draft.variants.len()
        || (!embedded.is_empty() && draft.variants.iter().all(|v| v.values.is_empty()))
    {
        draft.variants = embedded;
    }
    if draft.variants.is_empty() {
        draft.variants.clone_from(&tagged.variants);
    }
    if draft.variants.is_empty() || (draft.variants.len() == 1 && draft.variants[0].values.is_empty()) {
        draft.variants = complete(draft.variants, seen.variants);
    }
    let title = draft.title.or(tagged.title).or(seen.title)?;
    let url = draft.url.or(tagged.url).or(seen.url)?;
    let images =
        [draft.images, tagged.images].into_iter().find(|images| !images.is_empty()).unwrap_or_default();
    let mut variants = draft.variants;
    variants.truncate(MOST_VARIANTS);
    if variants.is_empty() {
        variants.push(Variant::default());
    }
    for variant in &mut variants {
        settle(variant, &shown, &images);
    }
    Some(Product {
        title,
        brand: draft.brand.or(tagged.brand).or(seen.brand),
        category: draft.category.or(tagged.category).or(seen.category),
        url,
        description: draft.description.or(tagged.description).or_else(|| metadata.description.clone()),
        variants,
    })
}

/// One declared variant beside those a shopper can choose: the declaration gives price and stock, the page the choices.
fn complete(declared: Vec<Variant>, seen: Vec<Variant>) -> Vec<Variant> {
    let Some(known) = declared.into_iter().next() else { return seen };
    let several = seen.len() > 1;
    let mut completed: Vec<Variant> = seen
        .into_iter()
        .map(|mut variant| {
            variant.price = known.price.clone().or(variant.price);
            variant.sale = known.sale.clone().or(variant.sale);
            variant.images.clone_from(&known.images);
            if several {
                variant.availability.in_stock &= known.availability.in_stock;
            } else {
                variant.id.clone_from(&known.id);
                variant.sku = known.sku.clone().or(variant.sku);
                variant.title.clone_from(&known.title);
                if known.availability.text.is_some() || !known.availability.in_stock {
                    variant.availability = known.availability.clone();
                }
            }
            variant
        })
        .collect();
    if completed.is_empty() {
        completed.push(known);
    }
    completed
}

/// What every variant gets, whoever described it.
fn settle(variant: &mut Variant, shown: &Shown, images: &[Image]) {
    if variant.images.is_empty() {
        variant.images = images.to_vec();
    }
    variant.images.truncate(MOST_IMAGES);
    if let Some(price) = &mut variant.price {
        if price.formatted.is_none()
            && let Some(seen) = shown.price.as_ref().filter(|seen| same(seen.amount, price.amount))
        {
            price.formatted.clone_from(&seen.formatted);
            price.currency = price.currency.take().or_else(|| seen.currency.clone());
        }
        if variant.sale.is_none()
            && shown.price.as_ref().is_some_and(|seen| same(seen.amount, price.amount))
            && let Some(was) = &shown.was
            && was.amount > price.amount
        {
            variant.sale = Some(Sale { original_price: was.clone() });
        }
    }
    let price = variant.price.as_ref().map(|price| price.amount);
    // A "was" price that is no higher is no sale.
    variant.sale =
        variant.sale.take().filter(|sale| price.is_some_and(|price| sale.original_price.amount > price));
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.005
}
