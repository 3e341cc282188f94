//! Formulas as pages hold them: TeX in scripts, in `MathML` annotations, and in elements that a script would
//! render.
//!
//! Says which nodes are a formula and what its TeX is; the markdown writer asks for each element that may be
//! one, and [`crate::page`] adds formula scripts to a selection. Renders nothing, and does not choose content:
//! a formula goes with the text around it.

use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Longer text than this in one element is not a formula.
const MAX_TEX_BYTES: usize = 20_000;
/// How much of a script is searched for the name of a formula renderer.
const MAX_SEARCHED_SCRIPT_BYTES: usize = 4 << 10;
/// Ancestors of a formula searched for the renderer's wrapper, and siblings searched for its source.
const MAX_WRAPPERS: usize = 4;
const MAX_SIBLINGS: usize = 6;

/// The TeX of a formula on one line, and whether the page shows it as a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formula {
    pub tex: String,
    pub display: bool,
}

impl Formula {
    /// Tidies TeX as found in a page; `None` when nothing is left.
    pub fn new(tex: &str, display: bool) -> Option<Self> {
        let tex = to_one_line(unwrap_style(tex));
        (!tex.is_empty()).then_some(Self { tex, display })
    }
}

/// Where the formulas of a page may be, so that pages without any pay nothing for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormulaPlaces {
    /// Some attribute names a formula or a renderer: elements are worth asking.
    pub in_elements: bool,
    /// The page loads a renderer that looks for delimiters in ordinary text.
    pub in_text: bool,
}

impl FormulaPlaces {
    pub fn find(dom: &Dom) -> Self {
        let in_elements =
            ["math", "Math", "katex", "arithmatex"].iter().any(|part| dom.is_in_attributes(part));
        let mut scripts = dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Script);
        Self { in_elements, in_text: scripts.any(|id| is_text_renderer(dom, id)) }
    }
}

/// A script that renders TeX between delimiters in the text of the page.
fn is_text_renderer(dom: &Dom, id: NodeId) -> bool {
    if let Some(source) = dom.attr(id, Attr::Src) {
        let source = source.to_ascii_lowercase();
        return source.contains("mathjax") || (source.contains("katex") && source.contains("auto-render"));
    }
    let body = dom.first_child(id).map_or("", |child| dom.text(child));
    let body = &body[..body.floor_char_boundary(MAX_SEARCHED_SCRIPT_BYTES)];
    body.contains("MathJax") || body.contains("renderMathInElement")
}

/// Whether an element is a script that holds TeX.
pub(crate) fn is_script(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Script
        && dom
            .attr(id, Attr::Type)
            .and_then(|kind| kind.trim_start().get(..8))
            .is_some_and(|start| start.eq_ignore_ascii_case("math/tex"))
}

/// The TeX of a script element.
pub(crate) fn from_script(dom: &Dom, id: NodeId) -> Option<Formula> {
    if !is_script(dom, id) {
        return None;
    }
    let display = dom.attr(id, Attr::Type).is_some_and(|kind| kind.contains("display"));
    // Character references are not decoded in scripts, and mean nothing in TeX. Anywhere else they are decoded already.
    let tex = dom.text_content(id).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Formula::new(&tex, display)
}

/// The TeX of a `math` element; its plain text where it has no TeX.
pub(crate) fn from_math(dom: &Dom, id: NodeId) -> Option<Formula> {
    let display = dom.attr_named(id, "display") == Some("block")
        || dom.ancestors(id).take(MAX_WRAPPERS).any(|node| has_class(dom, node, "katex-display"));
    let annotation = dom.descendants(id).find(|&node| {
        dom.local_name(node) == "annotation"
            && dom
                .attr(node, Attr::Encoding)
                .is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
    });
    if let Some(node) = annotation {
        return Formula::new(&dom.text_content(node), display);
    }
    let alternative = dom.attr_named(id, "alttext").and_then(|tex| Formula::new(tex, display));
    alternative.or_else(|| Formula::new(&dom.text_content(id), display))
}

