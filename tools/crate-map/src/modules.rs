//! Which top-level modules of a crate use each other, read from its sources, and whether they do so in a circle.
//!
//! A module uses another one where its code, or that of a module below it, names it by a path from `crate` or `super`;
//! a name that the crate's root re-exports counts as the module it comes from. Test code is left out: it may use
//! whatever it needs. Sources are read as text, not compiled, so a path that a macro puts together is not seen.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// For each top-level module the ones it uses, each with a file where it does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;
/// The tokens of each file, by its path from `src`.
type Sources = BTreeMap<PathBuf, Vec<String>>;

/// The circles among the top-level modules of the crate in `src`, one line each: who uses whom, and where.
pub fn find_circles(src: &Path) -> Result<Vec<String>, String> {
    Ok(circles_among(&find_uses(read_files(src)?)))
}

fn circles_among(uses: &Uses) -> Vec<String> {
    let mut circles = Vec::new();
    let mut reported = BTreeSet::new();
    for start in uses.keys() {
        if reported.contains(start) {
            continue;
        }
        if let Some(circle) = shortest_circle(uses, start) {
            reported.extend(circle.iter().cloned());
            circles.push(describe(uses, &circle));
        }
    }
    circles
}

fn describe(uses: &Uses, circle: &[String]) -> String {
    let mut text = circle[0].clone();
    for (number, module) in circle.iter().enumerate() {
        let next = &circle[(number + 1) % circle.len()];
        // Writing to a string cannot fail.
        let _ = write!(text, " \u{2192} {next} ({})", uses[module][next]);
    }
    text
}

/// The shortest way from a module back to itself.
fn shortest_circle(uses: &Uses, start: &String) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&String, &String> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(module) = waiting.pop_front() {
        for next in uses.get(module)?.keys() {
            if next == start {
                let mut circle = vec![module.clone()];
                let mut at = module;
                while at != start {
                    at = came_from[at];
                    circle.push(at.clone());
                }
                circle.reverse();
                return Some(circle);
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, module);
                waiting.push_back(next);
            }
        }
    }
    None
}

fn find_uses(mut files: Sources) -> Uses {
    let mut tests = BTreeSet::new();
    for (file, tokens) in &mut files {
        let (kept, test_modules) = without_tests(tokens);
        tests.extend(test_modules.iter().flat_map(|module| module.files(file)));
        *tokens = kept;
    }
    files.retain(|file, _| !file.ancestors().any(|part| tests.contains(part)));
    let roots = [Path::new("lib.rs"), Path::new("main.rs")];
    let top = |file: &Path| {
        let first = file.components().next()?.as_os_str().to_str()?;
        Some(first.strip_suffix(".rs").unwrap_or(first).to_owned())
    };
    let modules: BTreeSet<String> =
        files.keys().filter(|file| !roots.contains(&file.as_path())).filter_map(|file| top(file)).collect();
    let mut exported = BTreeMap::new();
    for tokens in roots.iter().filter_map(|root| files.get(*root)) {
        for (name, module) in exports(tokens, &modules) {
            if name == "*" {
                let own = files.iter().filter(|(file, _)| top(file).as_ref() == Some(&module));
                exported.extend(
                    own.flat_map(|(_, tokens)| public_items(tokens)).map(|item| (item, module.clone())),
                );
            } else {
                exported.insert(name, module);
            }
        }
    }
    let mut uses: Uses = modules.iter().map(|module| (module.clone(), BTreeMap::new())).collect();
    for (file, tokens) in &files {
        if roots.contains(&file.as_path()) {
            continue;
        }
        let Some(own) = top(file) else { continue };
        for name in root_names(tokens, module_depth(file)) {
            let used = if modules.contains(&name) { Some(&name) } else { exported.get(&name) };
            if let Some(used) = used.filter(|used| **used != own) {
                let known = uses.entry(own.clone()).or_default();
                known.entry(used.clone()).or_insert_with(|| file.display().to_string());
            }
        }
    }
    uses
}

/// How many modules a file is below the root: 1 for `a.rs` and `a/mod.rs`, 2 for `a/b.rs`.
fn module_depth(file: &Path) -> usize {
    let parts = file.components().count();
    if file.file_name().is_some_and(|name| name == "mod.rs") { parts - 1 } else { parts }
}

fn read_files(src: &Path) -> Result<Sources, String> {
    let mut files = Sources::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).map_err(failed)?;
                let below = path.strip_prefix(src).map_err(|error| error.to_string())?;
                files.insert(below.to_owned(), tokens(&text));
            }
        }
    }
    Ok(files)
}

