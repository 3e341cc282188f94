//! Where commands of the documentation are run: a server, the folder that it was started in with the files that pages
//! name, and a site in the place of those of other people.

use super::commands::{DocCommand, Language};
use crate::server::{Server, ServerConfig, gannet};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{TempDir, docx, pdf};

/// Seconds that a command may take, and one that would go on until Ctrl-C.
const TIME_LIMITS: (u32, u32) = (60, 2);
/// Loopback stands for the hosts of other people.
const ALLOWED: &str = "scrape=127.0.0.0/8;webhook=127.0.0.0/8";

pub struct Ground {
    dir: TempDir,
    server: Server,
    site: SiteServer,
    /// What later commands take from the output of earlier ones.
    variables: BTreeMap<&'static str, String>,
    block: (String, usize),
}

pub struct Outcome {
    pub code: Option<i32>,
    /// Standard output and standard error.
    pub output: String,
}

impl Ground {
    pub async fn prepare() -> Self {
        let dir = TempDir::new();
        write_files(dir.path());
        let site = SiteServer::start(Router::new().fallback(serve).with_state(dir.path().join("site")));
        let list = format!("{0}/docs/a\n{0}/docs/b\n", site.base);
        fs::write(dir.join("list.txt"), list).expect("write a file");
        let node = std::env::var("GANNET_TEST_NODE_DIR").expect("run the tests through `make test`");
        let mut config = ServerConfig::at(dir.path())
            .set("egress_allow", ALLOWED)
            .set("search_providers", "local")
            .set("interact_node_modules", &format!("{node}/node_modules"));
        // The first key is made by the server, as for whoever follows the pages.
        config.settings.retain(|(name, _)| name != "api_key");
        let server = config.start().await;
        let key = fs::read_to_string(dir.join("data/first-key")).expect("the first key");
        std::os::unix::fs::symlink(dir.join("data"), dir.join("gannet-data")).expect("a link");
        let script = format!("#!/bin/sh\nexec {} \"$@\"\n", gannet().get_program().display());
        write_program(&dir.join("bin/gannet"), &script);
        let variables = BTreeMap::from([("GANNET_API_KEY", key.trim().to_owned())]);
        Self { dir, server, site, variables, block: Default::default() }
    }

    /// Runs a command, and `before` it what makes its page come true. One that is not to end gets a Ctrl-C.
    pub fn run(&mut self, command: &DocCommand, before: Option<&str>, ends: bool) -> Outcome {
        let limit = if ends { TIME_LIMITS.0 } else { TIME_LIMITS.1 };
        let state = self.dir.join("state");
        let block = (command.page.clone(), command.block);
        if self.block != block {
            fs::write(&state, format!("cd {}\n", self.dir.path().display())).expect("write the state");
            self.block = block;
        }
        if let Some(before) = before {
            let outcome = self.run_script(&self.replace_hosts(before), limit);
            assert_eq!(outcome.code, Some(0), "{before}: {}", outcome.output);
        }
        let text = self.replace_hosts(&command.text);
        match command.language {
            Language::Shell => {
                // Variables and the folder are those of the block.
                let (state, own) = (state.display(), text);
                let script = format!(
                    "set -a; . {state}\n{own}\ncode=$?\n{{ export -p; echo cd \"$PWD\"; }} > {state}\nexit $code"
                );
                self.run_script(&script, limit)
            }
            Language::Python => {
                fs::write(self.dir.join("block.py"), text).expect("write the program");
                let python = std::env::var("GANNET_TEST_PYTHON").expect("run the tests through `make test`");
                self.run_script(&format!("{python} block.py"), limit)
            }
            Language::JavaScript => Outcome {
                code: None,
                output: "JavaScript is not run here; list it with its reason".to_owned(),
            },
        }
    }

    /// Remembers the id in an output, as a reader would copy it.
    pub fn capture(&mut self, name: &'static str, output: &str) {
        let is_id = |word: &&str| word.len() == 36 && word.matches('-').count() == 4;
        let mut words = output.split(|c: char| !c.is_ascii_hexdigit() && c != '-');
        let id = words.find(is_id).unwrap_or_else(|| panic!("no id in {output}"));
        self.variables.insert(name, id.to_owned());
    }

    /// A command with the addresses of this test.
    fn replace_hosts(&self, text: &str) -> String {
        let server = self.server.http.base.trim_start_matches("http://");
        let site = self.site.base.as_str();
        let text = text.replace("http://127.0.0.1:8765", site);
        let text = text.replace("localhost:3002", server).replace("127.0.0.1:3002", server);
        let id = self.variables.get("ID").map(String::as_str).unwrap_or_default();
        let text = ["019f2f4e-…", "019f2f4e", "01a1df68", "01a1dd39-9c1e"]
            .iter()
            .fold(text, |text, shown| text.replace(shown, id));
        let mut replaced = String::new();
        let mut rest = text.as_str();
        while let Some(start) = rest.find("https://") {
            let (before, after) = rest.split_at(start);
            let host = &after["https://".len()..];
            let length = host.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-');
            replaced += before;
            replaced += site;
            rest = &host[length.unwrap_or(host.len())..];
        }
        replaced + rest
    }

