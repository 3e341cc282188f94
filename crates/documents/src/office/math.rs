//! Formulas of Word (OMML) as LaTeX, from the inside out without recursion.

use std::fmt::Write as _;

use crate::package::{Node, Step, XmlTree};

/// The parts of one element that are already LaTeX, with the names of their elements.
type Parts = Vec<(String, String)>;

pub(crate) fn latex(tree: &XmlTree, math: Node) -> String {
    let mut open: Vec<Parts> = vec![Parts::new()];
    let mut walk = tree.walk(math);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(node) => {
                let name = tree.name(node);
                if name.ends_with("Pr") {
                    walk.skip_children(node);
                } else if name.is_empty() {
                    if tree.parent(node).is_some_and(|parent| tree.is(parent, "t"))
                        && let Some(parts) = open.last_mut()
                    {
                        parts.push((String::new(), tree.own_text(node).to_owned()));
                    }
                    continue;
                }
                open.push(Parts::new());
            }
            Step::Leave(node) => {
                let name = tree.name(node);
                if name.is_empty() {
                    continue;
                }
                let Some(parts) = open.pop() else { break };
                if name.ends_with("Pr") {
                    continue;
                }
                let written = element(tree, node, name, &parts);
                if let Some(outer) = open.last_mut() {
                    outer.push((name.to_owned(), written));
                }
            }
        }
    }
    let whole: String = open.pop().into_iter().flatten().map(|(_, latex)| latex).collect();
    squeeze(&whole)
}

fn element(tree: &XmlTree, node: Node, name: &str, parts: &[(String, String)]) -> String {
    let all = || parts.iter().map(|(_, latex)| latex.as_str()).collect::<String>();
    let part = |wanted: &str| {
        let found = parts.iter().find(|(name, _)| name == wanted);
        found.map(|(_, latex)| latex.trim().to_owned()).unwrap_or_default()
    };
    let property = |properties: &str, wanted: &str| {
        let found = tree.path(node, &[properties, wanted]);
        found.map(|found| tree.attribute(found, "val").unwrap_or_default().to_owned())
    };
    match name {
        "t" => symbols(&all()),
        "r" if tree.path(node, &["rPr", "nor"]).is_some() => {
            let text = all();
            if text.trim().is_empty() { text } else { format!("\\text{{{text}}}") }
        }
        "f" => match property("fPr", "type").as_deref() {
            Some("noBar") => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{{{}}}{{{}}}", part("num"), part("den")),
            Some("lin") => format!("{}/{}", part("num"), part("den")),
            _ => format!("\\frac{{{}}}{{{}}}", part("num"), part("den")),
        },
        "sSup" => format!("{}^{{{}}}", part("e"), part("sup")),
        "sSub" => format!("{}_{{{}}}", part("e"), part("sub")),
        "sSubSup" => format!("{}_{{{}}}^{{{}}}", part("e"), part("sub"), part("sup")),
        "sPre" => format!("{{}}_{{{}}}^{{{}}}{}", part("sub"), part("sup"), part("e")),
        "rad" => match part("deg") {
            degree if degree.is_empty() => format!("\\sqrt{{{}}}", part("e")),
            degree => format!("\\sqrt[{degree}]{{{}}}", part("e")),
        },
        "nary" => {
            let sign = property("naryPr", "chr").unwrap_or_else(|| "∫".to_owned());
            let mut out = symbols(&sign).trim().to_owned();
            for (mark, limit) in [('_', part("sub")), ('^', part("sup"))] {
                if !limit.is_empty() {
                    let _ = write!(out, "{mark}{{{limit}}}");
                }
            }
            format!("{out} {}", part("e"))
        }
        "d" => delimited(&property, parts),
        "func" => {
            let function = part("fName");
            let known =
                ["sin", "cos", "tan", "log", "ln", "exp", "max", "min", "lim", "det", "arcsin", "arccos"];
            let shown = if known.contains(&function.as_str()) { format!("\\{function}") } else { function };
            format!("{shown}{}", bracketed(&part("e")))
        }
        "limLow" => format!("{}_{{{}}}", lim_base(&part("e")), part("lim")),
        "limUpp" => format!("{}^{{{}}}", lim_base(&part("e")), part("lim")),
        "acc" => {
            let command = accent(&property("accPr", "chr").unwrap_or_else(|| "\u{302}".to_owned()));
            format!("\\{command}{{{}}}", part("e"))
        }
        "bar" => match property("barPr", "pos").as_deref() {
            Some("top") => format!("\\overline{{{}}}", part("e")),
            _ => format!("\\underline{{{}}}", part("e")),
        },
        "groupChr" => match property("groupChrPr", "pos").as_deref() {
            Some("top") => format!("\\overbrace{{{}}}", part("e")),
            _ => format!("\\underbrace{{{}}}", part("e")),
        },
        "mr" => parts.iter().map(|(_, cell)| cell.trim()).collect::<Vec<_>>().join(" & "),
        "m" => {
            let rows: Vec<&str> =
                parts.iter().filter(|(name, _)| name == "mr").map(|(_, row)| row.as_str()).collect();
            format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ "))
        }
        "eqArr" => {
            let rows: Vec<&str> = parts.iter().map(|(_, row)| row.trim()).collect();
            if let [row] = rows.as_slice() {
                return (*row).to_owned();
            }
            format!("\\begin{{array}}{{l}}{}\\end{{array}}", rows.join(" \\\\ "))
        }
        _ => all(),
    }
}