/// The words and signs of a source, without comments and white space; a string is one token with its quotes.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let rest = &letters[at..];
        let length = if rest.starts_with(&['/', '/']) {
            rest.iter().position(|letter| *letter == '\n').unwrap_or(rest.len())
        } else if rest.starts_with(&['/', '*']) {
            comment_length(rest)
        } else if let Some(length) = string_length(rest) {
            found.push(rest[..length].iter().collect());
            length
        } else if is_word(rest[0]) {
            let length = rest.iter().position(|letter| !is_word(*letter)).unwrap_or(rest.len());
            found.push(rest[..length].iter().collect());
            length
        } else if rest.starts_with(&[':', ':']) {
            found.push("::".to_owned());
            2
        } else {
            if !rest[0].is_whitespace() {
                found.push(rest[0].to_string());
            }
            1
        };
        at += length;
    }
    found
}

/// Block comments may stand in each other.
fn comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(&['/', '*']) {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(&['*', '/']) {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The length of the string, byte string or character that begins here; none where there is none.
fn string_length(rest: &[char]) -> Option<usize> {
    let prefix =
        rest.iter().position(|letter| !matches!(letter, 'b' | 'r' | 'c')).filter(|length| *length <= 2)?;
    let raw = rest[..prefix].contains(&'r');
    let hashes = rest[prefix..].iter().take_while(|letter| raw && **letter == '#').count();
    let open = prefix + hashes;
    match rest.get(open)? {
        '"' if raw => {
            let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let after = rest[open + 1..].windows(end.len()).position(|part| part == end);
            Some(after.map_or(rest.len(), |after| open + 1 + after + end.len()))
        }
        '"' => Some(quoted_length(rest, open)),
        // A lifetime (`'a`) has no closing quote.
        '\'' if rest.get(open + 1) == Some(&'\\') || rest.get(open + 2) == Some(&'\'') => {
            Some(quoted_length(rest, open))
        }
        _ => None,
    }
}

fn quoted_length(rest: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while at < rest.len() && rest[at] != rest[open] {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// A module that only tests have: its name, and its file where one is named.
struct TestModule {
    name: String,
    path: Option<String>,
}

impl TestModule {
    /// Where the module may be that `declaring` declares.
    fn files(&self, declaring: &Path) -> Vec<PathBuf> {
        let folder = declaring.parent().unwrap_or(Path::new(""));
        if let Some(path) = &self.path {
            return vec![folder.join(path)];
        }
        let stem = declaring.file_stem().unwrap_or_default();
        let is_root = ["lib", "main", "mod"].iter().any(|root| stem == *root);
        let folder = if is_root { folder.to_owned() } else { folder.join(stem) };
        vec![folder.join(format!("{}.rs", self.name)), folder.join(&self.name)]
    }
}

/// The tokens without items under `#[cfg(test)]`, and the modules among those that have a file of their own.
fn without_tests(tokens: &[String]) -> (Vec<String>, Vec<TestModule>) {
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if !starts_with(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"]) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut path = None;
        while starts_with(&tokens[at..], &["#", "["]) {
            let end = closing(tokens, at + 1);
            if starts_with(&tokens[at..], &["#", "[", "path", "="]) {
                path = Some(tokens[at + 4].trim_matches('"').to_owned());
            }
            at = end + 1;
        }
        // The item ends with its block, or with the first semicolon outside of every bracket.
        let begin = at;
        while at < tokens.len() && tokens[at] != ";" {
            match tokens[at].as_str() {
                "{" => {
                    at = closing(tokens, at);
                    break;
                }
                "(" | "[" => at = closing(tokens, at) + 1,
                _ => at += 1,
            }
        }
        if tokens.get(at).is_some_and(|end| end == ";")
            && let Some(word) = tokens[begin..at].iter().position(|token| token == "mod")
            && let Some(name) = tokens.get(begin + word + 1)
        {
            modules.push(TestModule { name: name.clone(), path });
        }
        at += 1;
    }
    (kept, modules)
}

fn starts_with(tokens: &[String], start: &[&str]) -> bool {
    tokens.len() >= start.len() && tokens.iter().zip(start).all(|(token, wanted)| token == wanted)
}

/// Where the bracket at `open` is closed.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// What the root's `use` items make known there, each with the module it comes from.
fn exports(tokens: &[String], modules: &BTreeSet<String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| *token == "use") {
        for path in use_paths(&tokens[at + 1..]) {
            let path: Vec<_> =
                path.into_iter().skip_while(|part| part == "crate" || part == "self").collect();
            if let [first, .., last] = path.as_slice()
                && modules.contains(first)
            {
                found.push((last.clone(), first.clone()));
            }
        }
    }
    found
}

/// The names of public items, for a module whose items the root re-exports all together.
fn public_items(tokens: &[String]) -> Vec<String> {
    const KINDS: [&str; 7] = ["const", "enum", "fn", "static", "struct", "trait", "type"];
    let named = tokens.windows(3).filter(|part| part[0] == "pub" && KINDS.contains(&part[1].as_str()));
    named.map(|part| part[2].clone()).collect()
}

/// The names that code at `depth` below the root takes from the root, by `crate` or by enough times `super`.
fn root_names(tokens: &[String], depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    // Where modules that are written in the file itself end.
    let mut inner: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        inner.retain(|end| at < *end);
        if token == "mod" && tokens.get(at + 2).is_some_and(|next| next == "{") {
            inner.push(closing(tokens, at + 2));
        }
        let begins = at == 0 || tokens[at - 1] != "::";
        if begins
            && (token == "crate" || token == "super")
            && tokens.get(at + 1).is_some_and(|next| next == "::")
        {
            for path in use_paths(&tokens[at..]) {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let from_root = if token == "crate" { 1 } else { depth + inner.len() };
                if token == "crate" || ups == from_root {
                    names.extend(path.get(from_root).cloned());
                }
            }
        }
    }
    names
}

/// The paths of a `use` item, or the one path of an expression: `a::{b, c::d}` is `a::b` and `a::c::d`. A renamed
/// item has its new name at the end.
fn use_paths(tokens: &[String]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let mut path: Vec<String> = Vec::new();
    // The length of the path in front of each open group.
    let mut groups: Vec<usize> = Vec::new();
    let mut expects_name = true;
    for token in tokens {
        match token.as_str() {
            "::" => expects_name = true,
            "as" => {
                path.pop();
                expects_name = true;
            }
            "{" if expects_name => groups.push(path.len()),
            "," | "}" if !groups.is_empty() => {
                let front = groups.last().copied().unwrap_or_default();
                // Nothing is new after the end of an inner group, or after the last comma of a group.
                if path.len() > front {
                    paths.push(path.clone());
                }
                path.truncate(front);
                expects_name = token == ",";
                if token == "}" {
                    groups.pop();
                    path.truncate(groups.last().copied().unwrap_or_default());
                }
                if groups.is_empty() {
                    break;
                }
            }
            name if expects_name => {
                path.push(name.to_owned());
                expects_name = false;
            }
            _ => break,
        }
    }
    paths.extend((!path.is_empty()).then_some(path));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text)
    }

    #[test]
    fn paths_of_use_items_and_of_expressions() {
        let paths =
            |text: &str| use_paths(&words(text)).iter().map(|path| path.join("::")).collect::<Vec<_>>();
        assert_eq!(
            paths("crate::a::{b, c::{d, e as f}, g}; h"),
            ["crate::a::b", "crate::a::c::d", "crate::a::c::f", "crate::a::g"]
        );
        assert_eq!(paths("crate::a::b(x, y)"), ["crate::a::b"]);
    }

    #[test]
    fn what_is_taken_from_the_root() {
        let code = "use crate::{scrape, Error}; // crate::comment
            fn f() { crate::map::sitemaps::read(\"crate::text\", 'x', '\\'', super::own::X); super::super::search::g() }
            mod inner { use super::super::agent; use super::super::super::crawl; }";
        assert_eq!(root_names(&words(code), 2), ["scrape", "Error", "map", "search", "crawl"]);
    }

    #[test]
    fn tests_are_left_out() {
        let code = "use crate::a; #[cfg(test)] mod tests { use crate::b; } use crate::c;
            #[cfg(test)] #[path = \"d_tests.rs\"] mod d; #[cfg(test)] pub mod e; #[cfg(not(test))] use crate::f;";
        let (kept, modules) = without_tests(&words(code));
        assert_eq!(root_names(&kept, 1), ["a", "c", "f"]);
        let files: Vec<_> = modules.iter().flat_map(|module| module.files(Path::new("x/y.rs"))).collect();
        assert_eq!(files, ["x/d_tests.rs", "x/y/e.rs", "x/y/e"].map(PathBuf::from));
    }

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files.iter().map(|(file, text)| (PathBuf::from(file), words(text)));
        circles_among(&find_uses(sources.collect()))
    }

    #[test]
    fn a_circle_is_named_with_the_files_that_make_it() {
        let mut files = [
            ("lib.rs", "mod error; mod page; mod scrape; mod work; pub use error::{Error as Failure};"),
            ("error.rs", "use crate::scrape::READING;"),
            ("page.rs", "#[cfg(test)] mod tests { use crate::work::Work; }"),
            ("scrape/mod.rs", "mod plan; use crate::page;"),
            ("scrape/plan.rs", "fn plan() -> super::super::Failure {}"),
            ("work.rs", "use crate::page::Page;"),
        ];
        assert_eq!(circles(&files), ["error \u{2192} scrape (error.rs) \u{2192} error (scrape/plan.rs)"]);
        files[1].1 = "";
        assert!(circles(&files).is_empty());
    }

    #[test]
    fn items_that_the_root_exports_all_together_belong_to_their_module() {
        let files = [
            ("lib.rs", "mod types; mod writer; pub use types::*;"),
            ("types.rs", "pub struct Query; use crate::writer::Writer;"),
            ("writer.rs", "use crate::Query; pub struct Writer;"),
        ];
        assert_eq!(circles(&files), ["types \u{2192} writer (types.rs) \u{2192} types (writer.rs)"]);
    }
}
