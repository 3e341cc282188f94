//! The visible parts of a product page: heading, price, buy button.

use super::choices::{SOLD_OUT_PHRASES, legend, options, radios, select_name};
use super::declared::own_address;
use super::{Availability, ProductChoice, ProductDraft, ProductPage, Sale, Variant};
use crate::facts::money::Price;
use crate::facts::text::{has_part, line, of_node};
use crate::facts::things::Things;
use content::metadata::Metadata;
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::BTreeMap;

/// Nodes after the heading that are searched for price and choices.
const MAX_DISTANCE_NODES: u32 = 1_500;
/// A price tag has no more nodes than this.
const MAX_TAG_NODES: u32 = 30;
const MAX_TAG_BYTES: usize = 90;
const MAX_CHOICES: usize = 10;

/// Texts of buy buttons, in lower case.
const BUY_PHRASES: &[&str] = &[
    "add to cart",
    "add to bag",
    "add to basket",
    "buy now",
    "add to trolley",
    "pre-order",
    "preorder",
    "in den warenkorb",
    "in den einkaufswagen",
    "jetzt kaufen",
    "ajouter au panier",
    "acheter maintenant",
    "añadir al carrito",
    "agregar al carrito",
    "añadir a la cesta",
    "comprar ahora",
    "aggiungi al carrello",
    "acquista ora",
    "adicionar ao carrinho",
    "comprar agora",
    "in winkelwagen",
    "in winkelmand",
    "lägg i varukorg",
    "köp nu",
    "dodaj do koszyka",
    "do koszyka",
    "přidat do košíku",
    "do košíku",
    "kosárba",
    "добавить в корзину",
    "в корзину",
    "купить",
    "カートに入れる",
    "カートに追加",
    "加入购物车",
    "加入購物車",
    "장바구니",
    "sepete ekle",
    "læg i kurv",
    "legg i handlekurv",
    "lisää ostoskoriin",
    "adaugă în coș",
];

/// Words next to amounts that are not the price of the product.
const NO_PRICE: &[&str] = &[
    "shipping",
    "delivery",
    "save ",
    "over ",
    " off",
    "/month",
    "/mo",
    "versand",
    "lieferung",
    "spare",
    "livraison",
    "envío",
    "spedizione",
    "verzend",
    "coupon",
    "gift card",
    "installment",
    "per month",
    "klarna",
    "monat",
];

/// The visible product.
#[derive(Debug, Default)]
pub(super) struct ShownProduct {
    pub(super) title: Option<String>,
    pub(super) price: Option<Price>,
    pub(super) was: Option<Price>,
    /// Buy buttons on the page; several mean a list of products.
    buttons: usize,
    gone: Option<String>,
    sku: Option<String>,
    choices: Vec<(String, Vec<(String, bool)>)>,
}

