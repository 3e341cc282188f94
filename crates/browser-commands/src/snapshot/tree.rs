//! From accessibility trees to the nodes that a snapshot shows: layout and repeated text are left out.

use super::collect::{AxNode, Collected, FrameTree};
use std::rc::Rc;

/// Nodes of a snapshot at most.
const MAX_NODES: usize = 20_000;
const MAX_NAME_BYTES: usize = 1_000;
/// Nodes that are looked at, shown or not.
const MAX_STEPS: usize = 200_000;

/// Roles that one acts on.
const INTERACTIVE: &[&str] = &[
    "button",
    "link",
    "textbox",
    "searchbox",
    "checkbox",
    "radio",
    "combobox",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "treeitem",
    "Iframe",
    "DisclosureTriangle",
    "ColorWell",
    "Date",
    "DateTime",
    "InputTime",
    "PopUpButton",
    "Video",
    "Audio",
];
/// Roles of content that one may want to read or scope to, when they have a name.
const CONTENT: &[&str] = &[
    "heading",
    "cell",
    "gridcell",
    "columnheader",
    "rowheader",
    "listitem",
    "article",
    "region",
    "main",
    "navigation",
];
/// Roles without meaning for a reader.
const LAYOUT: &[&str] = &[
    "",
    "none",
    "presentation",
    "RootWebArea",
    "WebArea",
    "InlineTextBox",
    "ListMarker",
    "GenericContainer",
    "LineBreak",
];
/// Roles whose name is made of their content, so that the content would only repeat it.
const NAMED_BY_CONTENT: &[&str] = &[
    "button",
    "link",
    "heading",
    "cell",
    "gridcell",
    "columnheader",
    "rowheader",
    "option",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "treeitem",
    "checkbox",
    "radio",
    "switch",
    "DisclosureTriangle",
];
const TEXT_FIELDS: &[&str] = &["textbox", "searchbox", "spinbutton"];

/// What a node is for a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NodeKind {
    /// One can act on it.
    Interactive,
    /// Named content: a heading, a cell, a landmark.
    Content,
    #[default]
    Plain,
}

/// A node as a snapshot shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SnapshotNode {
    pub(crate) depth: usize,
    pub(crate) kind: NodeKind,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) states: Vec<String>,
    pub(crate) url: Option<String>,
    /// Whether text can be typed into it.
    pub(crate) is_editable: bool,
    /// Whether that text may have several lines.
    pub(crate) is_multiline: bool,
    /// Why a node without a role can be clicked.
    pub(crate) hints: Option<String>,
    pub(crate) backend_node: Option<i64>,
    pub(crate) frame: usize,
}

/// A node that is still to be shown, with what was shown above it.
struct PendingNode {
    frame: usize,
    node: usize,
    depth: usize,
    /// The text that an outer node has shown already.
    shown_text: Option<Rc<str>>,
}

/// The shown nodes of all frames in the order of the document.
pub(super) fn flatten(collected: &Collected) -> Vec<SnapshotNode> {
    let mut shown: Vec<SnapshotNode> = Vec::new();
    let Some(outer) = collected.frames.first() else { return shown };
    let mut waiting = vec![PendingNode { frame: 0, node: outer.root, depth: 0, shown_text: None }];
    for _ in 0..MAX_STEPS {
        let Some(step) = waiting.pop() else { break };
        let tree = &collected.frames[step.frame];
        let Some(node) = tree.nodes.get(step.node) else { continue };
        let line = show(tree, node, &step);
        let mut depth = step.depth;
        let mut shown_text = step.shown_text.clone();
        if let Some(line) = line {
            depth += 1;
            if NAMED_BY_CONTENT.contains(&line.role.as_str()) && !line.name.is_empty() {
                shown_text = Some(line.name.as_str().into());
            } else if TEXT_FIELDS.contains(&line.role.as_str()) {
                shown_text = Some(clean(&node.value).into());
            }
            shown.push(line);
            if shown.len() >= MAX_NODES {
                break;
            }
        }
        let below =
            |frame: usize, node: usize| PendingNode { frame, node, depth, shown_text: shown_text.clone() };
        if let Some(inner) = tree.embedded.get(&step.node) {
            waiting.push(below(*inner, collected.frames[*inner].root));
        }
        waiting.extend(node.children.iter().rev().map(|child| below(step.frame, *child)));
    }
    remove_repeated_labels(shown)
}

