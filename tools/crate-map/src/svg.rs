//! Writes the picture. Boxes are opaque and the rest is a middle grey, so it can be read on a light and on a dark page.

use crate::graph::Graph;
use crate::layout::{BOX_HEIGHT, BOX_WIDTH, Cell, Layout, position};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const CAPTION_HEIGHT: f64 = 30.0;
/// Characters of a description that fit on a line of a box, and lines that fit in it.
const LINE_CHARACTERS: usize = 28;
const MAX_LINES: usize = 5;

const STYLE: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.box { fill: #f6f8fa; stroke: #57606a; }
.name { fill: #0a3069; font-size: 15px; font-weight: 600; }
.words { fill: #24292f; font-size: 11px; }
.arrow { fill: none; stroke: #848d97; stroke-width: 1.4; }
.head { fill: #848d97; }
.caption { fill: #848d97; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  .box { fill: #161b22; stroke: #8b949e; }
  .name { fill: #a5d6ff; }
  .words { fill: #e6edf3; }
}
";

pub fn write(graph: &Graph, layout: &Layout) -> String {
    let (width, height) = (layout.width, layout.height + CAPTION_HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>The crates of Gannet and which of them each one uses</title>\n\
         <!-- Drawn by `cargo run -p gannet-crate-map`; do not edit. -->\n\
         <style>\n{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"head\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n"
    );
    write_arrows(&mut svg, graph, layout);
    for (layer, row) in layout.rows.iter().enumerate() {
        for (cell, middle) in row {
            if let Cell::Crate(number) = cell {
                let (left, top) = (middle - BOX_WIDTH / 2.0, layout.top(layer));
                write_box(
                    &mut svg,
                    &graph.crates[*number].name,
                    &graph.crates[*number].description,
                    left,
                    top,
                );
            }
        }
    }
    let _ = writeln!(
        svg,
        "<text class=\"caption\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">An arrow means \u{201c}uses\u{201d}. \
         A crate may also use directly whatever its arrows lead to. Nothing uses a crate above it.</text>\n</svg>",
        width / 2.0,
        height - 10.0
    );
    svg
}

fn write_box(svg: &mut String, name: &str, description: &str, left: f64, top: f64) {
    let _ = writeln!(
        svg,
        "<rect class=\"box\" x=\"{left:.0}\" y=\"{top:.0}\" width=\"{BOX_WIDTH:.0}\" height=\"{BOX_HEIGHT:.0}\" rx=\"6\"/>\n\
         <text class=\"name\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
        left + 10.0,
        top + 20.0,
        escape(name)
    );
    for (number, line) in wrap(description).iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text class=\"words\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            left + 10.0,
            top + 37.0 + 13.5 * number as f64,
            escape(line)
        );
    }
}

/// Arrows leave and reach a box at points of their own, in the order of where they come from or go to.
fn write_arrows(svg: &mut String, graph: &Graph, layout: &Layout) {
    let mut routes = Vec::new();
    let mut leaving: BTreeMap<usize, Vec<(f64, usize)>> = BTreeMap::new();
    let mut arriving: BTreeMap<usize, Vec<(f64, usize)>> = BTreeMap::new();
    for (from, one) in graph.crates.iter().enumerate() {
        for to in &one.uses {
            let route = Layout::route(graph, from, *to);
            let at = |(layer, cell): (usize, Cell)| position(&layout.rows[layer], cell);
            leaving.entry(from).or_default().push((at(route[1]), routes.len()));
            arriving.entry(*to).or_default().push((at(route[route.len() - 2]), routes.len()));
            routes.push(route);
        }
    }
    let starts = ports(&leaving);
    let ends = ports(&arriving);
    for (number, route) in routes.iter().enumerate() {
        let mut path = String::new();
        let last = route.len() - 1;
        for (step, (layer, cell)) in route.iter().enumerate() {
            let middle = position(&layout.rows[*layer], *cell);
            let (top, bottom) = (layout.top(*layer), layout.top(*layer) + BOX_HEIGHT);
            let x = middle
                + if step == 0 {
                    starts[&number]
                } else if step == last {
                    ends[&number]
                } else {
                    0.0
                };
            if step == 0 {
                let _ = write!(path, "M{x:.0} {bottom:.0}");
                continue;
            }
            let (before_layer, before) = route[step - 1];
            let before_x =
                position(&layout.rows[before_layer], before) + if step == 1 { starts[&number] } else { 0.0 };
            let from_y = layout.top(before_layer) + BOX_HEIGHT;
            let half = f64::midpoint(from_y, top);
            let _ = write!(path, " C{before_x:.0} {half:.0} {x:.0} {half:.0} {x:.0} {top:.0}");
            if step != last {
                let _ = write!(path, " V{bottom:.0}");
            }
        }
        let _ = writeln!(svg, "<path class=\"arrow\" d=\"{path}\" marker-end=\"url(#head)\"/>");
    }
}

/// For each arrow how far from the middle of its box it starts or ends.
fn ports(at_boxes: &BTreeMap<usize, Vec<(f64, usize)>>) -> BTreeMap<usize, f64> {
    let mut ports = BTreeMap::new();
    for arrows in at_boxes.values() {
        let mut arrows = arrows.clone();
        arrows.sort_by(|one, other| one.0.total_cmp(&other.0));
        let apart = BOX_WIDTH / (arrows.len() + 1) as f64;
        for (rank, (_, arrow)) in arrows.iter().enumerate() {
            ports.insert(*arrow, apart * (rank + 1) as f64 - BOX_WIDTH / 2.0);
        }
    }
    ports
}

/// At most [`MAX_LINES`] lines; a description that is too long for its box ends in an ellipsis.
fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if lines[last].chars().count() + 1 + word.chars().count() <= LINE_CHARACTERS {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else if lines.len() < MAX_LINES {
            lines.push(word.to_owned());
        } else {
            lines[last].push('\u{2026}');
            break;
        }
    }
    lines
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn descriptions_wrap_and_are_escaped() {
        assert_eq!(super::wrap("short words"), ["short words"]);
        let long = super::wrap(&"word ".repeat(100));
        assert_eq!(long.len(), super::MAX_LINES);
        assert!(long[0].len() <= super::LINE_CHARACTERS && long[4].ends_with('\u{2026}'));
        assert_eq!(super::escape("a < b & c"), "a &lt; b &amp; c");
    }
}
