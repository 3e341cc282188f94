//! Which commands of the documentation are not run, and why; which end otherwise than with 0; what has to be there
//! before; and whose output has the id that later ones name. An entry is for the commands of a page that begin so.

const INSTALLS: &str =
    "installs, or needs what a release has; `make packages` and packaging/README.md say what was tried";
const OTHERS: &str = "a program or a service of others";
const SERVES: &str = "starts a server until it is stopped; the server of this test is one";
const PAPERS: &str = "needs the starter corpus or other papers; tests/blackbox/research.rs runs it";
const MODEL: &str = "needs a language model; tests/blackbox/models runs it with a stand-in";

pub const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", "make ", "builds or tests the whole of it: CI runs both"),
    ("README.md", "curl -fsSL", INSTALLS),
    ("README.md", "gannet serve", SERVES),
    ("README.md", "curl -s -G", PAPERS),
    ("dashboard.md", "gannet serve", SERVES),
    ("egress.md", "gannet serve", SERVES),
    ("install.md", "", INSTALLS),
    ("integrations.md", "", OTHERS),
    ("interact.md", "import { chromium }", "tests/blackbox/sessions runs Playwright at `cdpUrl`"),
    ("interact.md", "const sent", "tests/blackbox/sessions uploads at `cdpUrl`"),
    ("interact.md", "const download", "tests/blackbox/sessions downloads at `cdpUrl`"),
    ("mcp.md", "claude ", OTHERS),
    ("models.md", "", MODEL),
    ("observability.md", "gannet serve", SERVES),
    ("ocr.md", "pip ", "27 MB from a package index; tests/blackbox/ocr.rs has the file"),
    ("ocr.md", "gannet models add", "tests/blackbox/ocr.rs runs it"),
    ("parse.md", "import { readFile }", "tests/blackbox/examples.rs runs such a program"),
    (
        "parse.md",
        "gannet parse report.pdf --overlay page-3.png",
        "tests/blackbox/parse_command.rs runs it, with gannet-ocr",
    ),
    ("parse.md", "pip ", "27 MB from a package index; tests/blackbox/ocr.rs has the file"),
    ("parse.md", "gannet models add", "tests/blackbox/ocr.rs runs it"),
    ("research.md", "", PAPERS),
    ("scale.md", "gannet serve", SERVES),
    ("scrape.md", "gannet scrape https://example.com/light --question", MODEL),
    (
        "webhooks.md",
        "import { createHmac",
        "a function to copy; tests/blackbox/webhooks.rs checks signatures",
    ),
    ("search.md", "docker ", OTHERS),
    ("search.md", "gannet serve", SERVES),
    ("search.md", "gh ", OTHERS),
    ("search.md", "gannet index add issues.json", "tests/blackbox/index imports such files"),
    ("search.md", "gannet index add opinions.jsonl", "tests/blackbox/index imports such files"),
    ("search.md", "gannet index add crawl.warc.gz", "tests/blackbox/index imports such files"),
    ("search.md", "gannet index rebuild", "no server may run meanwhile; tests/blackbox/index runs it"),
];

/// The exit code of a command that did not end by itself.
pub const INTERRUPTED: i32 = 124;

/// The exit codes of commands that do not end with 0 here.
pub const EXPECTED: &[(&str, &str, i32)] = &[
    // It runs until Ctrl-C, which it gets.
    ("monitor.md", "gannet monitor watch", INTERRUPTED),
    // The crawl above has ended.
    ("crawl.md", "gannet crawls cancel", 1),
    ("agent.md", "gannet runs cancel", 1),
    // They ask before they write, and nobody is there.
    ("mcp.md", "gannet skills install", 1),
    // Nothing here is about it.
    ("search.md", "gannet search \"site:docs.rs", 1),
];

/// What is done before a command, so that its page is true.
pub const BEFORE: &[(&str, &str, &str)] = &[(
    "monitor.md",
    "gannet monitor run Lamp --wait      # after",
    "sed -i 's/80 EUR/45 EUR/' site/lamp.html",
)];

/// Whose output has the id that later commands of the page name, and as which variable.
pub const CAPTURES: &[(&str, &str, &str)] = &[
    ("agent.md", "curl -s http://127.0.0.1:3002/v2/agent", "ID"),
    ("api.md", "gannet keys create laptop", "ID"),
    ("crawl.md", "curl -s localhost:3002/v2/crawl -H", "ID"),
    ("interact.md", "curl -s localhost:3002/v2/browser -H", "ID"),
];
