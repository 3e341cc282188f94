//! The lists of a text: which mark an item has, counted as Word counts.

use std::collections::HashMap;

use crate::package::XmlTree;

const LEVELS: usize = 9;

#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, [Level; LEVELS]>,
    lists: HashMap<String, ListInstance>,
    /// Items counted so far, by definition: lists that share one go on counting.
    counts: HashMap<String, [Option<u32>; LEVELS]>,
    /// Lists that restart their definition and have done so.
    restarted: Vec<String>,
}

#[derive(Debug, Clone)]
struct Level {
    format: String,
    text: String,
    start: u32,
}

impl Default for Level {
    fn default() -> Self {
        Self { format: "decimal".to_owned(), text: String::new(), start: 1 }
    }
}

#[derive(Debug, Default)]
struct ListInstance {
    definition: String,
    starts: HashMap<usize, u32>,
}

/// The mark in front of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Bullet,
    /// A plain number.
    Number(u32),
    /// Anything else: `a)`, `IV.`, `1.2.3`.
    Label(String),
    None,
}

impl Numbering {
    pub(super) fn from_xml(tree: &XmlTree) -> Self {
        let mut numbering = Self::default();
        for node in tree.children(tree.root()) {
            match tree.name(node) {
                "abstractNum" => {
                    let Some(id) = tree.attribute(node, "abstractNumId") else { continue };
                    let mut levels: [Level; LEVELS] = Default::default();
                    for level in tree.children(node).filter(|node| tree.is(*node, "lvl")) {
                        let value = |name: &str| {
                            let found = tree.child(level, name)?;
                            tree.attribute(found, "val")
                        };
                        let index =
                            tree.attribute(level, "ilvl").and_then(|index| index.parse::<usize>().ok());
                        let Some(slot) = index.and_then(|index| levels.get_mut(index)) else { continue };
                        *slot = Level {
                            format: value("numFmt").unwrap_or("decimal").to_owned(),
                            text: value("lvlText").unwrap_or_default().to_owned(),
                            start: value("start").and_then(|start| start.parse().ok()).unwrap_or(1),
                        };
                    }
                    numbering.definitions.insert(id.to_owned(), levels);
                }
                "num" => {
                    let Some(id) = tree.attribute(node, "numId") else { continue };
                    let mut list = ListInstance::default();
                    for part in tree.children(node) {
                        let value = tree.attribute(part, "val").unwrap_or_default();
                        match tree.name(part) {
                            "abstractNumId" => value.clone_into(&mut list.definition),
                            "lvlOverride" => {
                                let level = tree.attribute(part, "ilvl").and_then(|level| level.parse().ok());
                                let start = tree.child(part, "startOverride");
                                let start =
                                    start.and_then(|start| tree.attribute(start, "val")?.parse().ok());
                                if let (Some(level), Some(start)) = (level, start) {
                                    list.starts.insert(level, start);
                                }
                            }
                            _ => {}
                        }
                    }
                    numbering.lists.insert(id.to_owned(), list);
                }
                _ => {}
            }
        }
        numbering
    }

    /// Counts one more item and says what stands in front of it.
    pub(super) fn next_mark(&mut self, list_id: &str, level: u8) -> Mark {
        let level = usize::from(level).min(LEVELS - 1);
        let Some(list) = self.lists.get(list_id) else { return Mark::Bullet };
        let Some(levels) = self.definitions.get(&list.definition) else { return Mark::Bullet };
        let counts = self.counts.entry(list.definition.clone()).or_default();
        if !list.starts.is_empty() && !self.restarted.iter().any(|id| id == list_id) {
            self.restarted.push(list_id.to_owned());
            for (level, start) in &list.starts {
                if let Some(count) = counts.get_mut(*level) {
                    *count = start.checked_sub(1);
                }
            }
        }
        let start = levels[level].start;
        counts[level] = Some(counts[level].map_or(start, |count| count.saturating_add(1)));
        counts[level + 1..].fill(None);
        let own = &levels[level];
        match own.format.as_str() {
            "bullet" => return Mark::Bullet,
            "none" => return Mark::None,
            _ => {}
        }
        if own.format == "decimal" && own.text.matches('%').count() <= 1 {
            return Mark::Number(counts[level].unwrap_or(start));
        }
        let mut label = own.text.clone();
        for (index, defined) in levels.iter().enumerate().take(level + 1) {
            let count = counts[index].unwrap_or(defined.start);
            label = label.replace(&format!("%{}", index + 1), &format_number(count, &defined.format));
        }
        if label.trim().is_empty() { Mark::None } else { Mark::Label(label) }
    }
}

fn format_number(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "lowerRoman" => roman(number),
        "upperRoman" => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

/// a to z, then aa, bb, …, as Word counts.
fn letters(number: u32) -> String {
    const MAX_REPEATS: u32 = 20;
    if number == 0 {
        return "0".to_owned();
    }
    let letter = char::from(b'a' + u8::try_from((number - 1) % 26).unwrap_or(0));
    letter.to_string().repeat(((number - 1) / 26 + 1).min(MAX_REPEATS) as usize)
}

fn roman(mut number: u32) -> String {
    const NUMERALS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if number == 0 || number > 3999 {
        return number.to_string();
    }
    let mut out = String::new();
    for (value, numeral) in NUMERALS {
        while number >= value {
            out.push_str(numeral);
            number -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Mark, Numbering};
    use crate::package::XmlTree;

    fn numbering(levels: &str) -> Numbering {
        let xml = format!(
            "<numbering><abstractNum abstractNumId='0'>{levels}</abstractNum>\
             <num numId='1'><abstractNumId val='0'/></num>\
             <num numId='2'><abstractNumId val='0'/>\
             <lvlOverride ilvl='0'><startOverride val='1'/></lvlOverride></num></numbering>"
        );
        Numbering::from_xml(&XmlTree::parse(xml.as_bytes()).expect("a tree"))
    }

    #[test]
    fn lists_go_on_unless_they_restart() {
        let mut lists =
            numbering("<lvl ilvl='0'><start val='1'/><numFmt val='decimal'/><lvlText val='%1.'/></lvl>");
        assert_eq!(lists.next_mark("1", 0), Mark::Number(1));
        assert_eq!(lists.next_mark("1", 0), Mark::Number(2));
        assert_eq!(lists.next_mark("2", 0), Mark::Number(1));
        assert_eq!(lists.next_mark("2", 0), Mark::Number(2));
    }

    #[test]
    fn labels_of_several_levels_are_kept_as_text() {
        let mut lists = numbering(
            "<lvl ilvl='0'><numFmt val='upperRoman'/><lvlText val='%1.'/></lvl>\
             <lvl ilvl='1'><numFmt val='decimal'/><lvlText val='%1.%2'/></lvl>",
        );
        assert_eq!(lists.next_mark("1", 0), Mark::Label("I.".into()));
        assert_eq!(lists.next_mark("1", 1), Mark::Label("I.1".into()));
        assert_eq!(lists.next_mark("1", 1), Mark::Label("I.2".into()));
        assert_eq!(lists.next_mark("1", 0), Mark::Label("II.".into()));
        assert_eq!(lists.next_mark("1", 1), Mark::Label("II.1".into()));
        assert_eq!(lists.next_mark("unknown", 3), Mark::Bullet);
    }
}
