//! Declared products: `Product` and `ProductGroup` in JSON-LD or microdata.

use super::shown::ShownProduct;
use super::{
    Availability, MAX_IMAGES, MAX_VARIANTS, ProductChoice, ProductDraft, ProductImage, ProductPage, Sale,
    Variant, same,
};
use crate::facts::money::Price;
use crate::facts::text::line;
use crate::facts::things::{Thing, Things};

const PRODUCT_TYPES: &[&str] = &["Product", "ProductGroup", "ProductModel", "Vehicle", "Car"];

/// Properties that lead to products other than the page's own.
const OTHER_PAGE_TYPES: &[&str] = &[
    "isRelatedTo",
    "isSimilarTo",
    "isAccessoryOrSparePartFor",
    "isConsumableFor",
    "itemListElement",
    "item",
    "hasVariant",
    "isVariantOf",
    "itemReviewed",
    "about",
    "mentions",
    "makesOffer",
    "model",
];

/// The page's own product among those it declares.
pub(super) fn find_product(
    product_page: &ProductPage,
    things: &Things,
    shown: &ShownProduct,
) -> Option<ProductDraft> {
    let mut candidates: Vec<(i32, Thing)> = things
        .all()
        .filter(|(via, thing)| {
            thing.is(PRODUCT_TYPES) && via.is_none_or(|via| !OTHER_PAGE_TYPES.contains(&via))
        })
        .map(|(_, thing)| (likeness(product_page, thing, shown), thing))
        .collect();
    // Several offers of one page may each point back at the same product.
    candidates.dedup_by_key(|(_, thing)| thing.key());
    let best = candidates.iter().map(|(score, _)| *score).max()?;
    if candidates.len() > 1 && best < 2 {
        return None;
    }
    let (_, thing) = candidates.into_iter().find(|(score, _)| *score == best)?;
    Some(draft(product_page, thing))
}

/// How well a declared product matches the subject of the page.
fn likeness(product_page: &ProductPage, thing: Thing, shown: &ShownProduct) -> i32 {
    let mut score = 0;
    if let Some(name) = thing.text("name") {
        let name = name.to_lowercase();
        let title = product_page.metadata.title.as_deref().unwrap_or_default().to_lowercase();
        let heading = shown.title.as_deref().unwrap_or_default().to_lowercase();
        if !heading.is_empty() && (heading.contains(&name) || name.contains(&heading)) {
            score += 4;
        } else if title.contains(&name) {
            score += 2;
        }
    }
    if let (Some(url), Some(own)) = (thing.text("url"), own_address(product_page))
        && product_page.address(&url).is_some_and(|url| bare_address(&url) == bare_address(&own))
    {
        score += 2;
    }
    if thing.has("hasVariant") {
        score += 2;
    }
    if thing.has("offers") {
        score += 1;
    }
    score
}

/// The canonical URL, else the page's URL.
pub(super) fn own_address(product_page: &ProductPage) -> Option<String> {
    let tagged = || product_page.metadata.tag("og:url").and_then(|url| product_page.address(url));
    let found = || product_page.page.base().url().map(ToString::to_string);
    product_page.metadata.canonical.clone().or_else(tagged).or_else(found)
}

fn bare_address(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/')
}

fn draft(product_page: &ProductPage, thing: Thing) -> ProductDraft {
    let images = images(product_page, thing);
    let mut variants = Vec::new();
    for child in thing.things("hasVariant") {
        let mut offered = offers(product_page, child);
        let base = Variant {
            id: child.text("productID").or_else(|| child.text("@id")),
            sku: child.text("sku"),
            title: child.text("name"),
            values: values(thing, child),
            images: self::images(product_page, child),
            ..Variant::default()
        };
        if offered.is_empty() {
            offered.push(Variant::default());
        }
        variants.extend(offered.into_iter().map(|offer| Variant {
            id: offer.id.or_else(|| base.id.clone()),
            sku: base.sku.clone().or(offer.sku),
            title: base.title.clone().or(offer.title),
            values: base.values.clone(),
            images: base.images.clone(),
            ..offer
        }));
        if variants.len() >= MAX_VARIANTS {
            break;
        }
    }
    if variants.is_empty() {
        variants = offers(product_page, thing);
        let alone = variants.len() == 1;
        for variant in &mut variants {
            let known = alone.then(|| thing.text("sku")).flatten();
            variant.sku = variant.sku.take().or(known);
            if alone && variant.values.is_empty() {
                variant.values = values(thing, thing);
            }
        }
    }
    ProductDraft {
        title: thing.text("name"),
        brand: thing.text("brand").or_else(|| thing.text("manufacturer")),
        category: thing
            .text("category")
            .map(|category| category.rsplit(['>', '/']).next().unwrap_or_default().trim().to_owned()),
        url: thing
            .text("url")
            .and_then(|url| product_page.address(&url))
            .or_else(|| own_address(product_page)),
        description: thing.text("description"),
        images,
        variants,
    }
}

