//! What a page's Open Graph tags say of a product.

use super::declared::availability;
use super::{Draft, Reading, Sale, Variant};
use crate::facts::text::line;

/// What the page's Open Graph tags say.
pub(super) fn read(reading: &Reading) -> Draft {
    let tag = |names: &[&str]| names.iter().find_map(|name| reading.metadata.tag(name));
    let currency = tag(&["product:price:currency", "og:price:currency"]);
    let original = tag(&["product:original_price:amount"]);
    let sale = tag(&["product:sale_price:amount"]);
    let price = sale
        .or_else(|| tag(&["product:price:amount", "og:price:amount"]))
        .and_then(|amount| reading.money.declared(amount, currency));
    let variants = price.map(|price| Variant {
        sku: tag(&["product:retailer_item_id", "product:sku"]).map(|sku| line(sku, 100)),
        sale: original
            .and_then(|was| reading.money.declared(was, currency))
            .map(|original_price| Sale { original_price }),
        price: Some(price),
        availability: tag(&["product:availability", "og:availability"]).map(availability).unwrap_or_default(),
        ..Variant::default()
    });
    Draft {
        title: tag(&["og:title"])
            .map(|title| line(title, 300))
            .filter(|title| !title.is_empty() && reading.metadata.tag("product:price:amount").is_some()),
        brand: tag(&["product:brand", "og:brand"]).map(|brand| line(brand, 200)),
        category: tag(&["product:category"])
            .map(|category| line(category.rsplit('>').next().unwrap_or_default(), 200)),
        images: tag(&["og:image:secure_url", "og:image"])
            .and_then(|url| reading.image(url, tag(&["og:image:alt"]).map(|alt| line(alt, 300))))
            .into_iter()
            .collect(),
        variants: variants.into_iter().collect(),
        ..Draft::default()
    }
}
