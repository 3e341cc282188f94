//! Site files: blocks that begin with `=== task`, `=== frame` or `=== page PATH`.
//!
//! A task block has `key: value` lines, then `--- schema` and `--- expected` with JSON. A frame is markup
//! around the pages after it, with `{{title}}` and `{{body}}`; a page that begins with `<!doctype` stands
//! alone, any other gives its title in its first line. `{{rows A..B}}` to `{{end}}` repeats what is between
//! with `{{n}}` counted.

use super::{SitePage, Sites, Task, TaskSet};

macro_rules! sites {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every site.
        pub(super) const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("sites/", $name, ".site")))),*];
    };
}

sites![
    "airwaves",
    "anvil",
    "askdeck",
    "auction",
    "board",
    "carlot",
    "chaho",
    "classifieds",
    "county-league",
    "courses",
    "dockside",
    "doctors",
    "downloads",
    "faro-hotel",
    "ferryline",
    "filmhaus",
    "gazette",
    "gite",
    "guild",
    "hearth",
    "infobox",
    "inkwell",
    "isles",
    "jobs-north",
    "kettles",
    "keystone",
    "kulturhof",
    "lamps",
    "lenses",
    "librarium",
    "maison-bleue",
    "moor-forum",
    "nested-menu",
    "parcelo",
    "pelican-docs",
    "pressroom",
    "rankings",
    "repos",
    "software",
    "speakers",
    "stackpost",
    "statuspage",
    "tidal-dept",
    "tidetable",
    "trattoria",
    "trials",
    "vagas",
    "velo",
    "weather",
    "whale-museum",
    "wharf",
    "winery",
];

pub(super) fn parse_all(files: &[(&str, &str)]) -> Sites {
    let mut sites = Sites::default();
    for (name, text) in files {
        site(&mut sites, name, text);
    }
    sites
}

fn site(sites: &mut Sites, name: &str, text: &str) {
    let mut frame = "{{body}}".to_owned();
    let mut number = 0;
    for block in format!("\n{text}").split("\n=== ").skip(1) {
        let (head, body) = block.split_once('\n').unwrap_or((block, ""));
        match head.split_once(' ').unwrap_or((head, "")) {
            ("task", _) => {
                number += 1;
                let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
                sites.tasks.push(task(name, body));
            }
            ("frame", _) => body.clone_into(&mut frame),
            ("page", path) => {
                let path = path.trim();
                assert!(path.starts_with(&format!("/{name}")), "{path} is not under /{name}");
                let html = if body.trim_start().to_ascii_lowercase().starts_with("<!doctype") {
                    repeated(body)
                } else {
                    let (title, rest) = body.split_once('\n').unwrap_or((body, ""));
                    frame.replace("{{title}}", title).replace("{{body}}", &repeated(rest))
                };
                sites.pages.push(SitePage { path: path.to_owned(), html });
            }
            _ => panic!("{name}: what is {head:?}?"),
        }
    }
}

fn task(name: String, body: &str) -> Task {
    let mut parts = body.split("\n--- ");
    let lines: Vec<(&str, &str)> =
        parts.next().unwrap_or("").lines().filter_map(|line| line.split_once(": ")).collect();
    let value =
        |key: &str| lines.iter().find(|(known, _)| *known == key).map_or("", |(_, value)| value.trim());
    let paths = |key: &str| value(key).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let set = match value("set") {
        "before" => TaskSet::Before,
        "tuned" => TaskSet::Tuned,
        "after" => TaskSet::After,
        other => panic!("{name}: no set {other:?}"),
    };
    let mut task = Task {
        prompt: value("prompt").to_owned(),
        start: paths("start"),
        states: paths("states"),
        schema: None,
        expected: serde_json::Value::Null,
        set,
        name,
    };
    for part in parts {
        let (key, json) = part.split_once('\n').unwrap_or((part, ""));
        let json = serde_json::from_str(json).unwrap_or_else(|error| panic!("{}, {key}: {error}", task.name));
        match key.trim() {
            "schema" => task.schema = Some(json),
            "expected" => task.expected = json,
            other => panic!("{}: what is {other:?}?", task.name),
        }
    }
    if task.states.is_empty() {
        task.states.clone_from(&task.start);
    }
    task
}

/// A body with its repeated parts written out.
fn repeated(body: &str) -> String {
    let mut written = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("{{rows ") {
        let (range, after) = after.split_once("}}").expect("{{rows A..B}}");
        let (part, after) = after.split_once("{{end}}").expect("{{end}}");
        let (from, to) = range.split_once("..").expect("A..B");
        let bound = |text: &str| text.trim().parse::<usize>().expect("a number");
        written.push_str(before);
        for n in bound(from)..bound(to) {
            written.push_str(&part.replace("{{n}}", &n.to_string()));
        }
        rest = after;
    }
    written.push_str(rest);
    written
}
