//! A product in Open Graph tags.

use super::declared::availability;
use super::{ProductDraft, ProductPage, Sale, Variant};
use crate::facts::text::line;

/// The product in the page's Open Graph tags.
pub(super) fn read_product(product_page: &ProductPage) -> ProductDraft {
    let tag = |names: &[&str]| names.iter().find_map(|name| product_page.metadata.tag(name));
    let currency = tag(&["product:price:currency", "og:price:currency"]);
    let original = tag(&["product:original_price:amount"]);
    let sale = tag(&["product:sale_price:amount"]);
    let price = sale
        .or_else(|| tag(&["product:price:amount", "og:price:amount"]))
        .and_then(|amount| product_page.money.declared(amount, currency));
    let variants = price.map(|price| Variant {
        sku: tag(&["product:retailer_item_id", "product:sku"]).map(|sku| line(sku, 100)),
        sale: original
            .and_then(|was| product_page.money.declared(was, currency))
            .map(|original_price| Sale { original_price }),
        price: Some(price),
        availability: tag(&["product:availability", "og:availability"]).map(availability).unwrap_or_default(),
        ..Variant::default()
    });
    ProductDraft {
        title: tag(&["og:title"])
            .map(|title| line(title, 300))
            .filter(|title| !title.is_empty() && product_page.metadata.tag("product:price:amount").is_some()),
        brand: tag(&["product:brand", "og:brand"]).map(|brand| line(brand, 200)),
        category: tag(&["product:category"])
            .map(|category| line(category.rsplit('>').next().unwrap_or_default(), 200)),
        images: tag(&["og:image:secure_url", "og:image"])
            .and_then(|url| product_page.image(url, tag(&["og:image:alt"]).map(|alt| line(alt, 300))))
            .into_iter()
            .collect(),
        variants: variants.into_iter().collect(),
        ..ProductDraft::default()
    }
}
