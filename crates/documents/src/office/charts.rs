//! The data behind a chart as a table: the picture cannot be read, the numbers can.

use std::collections::BTreeMap;

use crate::block::{Block, BlockKind, Cell, Content, Span, Table};
use crate::package::{Node, XmlTree};

const MAX_SERIES: usize = 256;
const MAX_POINTS: usize = 10_000;

/// Title, kind and data of a DrawingML chart.
pub(crate) fn chart_blocks(tree: &XmlTree) -> Vec<Block> {
    let root = tree.root();
    let mut blocks = Vec::new();
    let chart = tree.descendant(root, "chart").unwrap_or(root);
    if let Some(title) = tree.child(chart, "title") {
        push_caption(&mut blocks, &text_of_runs(tree, title));
    }
    let Some(area) = tree.descendant(root, "plotArea") else { return blocks };
    let plots: Vec<Node> = tree.children(area).filter(|node| tree.name(*node).ends_with("Chart")).collect();
    if let Some(kind) = plots.first().and_then(|plot| kind_name(tree.name(*plot))) {
        push_caption(&mut blocks, kind);
    }
    let series: Vec<Node> = plots
        .iter()
        .flat_map(|plot| tree.children(*plot).filter(|node| tree.is(*node, "ser")))
        .take(MAX_SERIES)
        .collect();
    let table = series_table(tree, &series);
    if !table.is_blank() {
        blocks.push(Block::native(BlockKind::Table, Content::Table(table)));
    }
    blocks
}

fn series_table(tree: &XmlTree, series: &[Node]) -> Table {
    let mut categories: BTreeMap<usize, String> = BTreeMap::new();
    let mut columns: Vec<(String, BTreeMap<usize, String>)> = Vec::new();
    for node in series {
        let name = tree.child(*node, "tx").map(|name| values(tree, name)).unwrap_or_default();
        let name = name.into_values().collect::<Vec<_>>().join(" ");
        for part in ["cat", "xVal"] {
            if let Some(found) = tree.child(*node, part) {
                for (index, text) in values(tree, found) {
                    categories.entry(index).or_insert(text);
                }
            }
        }
        let found = ["val", "yVal"].into_iter().find_map(|part| tree.child(*node, part));
        columns.push((name, found.map(|found| values(tree, found)).unwrap_or_default()));
    }
    let last = columns.iter().flat_map(|(_, points)| points.keys()).chain(categories.keys()).max();
    let count = last.map_or(0, |last| last + 1);
    let head = std::iter::once(String::new()).chain(columns.iter().map(|(name, _)| name.clone()));
    let mut rows = vec![row(head)];
    for index in 0..count {
        let label = categories.get(&index).cloned().unwrap_or_default();
        let points = columns.iter().map(|(_, points)| points.get(&index).cloned().unwrap_or_default());
        rows.push(row(std::iter::once(label).chain(points)));
    }
    Table { rows, header_rows: 1 }
}

fn row(texts: impl Iterator<Item = String>) -> Vec<Cell> {
    texts.enumerate().map(|(column, text)| Cell::new(column, vec![Span::plain(text)])).collect()
}

/// The points that a chart keeps of its source, by their index.
fn values(tree: &XmlTree, node: Node) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    for point in tree.descendants(node).filter(|node| tree.is(*node, "pt")) {
        let index = tree.attribute(point, "idx").and_then(|index| index.parse::<usize>().ok());
        let value = tree.child(point, "v").map(|value| tree.text(value));
        if let (Some(index), Some(value)) = (index, value)
            && index < MAX_POINTS
        {
            found.insert(index, shorten_number(&value));
        }
    }
    if found.is_empty()
        && let Some(value) = tree.descendant(node, "v")
    {
        found.insert(0, tree.text(value));
    }
    found
}

/// Numbers are stored with all digits of their binary form: 4.2999999999999998 is 4.3.
fn shorten_number(text: &str) -> String {
    match text.trim().parse::<f64>() {
        Ok(number) if text.len() > 12 && number.is_finite() => crate::numbers::shortest(number),
        _ => text.trim().to_owned(),
    }
}

fn text_of_runs(tree: &XmlTree, node: Node) -> String {
    tree.descendants(node).filter(|node| tree.is(*node, "t")).map(|node| tree.text(node)).collect()
}

pub(crate) fn push_caption(blocks: &mut Vec<Block>, text: &str) {
    if !text.trim().is_empty() {
        let content = Content::Paragraph(vec![Span::plain(text.trim())]);
        blocks.push(Block::native(BlockKind::Caption, content));
    }
}

pub(crate) fn kind_name(element: &str) -> Option<&'static str> {
    Some(match element {
        "barChart" | "bar3DChart" | "chart:bar" => "Bar chart",
        "lineChart" | "line3DChart" | "stockChart" | "chart:line" | "chart:stock" => "Line chart",
        "pieChart" | "pie3DChart" | "doughnutChart" | "ofPieChart" | "chart:circle" | "chart:ring" => {
            "Pie chart"
        }
        "areaChart" | "area3DChart" | "chart:area" => "Area chart",
        "scatterChart" | "bubbleChart" | "chart:scatter" | "chart:bubble" => "Scatter chart",
        "radarChart" | "chart:radar" | "chart:filled-radar" => "Radar chart",
        "surfaceChart" | "surface3DChart" | "chart:surface" => "Surface chart",
        _ => return None,
    })
}
