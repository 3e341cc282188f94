//! One list, nested by the width of the marks above.

use super::inline;
use crate::block::ListItem;

pub(super) fn list(items: &[ListItem]) -> String {
    let mut out = String::new();
    // The column at which the text of each open level begins; an item one level deeper stands there.
    let mut columns: Vec<usize> = Vec::new();
    for item in items {
        let text = inline::paragraph(&item.text);
        if text.is_empty() {
            continue;
        }
        // An item can be only one level deeper than the one above it.
        let depth = usize::from(item.depth).min(columns.len());
        columns.truncate(depth);
        let indent = columns.last().copied().unwrap_or(0);
        let mark = item.number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
        columns.push(indent + mark.len());
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&" ".repeat(indent));
        out.push_str(&mark);
        let broken = format!("\n{}", " ".repeat(indent + mark.len()));
        out.push_str(&text.replace('\n', &broken));
    }
    out
}