/// The TeX of an element that a script would render: marked as a formula by its class, with nothing in it but
/// TeX.
pub(crate) fn from_element(dom: &Dom, id: NodeId) -> Option<Formula> {
    let (mut marked, mut inline, mut display) = (false, false, false);
    for name in dom.attr(id, Attr::Class)?.split_ascii_whitespace() {
        match name {
            "math" | "arithmatex" | "math-tex" | "tex2jax_process" | "js-inline-math" | "js-display-math" => {
                marked = true;
            }
            "math-inline" => (marked, inline) = (true, true),
            "math-display" => (marked, display) = (true, true),
            "inline" => inline = true,
            "display" => display = true,
            _ => {}
        }
    }
    if !marked {
        return None;
    }
    let (tex, number) = text_of(dom, id)?;
    let (tex, display) = match without_delimiters(&tex) {
        Some(found) => found,
        None if inline || display => (tex.as_str(), display),
        None => return None,
    };
    let mut formula = Formula::new(tex, display)?;
    if let Some(number) = number.filter(|_| display && !formula.tex.contains("\\tag")) {
        formula.tex.extend([" \\tag{", &number, "}"]);
    }
    Some(formula)
}

/// The text of an element that holds nothing but text, and the number of the equation where it has one.
fn text_of(dom: &Dom, id: NodeId) -> Option<(String, Option<String>)> {
    let (mut tex, mut number) = (String::new(), None);
    let mut at = NodeId(id.0 + 1);
    let end = dom.subtree_end(id);
    while at < end {
        budget::spend(1);
        match dom.tag(at) {
            Tag::Text => {
                if tex.len() + dom.text_len(at) > MAX_TEX_BYTES {
                    return None;
                }
                tex.push_str(dom.text(at));
            }
            Tag::Br => tex.push('\n'),
            Tag::P => {}
            _ if has_class(dom, at, "eqno") => {
                // A permalink stands inside the number: its sign is no part of it.
                let mut texts = dom.descendants(at).take(8).map(|node| dom.text(node).trim());
                let digits = texts.find(|text| !text.is_empty()).unwrap_or_default();
                let digits = digits.trim_matches(['(', ')']);
                let plain = !digits.is_empty()
                    && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-'".contains(&byte));
                number = plain.then(|| digits.to_owned());
                at = dom.subtree_end(at);
                continue;
            }
            _ if has_class(dom, at, "headerlink") => {
                at = dom.subtree_end(at);
                continue;
            }
            _ => return None,
        }
        at.0 += 1;
    }
    Some((tex, number))
}

/// What stands between the delimiters of one formula, and whether they are those of a displayed one.
fn without_delimiters(text: &str) -> Option<(&str, bool)> {
    const DELIMITERS: [(&str, &str, bool); 4] =
        [("\\(", "\\)", false), ("\\[", "\\]", true), ("$$", "$$", true), ("$", "$", false)];
    let text = text.trim();
    if text.starts_with("\\begin{") && text.ends_with('}') {
        return Some((text, true));
    }
    DELIMITERS.iter().find_map(|&(open, close, display)| {
        let inside = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inside.trim().is_empty() && !inside.contains(close)).then_some((inside, display))
    })
}

/// Whether an element is what a renderer drew of a formula whose source stands beside it.
pub(crate) fn is_rendering(dom: &Dom, id: NodeId) -> bool {
    let Some(class) = dom.attr(id, Attr::Class) else { return false };
    class.split_ascii_whitespace().any(|name| {
        if name == "katex-html" {
            return dom.prev_sibling(id).is_some_and(|node| has_class(dom, node, "katex-mathml"));
        }
        name.starts_with("MathJax") && is_before_script(dom, id)
    })
}

fn is_before_script(dom: &Dom, id: NodeId) -> bool {
    std::iter::successors(dom.next_sibling(id), |&node| dom.next_sibling(node))
        .take(MAX_SIBLINGS)
        .take_while(|&node| {
            let class = dom.attr(node, Attr::Class).unwrap_or_default();
            is_script(dom, node)
                || dom.text(node).trim().is_empty() && class.contains("MathJax")
                || dom.is_text(node) && dom.text(node).trim().is_empty()
        })
        .any(|node| is_script(dom, node))
}

