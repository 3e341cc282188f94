//! The choices of a product: lists of options and groups of radio buttons.

use crate::facts::text::{has_part, line, of_node};
use html::dom::{Attr, Dom, NodeId, Tag};

const MAX_OPTIONS: usize = 100;
/// Nodes examined of one group of choices.
const MAX_NODES: usize = 2_000;

/// Phrases for sold-out products.
pub(super) const SOLD_OUT_PHRASES: &[&str] = &[
    "sold out",
    "out of stock",
    "currently unavailable",
    "notify me when",
    "ausverkauft",
    "nicht verfügbar",
    "nicht auf lager",
    "épuisé",
    "rupture de stock",
    "indisponible",
    "agotado",
    "sin existencias",
    "esaurito",
    "non disponibile",
    "esgotado",
    "indisponível",
    "uitverkocht",
    "slutsåld",
    "slut i lager",
    "wyprzedane",
    "vyprodáno",
    "нет в наличии",
    "распродано",
    "在庫切れ",
    "売り切れ",
    "缺货",
    "售罄",
    "품절",
    "tükendi",
    "udsolgt",
    "utsolgt",
];

/// The name of a list of options: its label, else its own name.
pub(super) fn select_name(dom: &Dom, id: NodeId) -> Option<String> {
    let own = dom.attr(id, Attr::Id);
    let label = || {
        // Labels are close to their controls.
        let from = id.0.saturating_sub(60);
        (from..id.0)
            .map(NodeId)
            .rev()
            .find(|&node| {
                dom.tag(node) == Tag::Label && (dom.attr_named(node, "for") == own || dom.contains(node, id))
            })
            .map(|node| {
                let text: String = dom
                    .descendants(node)
                    .take_while(|&child| child < id)
                    .map(|child| dom.text(child))
                    .collect();
                line(&text, 80)
            })
    };
    let written = || dom.attr(id, Attr::Name).or(own).map(|name| line(name, 80));
    let name = dom
        .attr(id, Attr::AriaLabel)
        .map(|label| line(label, 80))
        .or_else(label)
        .filter(|name| !name.is_empty())
        .or_else(written)?;
    let name =
        name.trim_end_matches([':', '*', ' ']).trim_start_matches("attribute_").trim_start_matches("pa_");
    (!name.is_empty()).then(|| name.to_owned())
}

pub(super) fn options(dom: &Dom, select: NodeId) -> Vec<(String, bool)> {
    let options = dom.descendants(select).take(MAX_NODES).filter(|&id| dom.tag(id) == Tag::Option);
    options
        .filter(|&id| dom.attr(id, Attr::Value) != Some(""))
        .take(MAX_OPTIONS)
        .filter_map(|id| {
            let text = of_node(dom, id, None, 120);
            let lower = text.to_lowercase();
            let enabled = !dom.has_attr(id, Attr::Disabled)
                && !SOLD_OUT_PHRASES.iter().any(|word| lower.contains(word));
            let name = text.split(" - ").next().unwrap_or_default().trim().to_owned();
            (!name.is_empty()).then_some((name, enabled))
        })
        .collect()
}

pub(super) fn legend(dom: &Dom, fieldset: NodeId) -> Option<String> {
    let legend = dom.descendants(fieldset).take(MAX_NODES).find(|&id| dom.tag(id) == Tag::Legend)?;
    let text = of_node(dom, legend, None, 80);
    let name = text.split(':').next().unwrap_or_default().trim();
    (!name.is_empty()).then(|| name.to_owned())
}

pub(super) fn radios(dom: &Dom, fieldset: NodeId) -> Vec<(String, bool)> {
    dom.descendants(fieldset)
        .take(MAX_NODES)
        .filter(|&id| dom.tag(id) == Tag::Input && dom.attr(id, Attr::Type) == Some("radio"))
        .take(MAX_OPTIONS)
        .filter_map(|id| {
            let value = line(dom.attr(id, Attr::Value)?, 120);
            let enabled = !dom.has_attr(id, Attr::Disabled)
                && !has_part(dom.attr(id, Attr::Class).unwrap_or_default(), &["disabled"]);
            (!value.is_empty()).then_some((value, enabled))
        })
        .collect()
}