fn show(tree: &FrameTree, node: &AxNode, step: &PendingNode) -> Option<SnapshotNode> {
    let clickable = node.backend_node.and_then(|node| tree.clickable.get(&node));
    if node.is_ignored && clickable.is_none() {
        return None;
    }
    let role = if node.is_ignored { "generic" } else { node.role.as_str() };
    let name = clean(&node.name);
    if role == "StaticText" {
        let is_shown = step.shown_text.as_ref().is_some_and(|text| text.contains(&name));
        if name.is_empty() || is_shown {
            return None;
        }
    }
    let is_layout = LAYOUT.contains(&role) || (role == "generic" && name.is_empty());
    if is_layout && clickable.is_none() {
        return None;
    }
    let kind = if INTERACTIVE.contains(&role) || clickable.is_some() {
        NodeKind::Interactive
    } else if CONTENT.contains(&role) && !name.is_empty() {
        NodeKind::Content
    } else {
        NodeKind::Plain
    };
    let value = clean(&node.value);
    let url = node.properties.iter().find(|(property, _)| property == "url").map(|(_, url)| url.clone());
    Some(SnapshotNode {
        depth: step.depth,
        kind,
        name: if name.is_empty() {
            clickable.map(|found| found.text.clone()).unwrap_or_default()
        } else {
            name.clone()
        },
        value: if value == name || role == "StaticText" { String::new() } else { value },
        states: states(role, &node.properties),
        url: url.filter(|_| role == "link"),
        is_multiline: node
            .properties
            .iter()
            .any(|(property, value)| property == "multiline" && value == "true"),
        is_editable: node.properties.iter().any(|(property, _)| property == "editable"),
        hints: clickable.filter(|_| !INTERACTIVE.contains(&role)).map(|found| found.hints.clone()),
        role: role.to_owned(),
        backend_node: node.backend_node,
        frame: step.frame,
    })
}

/// The states that matter to someone who acts: `level=1`, `checked=true`, `disabled`.
fn states(role: &str, properties: &[(String, String)]) -> Vec<String> {
    let get =
        |wanted: &str| properties.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let mut states = Vec::new();
    for name in ["level", "checked", "pressed", "expanded"] {
        if let Some(value) = get(name)
            && (name != "level" || role == "heading" || role == "treeitem")
        {
            states.push(format!("{name}={value}"));
        }
    }
    for name in ["selected", "disabled", "required", "readonly"] {
        if get(name) == Some("true") {
            states.push(name.to_owned());
        }
    }
    states
}

/// One line of at most so many bytes, blanks folded.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len().min(MAX_NAME_BYTES));
    for word in text.split_whitespace() {
        if clean.len() + word.len() > MAX_NAME_BYTES {
            let room = MAX_NAME_BYTES.saturating_sub(clean.len());
            clean.push_str(&word[..word.floor_char_boundary(room)]);
            clean.push('…');
            break;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    clean
}

/// A label around a control repeats the control's name; only the control stays.
fn remove_repeated_labels(nodes: Vec<SnapshotNode>) -> Vec<SnapshotNode> {
    let mut drops = vec![false; nodes.len()];
    let mut lifts = vec![0_usize; nodes.len()];
    for at in 0..nodes.len() {
        if nodes[at].role != "LabelText" {
            continue;
        }
        let inner = nodes[at + 1..].iter().take_while(|node| node.depth > nodes[at].depth).count();
        let range = at + 1..at + 1 + inner;
        let control = nodes[range.clone()]
            .iter()
            .find(|node| node.kind == NodeKind::Interactive && !node.name.is_empty());
        let Some(control) = control else { continue };
        drops[at] = true;
        for place in range {
            drops[place] |= nodes[place].role == "StaticText" && control.name.contains(&nodes[place].name);
            lifts[place] += 1;
        }
    }
    let kept = nodes.into_iter().zip(drops).zip(lifts).filter(|((_, drop), _)| !drop);
    kept.map(|((node, _), lift)| SnapshotNode { depth: node.depth.saturating_sub(lift), ..node }).collect()
}
