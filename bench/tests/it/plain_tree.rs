//! The plain tree that parsing is compared with: what html5ever's rules make of bad pages.

use gannet_bench::plain_tree::{Element, Node, NodeData, parse};

/// The tree as text: elements with their attributes and children, texts in quotes.
fn outline(node: &Node) -> String {
    let children: String = node.children.borrow().iter().map(|child| outline(child)).collect();
    match &node.data {
        NodeData::Document => children,
        NodeData::Doctype([name, ..]) => format!("!{name} "),
        NodeData::Text(text) => format!("'{}'", text.borrow()),
        NodeData::Comment(text) => format!("<!--{text}-->"),
        NodeData::ProcessingInstruction([target, _]) => format!("<?{target}>"),
        NodeData::Element(Element { name, attributes, template, .. }) => {
            let texts = attributes
                .borrow()
                .iter()
                .map(|one| format!(" {}={}", one.name.local, one.value))
                .collect::<Vec<_>>();
            let inner = template.borrow().as_ref().map_or_else(String::new, |inner| outline(inner));
            format!("{}{}({inner}{children})", name.local, texts.concat())
        }
    }
}

fn body(html: &str) -> String {
    let outline = outline(&parse(html.as_bytes()));
    outline
        .strip_prefix("html(head()body(")
        .and_then(|rest| rest.strip_suffix("))"))
        .expect(&outline)
        .to_owned()
}

#[test]
fn texts_merge_and_attributes_are_kept() {
    assert_eq!(outline(&parse(b"<!doctype html><p a=1>x")), "!html html(head()body(p a=1('x')))");
    assert_eq!(body("a&amp;b<!--c--><p>d"), "'a&b'<!--c-->p('d')");
    let merged = outline(&parse(b"<html a=1><body b=2>x<html a=3 c=4>y<body b=5 d=6>"));
    assert_eq!(merged, "html a=1 c=4(head()body b=2 d=6('xy'))");
}

#[test]
fn nodes_move_as_the_standard_says() {
    // Text in a table goes before it, and what goes there later joins it.
    assert_eq!(body("<table>a<tr>b"), "'ab'table(tbody(tr()))");
    assert_eq!(body("<table>a<i>b</table>"), "'a'i('b')table()");
    // Formatting elements that are closed too late are split.
    assert_eq!(body("<b>1<p>2</b>3"), "b('1')p(b('2')'3')");
    assert_eq!(body("d<template>a<b>c</template>e"), "'d'template('a'b('c'))'e'");
}

#[test]
fn a_page_may_be_nested_deeper_than_the_stack() {
    assert_eq!(parse("<div>".repeat(5_000).as_bytes()).children.borrow().len(), 1);
}