impl ShownProduct {
    pub(super) fn find(product_page: &ProductPage, visible: &NodeSet) -> Self {
        let dom = product_page.page.dom();
        let mut shown = Self { buttons: buttons(dom, visible), ..Self::default() };
        let heading = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::H1 && visible.reaches(dom, id));
        let Some(heading) = heading else { return shown };
        shown.title = Some(of_node(dom, heading, Some(visible), 300)).filter(|title| !title.is_empty());
        let end = dom.len().min(heading.index().saturating_add(MAX_DISTANCE_NODES as usize));
        let mut at = dom.subtree_end(heading);
        while at.index() < end {
            budget::spend(1);
            let id = at;
            at = NodeId(id.0 + 1);
            if !dom.is_element(id) {
                continue;
            }
            // The next large heading begins something else: details, reviews, other products.
            if matches!(dom.tag(id), Tag::H1 | Tag::H2 | Tag::Footer) && shown.price.is_some() {
                break;
            }
            shown.read_choice(dom, id);
            if dom.subtree_end(id).0 - id.0 <= MAX_TAG_NODES
                && visible.reaches(dom, id)
                && shown.read_tag(product_page, id, visible)
            {
                at = dom.subtree_end(id);
            }
        }
        shown
    }

    /// Reads a small element as a price tag, a stock note or a stock number. `true` when its children need
    /// not be read.
    fn read_tag(&mut self, product_page: &ProductPage, id: NodeId, visible: &NodeSet) -> bool {
        let dom = product_page.page.dom();
        let class = dom.attr(id, Attr::Class).unwrap_or_default();
        let text = of_node(dom, id, Some(visible), 2 * MAX_TAG_BYTES);
        if text.is_empty() || text.len() > MAX_TAG_BYTES {
            return false;
        }
        if self.sku.is_none() && (has_part(class, &["sku"]) || dom.attr(id, Attr::Itemprop) == Some("sku")) {
            let value = text.rsplit(':').next().unwrap_or_default().trim();
            if !value.is_empty() && value.len() <= 60 && !value.contains(' ') {
                self.sku = Some(value.to_owned());
            }
        }
        let lower = text.to_lowercase();
        if self.gone.is_none()
            && SOLD_OUT_PHRASES.iter().any(|word| lower.contains(word))
            && dom.tag(id) != Tag::Option
        {
            self.gone = Some(text.clone());
        }
        let struck = is_struck(dom, id);
        let found = product_page.money.find(&text, 4);
        if found.is_empty()
            || (!has_part(class, &["price"]) && NO_PRICE.iter().any(|word| lower.contains(word)))
        {
            return false;
        }
        // An element with the old and the new price is read part by part.
        let parts = dom.descendants(id).filter(|&node| dom.is_element(node)).count();
        if found.len() > 1 && parts > 0 {
            return false;
        }
        // Currency and cents may be in separate elements: the whole text is better than its parts.
        let Some(first) = found.into_iter().next() else { return false };
        let slot = if struck { &mut self.was } else { &mut self.price };
        if slot.is_none() {
            *slot = Some(first.price);
        }
        true
    }

    /// Reads a list of options or a group of radio buttons.
    fn read_choice(&mut self, dom: &Dom, id: NodeId) {
        if self.choices.len() >= MAX_CHOICES {
            return;
        }
        let (name, options) = match dom.tag(id) {
            Tag::Select => (select_name(dom, id), options(dom, id)),
            Tag::Fieldset => (legend(dom, id), radios(dom, id)),
            _ => return,
        };
        let Some(name) = name else { return };
        let other = [
            "qty",
            "quantity",
            "menge",
            "country",
            "currency",
            "sort",
            "orderby",
            "lang",
            "language",
            "rating",
            "quantité",
        ];
        if options.len() > 1
            && !has_part(&name, &other)
            && !self.choices.iter().any(|(known, _)| *known == name)
        {
            self.choices.push((name, options));
        }
    }

    /// Whether the page itself, without declarations, is the page of one product.
    pub(super) fn sells_one_thing(&self, metadata: &Metadata) -> bool {
        let tagged = metadata
            .tag("og:type")
            .is_some_and(|kind| kind == "product" || kind == "og:product" || kind == "product.item")
            || metadata.tag("product:price:amount").is_some();
        let priced = self.price.is_some() || metadata.tag("product:price:amount").is_some();
        self.title.is_some() && (tagged || (priced && (1..=3).contains(&self.buttons)))
    }

    pub(super) fn draft(&self, product_page: &ProductPage, things: &Things) -> ProductDraft {
        let availability = match &self.gone {
            Some(text) if self.buttons == 0 || self.choices.is_empty() => {
                Availability { in_stock: false, text: Some(text.clone()) }
            }
            _ => Availability::default(),
        };
        let base = Variant {
            sku: self.sku.clone(),
            price: self.price.clone(),
            sale: self.was.clone().map(|original_price| Sale { original_price }),
            availability,
            ..Variant::default()
        };
        let variants = match self.choices.as_slice() {
            [] => vec![base],
            [(name, options)] => options
                .iter()
                .map(|(option, enabled)| Variant {
                    sku: None,
                    title: Some(option.clone()),
                    values: BTreeMap::from([(name.clone(), ProductChoice::One(option.clone()))]),
                    availability: if *enabled {
                        base.availability.clone()
                    } else {
                        Availability { in_stock: false, text: None }
                    },
                    ..base.clone()
                })
                .collect(),
            many => {
                let values = many.iter().map(|(name, options)| {
                    (
                        name.clone(),
                        ProductChoice::AnyOf(options.iter().map(|(option, _)| option.clone()).collect()),
                    )
                });
                vec![Variant { values: values.collect(), ..base }]
            }
        };
        ProductDraft {
            title: self.title.clone(),
            url: own_address(product_page),
            category: category(product_page, things),
            variants,
            ..ProductDraft::default()
        }
    }
}