/// The distinguishing properties of a variant: those its group varies by, else the usual ones.
fn values(group: Thing, variant: Thing) -> std::collections::BTreeMap<String, ProductChoice> {
    let mut names: Vec<String> = group
        .texts("variesBy")
        .iter()
        .map(|name| name.rsplit(['/', ':', '#']).next().unwrap_or_default().to_owned())
        .collect();
    if names.is_empty() && group.key() != variant.key() {
        names = ["color", "size", "material", "pattern"].map(str::to_owned).to_vec();
    }
    let mut values: std::collections::BTreeMap<_, _> = names
        .into_iter()
        .filter_map(|name| Some((name.clone(), ProductChoice::One(variant.text(&name)?))))
        .collect();
    if group.key() != variant.key() {
        for property in variant.things("additionalProperty").into_iter().take(20) {
            if let (Some(name), Some(value)) = (property.text("name"), property.text("value")) {
                values.entry(line(&name, 80)).or_insert(ProductChoice::One(value));
            }
        }
    }
    values
}

/// The offers of a product, one variant each.
fn offers(product_page: &ProductPage, thing: Thing) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for offer in thing.things("offers") {
        let inner = if offer.is(&["AggregateOffer"]) { offer.things("offers") } else { Vec::new() };
        let each = if inner.is_empty() { vec![offer] } else { inner };
        for one in each {
            let variant = variant(product_page, one, offer);
            let known = variants.iter().any(|known| {
                known.sku == variant.sku
                    && known.title == variant.title
                    && known.id == variant.id
                    && known.price == variant.price
            });
            if !known {
                variants.push(variant);
            }
            if variants.len() >= MAX_VARIANTS {
                return variants;
            }
        }
    }
    variants
}

fn variant(product_page: &ProductPage, offer: Thing, outer: Thing) -> Variant {
    let currency = offer.text("priceCurrency").or_else(|| outer.text("priceCurrency"));
    let declared = |amount: Option<String>, currency: Option<String>| {
        product_page.money.declared(&amount?, currency.as_deref())
    };
    let mut price = declared(offer.text("price"), currency.clone());
    let mut was: Option<Price> = None;
    for specification in offer.things("priceSpecification") {
        let currency = specification.text("priceCurrency").or_else(|| currency.clone());
        let Some(stated) = declared(specification.text("price"), currency) else { continue };
        let kind = specification.text("priceType").unwrap_or_default();
        if ["ListPrice", "StrikethroughPrice", "MSRP", "SRP", "RegularPrice"]
            .iter()
            .any(|name| kind.ends_with(name))
        {
            was = was.or(Some(stated));
        } else if price.is_none() {
            price = Some(stated);
        }
    }
    if price.is_none() {
        price = declared(offer.text("lowPrice"), currency);
    }
    // A list price alone is the price.
    let price = price.or_else(|| was.clone());
    let sale = match (&price, was) {
        (Some(price), Some(was)) if !same(price.amount, was.amount) => Some(Sale { original_price: was }),
        _ => None,
    };
    let item = offer.things("itemOffered").into_iter().next();
    Variant {
        id: offer.text("productID").or_else(|| offer.text("identifier")),
        sku: offer.text("sku").or_else(|| item?.text("sku")),
        title: offer.text("name").or_else(|| item?.text("name")),
        price,
        sale,
        availability: offer.text("availability").map(|word| availability(&word)).unwrap_or_default(),
        images: images(product_page, offer),
        ..Variant::default()
    }
}

/// The meaning of a schema.org, Open Graph or shop term for availability.
pub(super) fn availability(word: &str) -> Availability {
    let name = word.trim().rsplit(['/', '#', ':']).next().unwrap_or_default();
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let absent = [
        "outofstock",
        "soldout",
        "discontinued",
        "oos",
        "preorder",
        "presale",
        "backorder",
        "pending",
        "reserved",
        "unavailable",
    ];
    Availability {
        in_stock: !absent.contains(&plain.as_str()),
        text: Some(line(name, 80)).filter(|name| !name.is_empty()),
    }
}

fn images(product_page: &ProductPage, thing: Thing) -> Vec<ProductImage> {
    let mut images: Vec<ProductImage> = Vec::new();
    let described = thing.things("image").into_iter().filter_map(|image| {
        let url = image.text("contentUrl").or_else(|| image.text("url")).or_else(|| image.text("@id"))?;
        product_page.image(&url, image.text("caption").or_else(|| image.text("name")))
    });
    let named = thing.texts("image").into_iter().filter_map(|url| product_page.image(&url, None));
    for image in described.chain(named) {
        if !images.iter().any(|known| known.url == image.url) {
            images.push(image);
        }
        if images.len() == MAX_IMAGES {
            break;
        }
    }
    images
}