fn delimited(property: &dyn Fn(&str, &str) -> Option<String>, parts: &[(String, String)]) -> String {
    let bracket = |wanted: &str, usual: &str| {
        let found = property("dPr", wanted).unwrap_or_else(|| usual.to_owned());
        match found.as_str() {
            "" => ".".to_owned(),
            "{" => "\\{".to_owned(),
            "}" => "\\}".to_owned(),
            "⟨" => "\\langle ".to_owned(),
            "⟩" => "\\rangle ".to_owned(),
            "⌊" => "\\lfloor ".to_owned(),
            "⌋" => "\\rfloor ".to_owned(),
            "⌈" => "\\lceil ".to_owned(),
            "⌉" => "\\rceil ".to_owned(),
            "‖" => "\\|".to_owned(),
            found => found.to_owned(),
        }
    };
    let between = property("dPr", "sepChr").unwrap_or_else(|| "|".to_owned());
    let inner: Vec<&str> = parts.iter().filter(|(name, _)| name == "e").map(|(_, e)| e.trim()).collect();
    format!("\\left{}{}\\right{}", bracket("begChr", "("), inner.join(&between), bracket("endChr", ")"))
}

/// An argument that is not already in brackets.
fn bracketed(argument: &str) -> String {
    let argument = argument.trim();
    if argument.starts_with("\\left") || argument.starts_with('(') {
        argument.to_owned()
    } else {
        format!("({argument})")
    }
}

fn lim_base(base: &str) -> String {
    if matches!(base, "lim" | "max" | "min" | "sup" | "inf") { format!("\\{base}") } else { base.to_owned() }
}

fn accent(mark: &str) -> &'static str {
    match mark.chars().next() {
        Some('\u{303}' | '~') => "tilde",
        Some('\u{304}' | '\u{305}' | '¯') => "bar",
        Some('\u{307}') => "dot",
        Some('\u{308}') => "ddot",
        Some('\u{20d7}' | '→') => "vec",
        Some('\u{301}') => "acute",
        Some('\u{300}') => "grave",
        Some('\u{30c}') => "check",
        Some('\u{306}') => "breve",
        _ => "hat",
    }
}

/// Characters that have a command of their own.
fn symbols(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if let Some((_, command)) = COMMANDS.iter().find(|(symbol, _)| *symbol == c) {
            out.push_str(" \\");
            out.push_str(command);
            out.push(' ');
        } else {
            match c {
                '#' | '%' | '&' | '_' | '{' | '}' => {
                    out.push('\\');
                    out.push(c);
                }
                '−' => out.push('-'),
                // With a space on both sides it cannot be taken for a tag.
                '<' => out.push_str(" < "),
                '>' => out.push_str(" > "),
                '\u{2061}' | '\u{200b}' => {}
                c => out.push(c),
            }
        }
    }
    out
}

const COMMANDS: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "epsilon"),
    ('ϵ', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "phi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
    ('∞', "infty"),
    ('∑', "sum"),
    ('⋃', "bigcup"),
    ('⋂', "bigcap"),
    ('⋀', "bigwedge"),
    ('⋁', "bigvee"),
    ('∐', "coprod"),
    ('∭', "iiint"),
    ('°', "circ"),
    ('∏', "prod"),
    ('∫', "int"),
    ('∬', "iint"),
    ('∮', "oint"),
    ('∯', "oiint"),
    ('∰', "oiiint"),
    ('∂', "partial"),
    ('∇', "nabla"),
    ('±', "pm"),
    ('∓', "mp"),
    ('×', "times"),
    ('÷', "div"),
    ('⋅', "cdot"),
    ('∙', "cdot"),
    ('≤', "leq"),
    ('≥', "geq"),
    ('≠', "neq"),
    ('≈', "approx"),
    ('≡', "equiv"),
    ('∼', "sim"),
    ('∝', "propto"),
    ('∈', "in"),
    ('∉', "notin"),
    ('⊂', "subset"),
    ('⊆', "subseteq"),
    ('∪', "cup"),
    ('∩', "cap"),
    ('∀', "forall"),
    ('∃', "exists"),
    ('→', "rightarrow"),
    ('←', "leftarrow"),
    ('⇒', "Rightarrow"),
    ('⇔', "Leftrightarrow"),
    ('…', "ldots"),
    ('⋯', "cdots"),
    ('∅', "emptyset"),
    ('√', "sqrt"),
];

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::latex;
    use crate::package::XmlTree;

    fn written(xml: &str) -> String {
        let tree = XmlTree::parse(format!("<m:oMath>{xml}</m:oMath>").as_bytes()).expect("a tree");
        latex(&tree, tree.root())
    }

    #[test]
    fn fractions_roots_and_powers() {
        let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let power = format!("<m:sSup><m:e>{}</m:e><m:sup>{}</m:sup></m:sSup>", r("b"), r("2"));
        let root = format!("<m:rad><m:deg/><m:e>{power}{}</m:e></m:rad>", r("-4ac"));
        let top = format!("{}{root}", r("-b±"));
        let fraction = format!("<m:f><m:num>{top}</m:num><m:den>{}</m:den></m:f>", r("2a"));
        assert_eq!(written(&format!("{}{fraction}", r("x="))), "x=\\frac{-b \\pm \\sqrt{b^{2}-4ac}}{2a}");
    }

    #[test]
    fn sums_and_brackets() {
        let xml = "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub><m:r><m:t>k=0</m:t></m:r></m:sub>\
                   <m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:d><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d></m:e></m:nary>";
        assert_eq!(written(xml), "\\sum_{k=0}^{n} \\left(x\\right)");
    }
}
