//! Code: spans within text, fenced blocks with their language, every line as it was.

use super::{Flow, Gap, MarkdownWriter};
use html::dom::{Attr, Dom, NodeId, Tag};

/// Classes that are the name of a language, as some highlighters write them.
const LANGUAGES: &[&str] = &[
    "bash",
    "c",
    "clojure",
    "cmake",
    "cpp",
    "cs",
    "csharp",
    "css",
    "cuda",
    "dart",
    "diff",
    "docker",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fortran",
    "fsharp",
    "go",
    "golang",
    "gradle",
    "graphql",
    "groovy",
    "haskell",
    "hcl",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "lisp",
    "lua",
    "makefile",
    "markdown",
    "matlab",
    "nginx",
    "nix",
    "objc",
    "ocaml",
    "perl",
    "php",
    "plaintext",
    "postgresql",
    "powershell",
    "protobuf",
    "python",
    "r",
    "rb",
    "ruby",
    "rust",
    "sass",
    "scala",
    "scheme",
    "scss",
    "sh",
    "shell",
    "sql",
    "swift",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "vb",
    "vim",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
];

impl MarkdownWriter<'_> {
    /// A code span, written whole; gives the id after it.
    pub(super) fn code_span(&mut self, id: NodeId) -> NodeId {
        let dom = self.dom;
        let past = dom.subtree_end(id);
        // Some pages mark up whole listings as plain `code` holding block elements or pre-formatted lines.
        if dom.descendants(id).any(|node| matches!(dom.tag(node), Tag::Pre | Tag::Table | Tag::Ul | Tag::Ol))
        {
            return NodeId(id.0 + 1);
        }
        let mut code = String::new();
        for node in dom.descendants(id) {
            if self.keep.contains(node) {
                match dom.tag(node) {
                    Tag::Text => code.push_str(dom.text(node)),
                    Tag::Br => code.push(' '),
                    _ => {}
                }
            }
        }
        let starts_spaced = code.starts_with(|c: char| c.is_whitespace());
        let ends_spaced = code.ends_with(|c: char| c.is_whitespace());
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        if starts_spaced {
            self.inline.push_space();
        }
        if !code.is_empty() {
            let link = sole_link(dom, id).and_then(|link| {
                let url = self.options.base.resolve(dom.attr(link, Attr::Href)?)?;
                Some((url, dom.attr(link, Attr::Title).unwrap_or_default()))
            });
            if let Some((url, title)) = &link {
                self.inline.open_link(url, title.trim(), false);
            }
            self.inline.push_raw(&span(&code));
            if link.is_some() {
                self.inline.close_link();
            }
        }
        if ends_spaced {
            self.inline.push_space();
        }
        past
    }

    /// A preformatted block, written whole.
    pub(super) fn code_block(&mut self, id: NodeId) {
        let dom = self.dom;
        let code = preformatted(self, id);
        let code = code.trim_end().trim_start_matches(['\n', '\r']);
        if code.is_empty() {
            return;
        }
        if self.flow != Flow::Paragraph {
            let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
            self.flush();
            self.inline.push_raw(&span(&line));
            self.flush();
            return;
        }
        self.flush();
        self.widen_gap();
        let fence = "`".repeat(longest_run(code).max(2) + 1);
        self.start_line();
        self.out.push_str(&fence);
        self.out.push_str(language(dom, id).unwrap_or_default());
        for line in code.lines() {
            self.out.push('\n');
            let before = self.out.len();
            self.out.push_str(&self.prefix);
            self.out.push_str(line.trim_end_matches('\r'));
            if line.is_empty() {
                let kept = self.out[before..].trim_end().len();
                self.out.truncate(before + kept);
            }
        }
        self.out.push('\n');
        self.out.push_str(&self.prefix);
        self.out.push_str(&fence);
        self.end_block(Gap::Blank, false);
    }
}

/// Code between as many backticks as it needs.
fn span(code: &str) -> String {
    let sign = "`".repeat(match longest_run(code) {
        0 => 1,
        run => run + 1,
    });
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    [&sign, pad, code, pad, &sign].concat()
}