    fn run_script(&self, script: &str, limit: u32) -> Outcome {
        let mut command = Command::new("timeout");
        command.args(["--signal=INT", "--kill-after=5", &limit.to_string(), "bash", "-c", script]);
        command.current_dir(self.dir.path()).env_clear();
        let path = std::env::var("PATH").expect("PATH");
        command.env("PATH", format!("{}:{path}", self.dir.join("bin").display()));
        command.env("HOME", self.dir.join("home")).env("TMPDIR", std::env::temp_dir());
        // Commands find the server and the private addresses as if they had its settings.
        command.env("GANNET_LISTEN", self.server.http.base.trim_start_matches("http://"));
        command.env("GANNET_EGRESS_ALLOW", ALLOWED).env("GANNET_SEARCH_PROVIDERS", "local");
        command.envs(&self.variables);
        let output = command.output().expect("bash");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Outcome { code: output.status.code(), output: text(&output.stdout) + &text(&output.stderr) }
    }
}

/// The files that the pages name.
fn write_files(dir: &Path) {
    for folder in ["bin", "home/notes", "home/.cursor", "site", "docs"] {
        fs::create_dir_all(dir.join(folder)).expect("a folder");
    }
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).expect("write a file");
    let pages = ["Gannets dive for fish.", "They nest on cliffs.", "They live for long."];
    for name in ["invoice.pdf", "report.pdf", "paper.pdf", "site/report.pdf"] {
        write(name, &pdf(&pages));
    }
    write("notes.docx", &docx(&["Gannets dive for fish."]));
    write("page.html", b"<h1>Gannets</h1><p>They dive for fish from thirty metres above the sea.</p>");
    write("home/notes/gannets.md", b"# Gannets\n\nThey dive for fish from thirty metres above the sea.\n");
    write("docs/gannets.md", b"# Gannets\n\nThey dive for fish from thirty metres above the sea.\n");
    let object = |fields: &str| format!("{{\"type\":\"object\",\"properties\":{{{fields}}}}}");
    let rows = |name: &str, fields: &str| {
        object(&format!("\"{name}\":{{\"type\":\"array\",\"items\":{}}}", object(fields)))
    };
    let named = "\"name\":{\"type\":\"string\"},\"price\":{\"type\":\"number\"}";
    write("light.json", object("\"height\":{\"type\":\"string\"}").as_bytes());
    write("lanterns.json", rows("lanterns", named).as_bytes());
    write("feeders.json", rows("feeders", &format!("{named},\"wood\":{{\"type\":\"string\"}}")).as_bytes());
    write_site(&dir.join("site"));
}

fn write_site(site: &Path) {
    let write = |name: &str, body: &str| {
        let path = site.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let page = format!("<!doctype html><html lang=en><title>{name}</title><main>{body}</main></html>");
        fs::write(path, page).expect("write a page");
    };
    let list = |folder: &str, rows: &[(&str, &str)]| {
        let row = |(name, price): &(&str, &str)| {
            let address = name.to_lowercase().replace(' ', "-");
            format!("<tr><td><a href={folder}{address}.html>{name}</a></td><td>{price}</td></tr>")
        };
        let rows: String = rows.iter().map(row).collect();
        format!("<h1>Our list</h1><table><tr><th>Name</th><th>Price</th></tr>{rows}</table>")
    };
    write("products.html", &list("", &[("Small feeder", "£12.00"), ("Large feeder", "£30.00")]));
    for (name, price, wood) in [("small", "£12.00", "Oak"), ("large", "£30.00", "Larch")] {
        let body = format!("<h1>{name} feeder</h1><dl><dt>Price<dd>{price}<dt>Wood<dd>{wood}</dl>");
        write(&format!("{name}-feeder.html"), &body);
    }
    write(
        "lanterns/index.html",
        &list("/lanterns/", &[("Storm lantern", "£39.50"), ("Deck lantern", "£24.00")]),
    );
    write("light.html", "<h1>The light</h1><dl><dt>Height<dd>41 m<dt>Built<dd>1863</dl>");
    for name in ["chair", "lamp"] {
        let about = "It is made of oak by hand, and sent in a box of card within a week to all the islands.";
        write(&format!("{name}.html"), &format!("<h1>{name}</h1><p>Price: 80 EUR</p><p>{about}</p>"));
    }
    write(
        "form.html",
        "<h1>Booking</h1><form action=/results><input id=name name=q type=search aria-label=Search>\
         <button>Search</button></form><ul id=log></ul>",
    );
    write(
        "results.html",
        "<h1>Results</h1><ol><li><a href=/docs/a>Gannets</a><li><a href=/docs/b>Terns</a></ol>",
    );
}

/// A file of the site, else a page about the address.
async fn serve(State(folder): State<PathBuf>, uri: Uri) -> Response {
    let name = uri.path().trim_matches('/');
    let found = [name.to_owned(), format!("{name}.html"), format!("{name}/index.html")];
    let found = found.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    if let Some(path) = found {
        let kind =
            if path.extension().is_some_and(|kind| kind == "pdf") { "application/pdf" } else { "text/html" };
        return ([(header::CONTENT_TYPE, kind)], fs::read(path).expect("a file")).into_response();
    }
    if !["", "docs", "docs/a", "docs/b", "pricing", "article", "page", "hook"].contains(&name) {
        return (axum::http::StatusCode::NOT_FOUND, "There is no such page.").into_response();
    }
    let text =
        "The northern gannet is the largest seabird of the Atlantic, and dives for fish from thirty metres.";
    let page = format!(
        "<!doctype html><html lang=en><title>About /{name}</title><main><h1>About gannets, /{name}</h1><p>{text}</p>\
         <p>{text} It is how gannets dive, whatever the wind does above the sea.</p>\
         <a href=/docs/a>One</a> <a href=/docs/b>Two</a> <a href=/pricing>Pricing</a></main></html>"
    );
    ([(header::CONTENT_TYPE, "text/html")], page).into_response()
}

fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).expect("write a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("make it a program");
}
