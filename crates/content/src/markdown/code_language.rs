//! The language of a code block, where the page names one.

use html::dom::{Attr, Dom, NodeId, Tag};

/// Wrappers around a block that may name its language.
const MAX_WRAPPERS: usize = 3;
/// Nodes at the start of a block searched for the elements it consists of.
const MAX_INNER_NODES: usize = 6;

/// Classes that are the name of a language, as some highlighters write them.
#[rustfmt::skip]
const LANGUAGES: &[&str] = &[
    "asm", "awk", "bash", "c", "clojure", "cmake", "coffeescript", "console", "cpp", "cs", "csharp", "css",
    "cuda", "cython", "dart", "diff", "docker", "dockerfile", "ebnf", "elisp", "elixir", "elm",
    "emacs-lisp", "erlang", "fortran", "fsharp", "go", "golang", "gradle", "graphql", "groovy", "haskell",
    "hcl", "hs", "html", "http", "ini", "java", "javascript", "jinja", "js", "json", "jsonc", "jsx",
    "julia", "kotlin", "kt", "latex", "lisp", "llvm", "lua", "makefile", "markdown", "matlab", "mysql",
    "nasm", "nginx", "nim", "nix", "objc", "objectivec", "ocaml", "pascal", "perl", "pgsql", "php",
    "plaintext", "plsql", "postgresql", "powershell", "prolog", "protobuf", "psql", "pwsh", "py", "pycon",
    "python", "python3", "qml", "r", "racket", "rb", "rs", "ruby", "rust", "sass", "scala", "scheme",
    "scss", "sh", "shell", "shell-session", "solidity", "sql", "svelte", "swift", "systemverilog", "tcl",
    "terraform", "tex", "toml", "ts", "tsx", "typescript", "vb", "vbnet", "verilog", "vhdl", "vim", "vue",
    "xml", "yaml", "yml", "zig", "zsh",
];

/// The language that a highlighter or an author named: on the block, on what it begins with, or on a wrapper.
pub(super) fn language(dom: &Dom, id: NodeId) -> Option<&str> {
    let is_code = |&node: &NodeId| matches!(dom.tag(node), Tag::Code | Tag::Pre);
    let inner = dom.descendants(id).take(MAX_INNER_NODES).filter(is_code);
    let own = inner.chain([id]).find_map(|node| named(dom, node, true));
    // A listing with line numbers is a table: its rows and cells are no wrappers.
    let in_table = |tag| matches!(tag, Tag::Td | Tag::Tr | Tag::Tbody | Tag::Table);
    let mut wrappers = dom
        .ancestors(id)
        .filter(|&node| !in_table(dom.tag(node)))
        .take(MAX_WRAPPERS)
        .filter(|&node| matches!(dom.tag(node), Tag::Div | Tag::Figure | Tag::Other | Tag::Pre));
    own.or_else(|| wrappers.find_map(|node| named(dom, node, false)))
}

fn named(dom: &Dom, id: NodeId, own: bool) -> Option<&str> {
    let data = [Attr::DataLang, Attr::DataLanguage].into_iter().find_map(|name| dom.attr(id, name));
    let class = dom.attr(id, Attr::Class).unwrap_or_default();
    // The attribute is for the language people speak; some tools put the other kind there.
    let spoken = || dom.attr(id, Attr::Lang).filter(|name| own && LANGUAGES.contains(name));
    data.and_then(sound).or_else(|| language_in_class(class, own)).or_else(spoken)
}

fn language_in_class(class: &str, own: bool) -> Option<&str> {
    const LEADS: &[&str] =
        &["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-", "brush:"];
    let named = class.split_ascii_whitespace().find_map(|name| {
        let rest = LEADS.iter().find_map(|lead| name.strip_prefix(lead))?;
        sound(rest.trim_matches([';', ':']))
            .filter(|name| !matches!(*name, "default" | "none" | "wrapper" | "container" | "block"))
            .filter(|name| own || LANGUAGES.contains(name) || !is_spoken(name))
    });
    if named.is_some() {
        return named;
    }
    if let Some((_, rest)) = class.split_once("brush:") {
        return rest.split([';', ' ']).find(|name| !name.is_empty()).and_then(sound);
    }
    let marked = own || class.contains("highlight") || class.contains("sourceCode");
    class.split_ascii_whitespace().find(|name| marked && LANGUAGES.contains(name))
}

/// A code of a language people speak, as `lang-en` on the wrapper of a translation.
fn is_spoken(name: &str) -> bool {
    let first = name.split('-').next().unwrap_or_default();
    first.len() == 2 && (name.len() == 2 || name.len() == 5)
}

/// The word that can be the language of a fence, without the options that some tools append to it.
fn sound(name: &str) -> Option<&str> {
    let name = name.trim().split([',', '{', ':']).next().unwrap_or_default();
    let fits = !name.is_empty()
        && name.len() <= 24
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    fits.then_some(name)
}