/// The number of buy buttons on the page.
fn buttons(dom: &Dom, visible: &NodeSet) -> usize {
    let buys = |id: NodeId| {
        let said = match dom.tag(id) {
            Tag::Button | Tag::A => of_node(dom, id, Some(visible), 60),
            Tag::Input
                if dom.attr(id, Attr::Type).is_some_and(|kind| {
                    kind.eq_ignore_ascii_case("submit") || kind.eq_ignore_ascii_case("button")
                }) =>
            {
                line(dom.attr(id, Attr::Value).unwrap_or_default(), 60)
            }
            _ => return false,
        };
        let said =
            if said.is_empty() { dom.attr(id, Attr::AriaLabel).unwrap_or_default().to_owned() } else { said };
        let lower = said.to_lowercase();
        BUY_PHRASES.iter().any(|words| lower.contains(words))
            || dom.attr(id, Attr::Name) == Some("add-to-cart")
    };
    dom.subtree(dom.root()).filter(|&id| dom.is_element(id) && buys(id)).take(50).count()
}

fn is_struck(dom: &Dom, id: NodeId) -> bool {
    std::iter::once(id).chain(dom.ancestors(id).take(3)).any(|node| {
        matches!(dom.tag(node), Tag::Del | Tag::S | Tag::Strike)
            || dom.attr(node, Attr::Class).is_some_and(|class| {
                has_part(
                    class,
                    &["was", "old", "compare", "strike", "strikethrough", "rrp", "uvp", "msrp", "original"],
                ) && !has_part(class, &["current", "now", "sale"])
            })
    })
}

/// The last but one entry of the breadcrumbs.
fn category(product_page: &ProductPage, things: &Things) -> Option<String> {
    let mut steps: Vec<String> = things
        .of_type(&["BreadcrumbList"])
        .next()
        .map(|list| {
            list.things("itemListElement")
                .into_iter()
                .filter_map(|step| step.text("name").or_else(|| step.text("item")))
                .collect()
        })
        .unwrap_or_default();
    if steps.len() < 2 {
        let dom = product_page.page.dom();
        let trail = dom.subtree(dom.root()).find(|&id| {
            matches!(dom.tag(id), Tag::Nav | Tag::Ol | Tag::Ul | Tag::Div)
                && [Attr::Class, Attr::AriaLabel, Attr::Id].iter().any(|&name| {
                    dom.attr(id, name).is_some_and(|value| has_part(value, &["breadcrumb", "breadcrumbs"]))
                })
        })?;
        steps = dom
            .descendants(trail)
            .take(300)
            .filter(|&id| dom.tag(id) == Tag::A)
            .map(|id| of_node(dom, id, None, 100))
            .collect();
        // Breadcrumbs link the pages above this page, and rarely the page itself.
        let heading =
            dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::H1).map(|id| of_node(dom, id, None, 100));
        if steps.last() != heading.as_ref() {
            steps.push(String::new());
        }
    }
    let category = steps.get(steps.len().checked_sub(2)?)?.clone();
    // The first step is the shop itself.
    (steps.len() > 2 && !category.is_empty() && !category.starts_with("http")).then_some(category)
}