fn longest_run(code: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// The text of a `pre`, its breaks and line elements as newlines, without line-number gutters.
fn preformatted(writer: &MarkdownWriter, id: NodeId) -> String {
    let dom = writer.dom;
    let mut code = String::new();
    let mut at = NodeId(id.0 + 1);
    let end = dom.subtree_end(id);
    let mut line_ends: Vec<u32> = Vec::new();
    while at < end {
        while line_ends.last().is_some_and(|&line| line <= at.0) {
            line_ends.pop();
            end_line(&mut code);
        }
        match dom.tag(at) {
            Tag::Text => {
                if writer.keep.contains(at) {
                    code.push_str(dom.text(at));
                }
            }
            Tag::Br => code.push('\n'),
            Tag::Script | Tag::Style | Tag::Button | Tag::Svg => {
                at = dom.subtree_end(at);
                continue;
            }
            tag => {
                if is_gutter(dom, at) {
                    at = dom.subtree_end(at);
                    continue;
                }
                if matches!(tag, Tag::Div | Tag::P | Tag::Li | Tag::Tr) {
                    end_line(&mut code);
                    line_ends.push(dom.subtree_end(at).0);
                }
            }
        }
        at.0 += 1;
    }
    code
}

fn end_line(code: &mut String) {
    if !code.is_empty() && !code.ends_with('\n') {
        code.push('\n');
    }
}

/// A column of line numbers.
pub(super) fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    let named = dom.attr(id, Attr::Class).is_some_and(|class| {
        class.split_ascii_whitespace().any(|name| {
            ["lineno", "gutter", "line-number", "ln-num", "hljs-ln-n", "blob-num"]
                .iter()
                .any(|part| name.contains(part))
        })
    });
    named
        && dom.subtree(id).all(|node| {
            dom.text(node).bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
        })
}

/// The one link that holds all text of an element.
fn sole_link(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let link = dom.descendants(id).find(|&node| dom.tag(node) == Tag::A)?;
    dom.descendants(id)
        .all(|node| dom.contains(link, node) || dom.text(node).trim().is_empty())
        .then_some(link)
}

/// The language a highlighter or author named: on the block, the `code` in it, or up to two wrappers around
/// it.
fn language(dom: &Dom, id: NodeId) -> Option<&str> {
    let inner = dom.children(id).find(|&child| dom.tag(child) == Tag::Code);
    let outer = dom
        .ancestors(id)
        .take(2)
        .filter(|&node| matches!(dom.tag(node), Tag::Div | Tag::Figure | Tag::Other));
    inner.into_iter().chain([id]).chain(outer).find_map(|node| {
        let data = [Attr::DataLang, Attr::DataLanguage].into_iter().find_map(|name| dom.attr(node, name));
        let class = dom.attr(node, Attr::Class).unwrap_or_default();
        data.and_then(sound).or_else(|| language_in_class(class, node == id || Some(node) == inner))
    })
}

fn language_in_class(class: &str, bare: bool) -> Option<&str> {
    const LEADS: &[&str] =
        &["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-", "brush:"];
    let named = class.split_ascii_whitespace().find_map(|name| {
        let rest = LEADS.iter().find_map(|lead| name.strip_prefix(lead))?;
        sound(rest.trim_matches([';', ':']))
            .filter(|name| !matches!(*name, "default" | "none" | "wrapper" | "container"))
    });
    if named.is_some() {
        return named;
    }
    if let Some((_, rest)) = class.split_once("brush:") {
        return rest.split([';', ' ']).find(|name| !name.is_empty()).and_then(sound);
    }
    let marked = bare || class.contains("highlight") || class.contains("sourceCode");
    class.split_ascii_whitespace().find(|name| marked && LANGUAGES.contains(name))
}

/// Whether a word can be the language of a fence.
fn sound(name: &str) -> Option<&str> {
    let name = name.trim();
    let fits = !name.is_empty()
        && name.len() <= 24
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    fits.then_some(name)
}
