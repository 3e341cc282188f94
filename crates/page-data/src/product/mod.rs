//! The product of a page: name, brand, price, availability, variants.
//!
//! Sources in order of trust: structured data ([`declared`]: JSON-LD, microdata), data embedded by the shop
//! software ([`embedded`]), Open Graph tags ([`meta_tags`]), and the visible page ([`shown`]). A page that
//! lists many products, or only writes about one, has none. Never invents a variant: choices whose
//! combinations are unknown stay choices.

mod choices;
mod declared;
mod embedded;
mod meta_tags;
mod shown;

use crate::facts::money::{Money, Price};
use crate::facts::things::Things;
use content::metadata::Metadata;
use content::page::Page;
use html::visible;
use serde::Serialize;
use shown::ShownProduct;
use std::collections::BTreeMap;

/// Variants kept of one product.
const MAX_VARIANTS: usize = 250;
/// Images kept of one variant.
const MAX_IMAGES: usize = 20;

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
    /// Absolute URL of its page.
    pub url: String,
    /// The shop's description in plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The variants; a single one without values where there is no choice.
    pub variants: Vec<Variant>,
}

/// One variant that can be put in the cart.
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
    /// Its distinguishing properties, such as size and colour.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, ProductChoice>,
    /// What it costs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it cost before, when it is on sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Sale>,
    /// Whether it is available.
    pub availability: Availability,
    /// Its pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ProductImage>,
}

/// The value of one property of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ProductChoice {
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

/// Whether something is available.
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
pub struct ProductImage {
    /// Absolute URL.
    pub url: String,
    /// What it shows, in the page's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// The product as found in one source.
#[derive(Clone, Debug, Default)]
struct ProductDraft {
    title: Option<String>,
    brand: Option<String>,
    category: Option<String>,
    url: Option<String>,
    description: Option<String>,
    images: Vec<ProductImage>,
    variants: Vec<Variant>,
}

/// The page and what all extractors of a product share.
struct ProductPage<'a> {
    page: &'a Page,
    metadata: &'a Metadata,
    money: Money,
}

impl ProductPage<'_> {
    /// Makes a URL of the page absolute.
    fn address(&self, written: &str) -> Option<String> {
        self.page.base().resolve(written).map(std::borrow::Cow::into_owned)
    }

    fn image(&self, written: &str, alt: Option<String>) -> Option<ProductImage> {
        let url = self.address(written).filter(|url| url.starts_with("http"))?;
        Some(ProductImage { url, alt: alt.filter(|alt| !alt.is_empty()) })
    }
}

/// The product of a page, if it is a product page.
pub fn product(page: &Page) -> Option<Product> {
    let metadata = page.metadata();
    let language = metadata.language.as_ref().map(|language| language.value.as_str());
    let product_page = ProductPage { page, metadata: &metadata, money: Money::of_language(language) };
    let things = Things::collect(&metadata);
    let visible = visible::visible_nodes(page.dom());
    let shown = ShownProduct::find(&product_page, &visible);
    let declared = declared::find_product(&product_page, &things, &shown);
    if declared.is_none() && !shown.sells_one_thing(&metadata) {
        return None;
    }
    let tagged = meta_tags::read_product(&product_page);
    let seen = shown.draft(&product_page, &things);
    let mut draft = declared.unwrap_or_default();
    let embedded = embedded::find_variants(&product_page, &things);
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
    variants.truncate(MAX_VARIANTS);
    if variants.is_empty() {
        variants.push(Variant::default());
    }
    for variant in &mut variants {
        finish_variant(variant, &shown, &images);
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

/// One declared variant beside those a shopper can choose: the declaration gives price and stock, the page
/// the choices.
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

/// Completes a variant, whatever its source.
fn finish_variant(variant: &mut Variant, shown: &ShownProduct, images: &[ProductImage]) {
    if variant.images.is_empty() {
        variant.images = images.to_vec();
    }
    variant.images.truncate(MAX_IMAGES);
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
    // A previous price that is not higher is not a sale.
    variant.sale =
        variant.sale.take().filter(|sale| price.is_some_and(|price| sale.original_price.amount > price));
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.005
}