/// Adds formula scripts to a selection of texts: a formula goes with the text before or after it.
pub(crate) fn keep_scripts(dom: &Dom, allowed: &NodeSet, keep: &mut NodeSet) {
    if !dom.subtree(dom.root()).any(|id| is_script(dom, id)) {
        return;
    }
    let mut waiting: Vec<NodeId> = Vec::new();
    let mut after_kept = false;
    let mut at = dom.root();
    let end = dom.subtree_end(at);
    while at < end {
        budget::spend(1);
        match dom.tag(at) {
            Tag::Script | Tag::Style | Tag::Head | Tag::Template => {
                if is_script(dom, at) && allowed.contains(at) {
                    if after_kept {
                        keep.insert_subtree(dom, at);
                    } else {
                        waiting.push(at);
                    }
                }
                at = dom.subtree_end(at);
                continue;
            }
            Tag::Text if !dom.text(at).trim().is_empty() => {
                after_kept = keep.contains(at);
                for script in waiting.drain(..).filter(|_| after_kept) {
                    keep.insert_subtree(dom, script);
                }
            }
            _ => {}
        }
        at.0 += 1;
    }
}

fn has_class(dom: &Dom, id: NodeId, wanted: &str) -> bool {
    dom.attr(id, Attr::Class).is_some_and(|class| class.split_ascii_whitespace().any(|name| name == wanted))
}

/// Encyclopaedias wrap every formula in a style group; what counts is inside.
fn unwrap_style(tex: &str) -> &str {
    let tex = tex.trim();
    ["{\\displaystyle", "{\\textstyle"]
        .iter()
        .find_map(|start| tex.strip_prefix(start)?.strip_suffix('}'))
        .map_or(tex, str::trim)
}

/// TeX on one line: white space collapsed, comments left out because they would hide the rest of the line.
fn to_one_line(tex: &str) -> String {
    let lines = tex.contains('\n');
    let mut line = String::with_capacity(tex.len());
    for part in tex.lines() {
        let part = if lines { without_comment(part) } else { part };
        for word in part.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}

fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'%' if !escaped => return &line[..at],
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    fn element(html: &str) -> Option<(String, bool)> {
        let dom = Dom::parse(html, &Limits::default());
        let id = dom.subtree(dom.body().unwrap()).nth(1).unwrap();
        from_element(&dom, id).map(|formula| (formula.tex, formula.display))
    }

    #[test]
    fn an_element_that_holds_one_formula() {
        let some = |tex: &str, display| Some((tex.to_owned(), display));
        assert_eq!(element(r"<span class='math notranslate'>\(G_{n,p}\)</span>"), some("G_{n,p}", false));
        assert_eq!(element("<div class=arithmatex>\\[a\n+ b\\]</div>"), some("a + b", true));
        assert_eq!(element(r"<span class='math inline'>x_1</span>"), some("x_1", false));
        let numbered =
            "<div class=math><span class=eqno>(7)<a class=headerlink href=#e>¶</a></span>\\[a\\]</div>";
        assert_eq!(element(numbered), some("a \\tag{7}", true));
        assert_eq!(element("<div class=math>Lessons in mathematics</div>"), None);
        assert_eq!(element(r"<span class=math>\(a\) and \(b\)</span>"), None);
        assert_eq!(element("<span class='math inline'><em>x</em><sup>2</sup></span>"), None);
        assert_eq!(element("<p class=note>\\(a\\)</p>"), None);
    }

    #[test]
    fn comments_and_references_are_no_formula() {
        let tex = "% <![CDATA[\na &lt; b \\% c % note\n d %]]>";
        let dom = Dom::parse(&format!("<script type='math/tex'>{tex}</script>"), &Limits::default());
        let script = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::Script).unwrap();
        assert_eq!(from_script(&dom, script).unwrap().tex, "a < b \\% c d");
        assert_eq!(Formula::new("{\\displaystyle x}", false).unwrap().tex, "x");
        assert_eq!(Formula::new(" \n ", false), None);
    }

    #[test]
    fn a_script_goes_with_the_text_beside_it() {
        let script = "<script type='math/tex; mode=display'>x</script>";
        let html = format!("<body>{script}<p>kept</p>{script}{script}<p>not</p>{script}<p>nor</p>");
        let dom = Dom::parse(&html, &Limits::default());
        let mut keep = NodeSet::new(&dom);
        for id in dom.subtree(dom.root()).filter(|&id| dom.text(id) == "kept") {
            keep.insert(id);
        }
        keep_scripts(&dom, &NodeSet::all(&dom), &mut keep);
        let kept: Vec<bool> = dom
            .subtree(dom.root())
            .filter(|&id| dom.tag(id) == Tag::Script)
            .map(|id| keep.contains(id))
            .collect();
        assert_eq!(kept, [true, true, true, false]);
    }
}
