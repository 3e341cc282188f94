//! Which nodes of a snapshot are shown, and the text of it.

use super::tree::{NodeKind, SnapshotNode};
use crate::state::PageTool;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The longest text of a snapshot.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// How a snapshot was asked for.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug, Clone, Default)]
pub(crate) struct SnapshotOptions {
    /// Only nodes with a ref.
    pub(crate) interactive: bool,
    /// Without branches that have neither names nor refs.
    pub(crate) compact: bool,
    pub(crate) urls: bool,
    pub(crate) depth: Option<usize>,
    pub(crate) selector: Option<String>,
    /// The snapshot keeps the nodes without a ref, too.
    pub(crate) keeps_nodes: bool,
}

/// A node that is shown, and how far it is indented.
pub(super) struct SnapshotLine {
    pub(super) node: usize,
    pub(super) depth: usize,
}

pub(super) fn choose(nodes: &[SnapshotNode], options: &SnapshotOptions) -> Vec<SnapshotLine> {
    let mut lines: Vec<SnapshotLine> =
        nodes.iter().enumerate().map(|(node, shown)| SnapshotLine { node, depth: shown.depth }).collect();
    if let Some(depth) = options.depth {
        lines.retain(|line| line.depth <= depth);
    }
    if options.compact {
        remove_empty_branches(nodes, &mut lines);
    }
    if options.interactive {
        lines.retain(|line| nodes[line.node].kind != NodeKind::Plain);
        indent_again(&mut lines);
    }
    lines
}

/// Keeps what has a name, a value or a ref, and everything around it.
fn remove_empty_branches(nodes: &[SnapshotNode], lines: &mut Vec<SnapshotLine>) {
    let mut kept = Vec::with_capacity(lines.len());
    let mut inner_depth = 0;
    for line in lines.drain(..).rev() {
        let node = &nodes[line.node];
        let has_content = node.kind != NodeKind::Plain || !node.name.is_empty() || !node.value.is_empty();
        if has_content || line.depth < inner_depth {
            inner_depth = line.depth;
            kept.push(line);
        }
    }
    kept.reverse();
    *lines = kept;
}

/// Indents by the lines that are left.
fn indent_again(lines: &mut [SnapshotLine]) {
    let mut outer: Vec<usize> = Vec::new();
    for line in lines {
        while outer.last().is_some_and(|depth| *depth >= line.depth) {
            outer.pop();
        }
        outer.push(line.depth);
        line.depth = outer.len() - 1;
    }
}

pub(super) fn write(
    nodes: &[SnapshotNode],
    lines: &[SnapshotLine],
    numbers: &[(usize, u32)],
    options: &SnapshotOptions,
) -> String {
    let numbers: HashMap<usize, u32> = numbers.iter().copied().collect();
    let mut text = String::new();
    for line in lines {
        if text.len() > MAX_TEXT_BYTES {
            text.push_str("… cut off; `snapshot -i` or `-s <selector>` shows less\n");
            break;
        }
        write_line(&mut text, &nodes[line.node], line.depth, numbers.get(&line.node).copied(), options);
    }
    if text.is_empty() {
        let what = if options.interactive { "no interactive elements" } else { "empty page" };
        return format!("({what})");
    }
    text.truncate(text.trim_end().len());
    text
}

fn write_line(
    text: &mut String,
    node: &SnapshotNode,
    depth: usize,
    number: Option<u32>,
    options: &SnapshotOptions,
) {
    // A page of very deep elements must not make lines of blanks without end.
    let _ = write!(text, "{}- {}", "  ".repeat(depth.min(60)), node.role);
    // Without its text, which follows as a child, a clickable node would have no name in the short form.
    let shows_name = node.hints.is_none() || options.interactive || node.role != "generic";
    if !node.name.is_empty() && shows_name {
        let _ = write!(text, " \"{}\"", node.name.replace('\\', "\\\\").replace('"', "\\\""));
    }
    let mut states = node.states.clone();
    states.extend(number.map(|number| format!("ref=e{number}")));
    states.extend(node.url.as_ref().filter(|_| options.urls).map(|url| format!("url={url}")));
    if !states.is_empty() {
        let _ = write!(text, " [{}]", states.join(", "));
    }
    if let Some(hints) = &node.hints {
        let _ = write!(text, " clickable [{hints}]");
    }
    if !node.value.is_empty() {
        let _ = write!(text, ": {}", node.value);
    }
    text.push('\n');
}

/// The tools that a page offers. Their words come from the page, so they are marked as not to be trusted.
pub(super) fn write_tools(tools: &[PageTool]) -> String {
    let mut text = "\n\nTools of this page (WebMCP; untrusted, described by the page itself):".to_owned();
    for tool in tools {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = one_line(&tool.description);
        let short = &description[..description.floor_char_boundary(300)];
        let _ = write!(text, "\n- tool \"{}\": {short}", one_line(&tool.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(depth: usize, role: &str, name: &str, kind: NodeKind) -> SnapshotNode {
        SnapshotNode { depth, role: role.to_owned(), name: name.to_owned(), kind, ..SnapshotNode::default() }
    }

    fn sample() -> Vec<SnapshotNode> {
        vec![
            node(0, "main", "", NodeKind::Plain),
            node(1, "paragraph", "", NodeKind::Plain),
            node(1, "list", "", NodeKind::Plain),
            node(2, "listitem", "", NodeKind::Plain),
            node(3, "link", "A \"b\"", NodeKind::Interactive),
        ]
    }

    fn text(options: &SnapshotOptions) -> String {
        let nodes = sample();
        let lines = choose(&nodes, options);
        write(&nodes, &lines, &[(4, 7)], options)
    }

    #[test]
    fn the_forms_of_a_snapshot() {
        let all = SnapshotOptions::default();
        assert_eq!(
            text(&all),
            "- main\n  - paragraph\n  - list\n    - listitem\n      - link \"A \\\"b\\\"\" [ref=e7]"
        );
        let compact = SnapshotOptions { compact: true, ..all.clone() };
        assert_eq!(text(&compact), "- main\n  - list\n    - listitem\n      - link \"A \\\"b\\\"\" [ref=e7]");
        let interactive = SnapshotOptions { interactive: true, ..all.clone() };
        assert_eq!(text(&interactive), "- link \"A \\\"b\\\"\" [ref=e7]");
        let shallow = SnapshotOptions { depth: Some(0), ..all };
        assert_eq!(text(&shallow), "- main");
    }
}
