//! The table of commands: names, usage, flags. Parsing, help and errors are made from it.

use std::fmt::Write as _;

/// A flag of a command; the first name is the one that code asks for.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) names: &'static [&'static str],
    pub(crate) takes_value: bool,
}

/// One command as it is typed.
#[derive(Debug)]
pub(crate) struct CommandSpec {
    pub(crate) names: &'static [&'static str],
    pub(crate) usage: &'static str,
    pub(crate) about: &'static str,
    pub(crate) flags: &'static [Flag],
    /// What the first value may be; empty when it is anything.
    pub(crate) subcommands: &'static [&'static str],
    pub(crate) min_values: usize,
    /// Flags that make up for missing values.
    pub(crate) satisfied_by: &'static [&'static str],
    pub(crate) max_values: usize,
    /// Unknown words that begin with a dash are text.
    pub(crate) takes_text: bool,
}

const fn switch(names: &'static [&'static str]) -> Flag {
    Flag { names, takes_value: false }
}

const fn option(names: &'static [&'static str]) -> Flag {
    Flag { names, takes_value: true }
}

const fn command(
    names: &'static [&'static str],
    usage: &'static str,
    about: &'static str,
    values: (usize, usize),
) -> CommandSpec {
    CommandSpec {
        names,
        usage,
        about,
        flags: &[],
        subcommands: &[],
        min_values: values.0,
        satisfied_by: &[],
        max_values: values.1,
        takes_text: false,
    }
}

impl CommandSpec {
    const fn flags(self, flags: &'static [Flag]) -> Self {
        Self { flags, ..self }
    }

    const fn subcommands(self, subcommands: &'static [&'static str]) -> Self {
        Self { subcommands, ..self }
    }

    const fn or_flags(self, satisfied_by: &'static [&'static str]) -> Self {
        Self { satisfied_by, ..self }
    }

    const fn text(self) -> Self {
        Self { takes_text: true, max_values: usize::MAX, ..self }
    }
}

/// All commands, in the order of the help.
pub(crate) const COMMANDS: &[CommandSpec] = &[
    command(&["open", "goto", "navigate"], "open <url>", "Go to an http or https address", (1, 1)),
    command(&["back"], "back", "Go back in the history", (0, 0)),
    command(&["forward"], "forward", "Go forward in the history", (0, 0)),
    command(&["reload"], "reload", "Load the page again", (0, 0)),
    command(
        &["snapshot"],
        "snapshot [-i] [-c] [-d <depth>] [-s <selector>] [-u]",
        "Show the accessibility tree with refs (@e1) for the other commands",
        (0, 0),
    )
    .flags(&[
        switch(&["--interactive", "-i"]),
        switch(&["--compact", "-c"]),
        switch(&["--urls", "-u"]),
        option(&["--depth", "-d"]),
        option(&["--selector", "-s"]),
    ]),
    command(&["click"], "click <selector|@ref> [--new-tab]", "Click an element", (1, 1))
        .flags(&[switch(&["--new-tab"])]),
    command(&["dblclick"], "dblclick <selector|@ref>", "Double-click an element", (1, 1)),
    command(&["fill"], "fill <selector|@ref> <text>", "Clear a field and fill it", (2, 2)).text(),
    command(&["type"], "type <selector|@ref> <text>", "Type into an element, key by key", (2, 2)).text(),
    command(
        &["press", "key"],
        "press <key>",
        "Press a key or a combination, such as Enter or Control+a",
        (1, 1),
    ),
    command(&["keyboard"], "keyboard <type|inserttext> <text>", "Type into what has the focus", (2, 2))
        .subcommands(&["type", "inserttext"])
        .text(),
    command(&["hover"], "hover <selector|@ref>", "Move the mouse over an element", (1, 1)),
    command(&["focus"], "focus <selector|@ref>", "Give an element the focus", (1, 1)),
    command(&["check"], "check <selector|@ref>", "Check a checkbox, radio button or switch", (1, 1)),
    command(&["uncheck"], "uncheck <selector|@ref>", "Uncheck a checkbox or switch", (1, 1)),
    command(&["select"], "select <selector|@ref> <value...>", "Choose options by value or label", (2, 100)),
    command(&["drag"], "drag <source> <target>", "Drag an element onto another one", (2, 2)),
    command(
        &["upload"],
        "upload <selector|@ref> <file...>",
        "Give files of the session's folder to an input",
        (2, 50),
    ),
    command(
        &["download"],
        "download <selector|@ref> <path>",
        "Click, and keep the file that is downloaded",
        (2, 2),
    ),
    command(
        &["scroll"],
        "scroll [up|down|left|right] [pixels] [-s <selector>]",
        "Scroll the page or an element",
        (0, 2),
    )
    .flags(&[option(&["--selector", "-s"])])
    .subcommands(&["up", "down", "left", "right"]),
    command(
        &["scrollintoview", "scrollinto"],
        "scrollintoview <selector|@ref>",
        "Scroll an element into view",
        (1, 1),
    ),
    command(
        &["wait"],
        "wait <selector|ms> | --text <text> | --url <pattern> | --load <state> | --fn <expression>",
        "Wait for an element, a time, a text, an address, a load state or a condition",
        (1, 1),
    )
    .flags(&[
        option(&["--text", "-t"]),
        option(&["--url", "-u"]),
        option(&["--load", "-l"]),
        option(&["--fn", "-f"]),
        option(&["--state"]),
    ])
    .or_flags(&["--text", "--url", "--load", "--fn"]),
    command(
        &["get"],
        "get <what> [selector] [attribute]",
        "Read the page: text, html, value, attr, title, url, count, box, styles",
        (1, 3),
    )
    .subcommands(&["text", "html", "value", "attr", "title", "url", "count", "box", "styles"]),
    command(&["is"], "is <visible|enabled|checked> <selector|@ref>", "Check the state of an element", (2, 2))
        .subcommands(&["visible", "enabled", "checked"]),
    command(
        &["find"],
        "find <locator> <value> [action] [text] [--name <name>] [--exact]",
        "Find by role, text, label, placeholder, alt, title, testid, first, last or nth, and act on it",
        (2, 2),
    )
    .flags(&[option(&["--name"]), switch(&["--exact"])])
    .subcommands(&["role", "text", "label", "placeholder", "alt", "title", "testid", "first", "last", "nth"])
    .text(),
    command(
        &["screenshot"],
        "screenshot [selector] [path] [--full] [--base64] [--screenshot-format png|jpeg]",
        "Take a picture of the page",
        (0, 2),
    )
    .flags(&[
        switch(&["--full", "-f"]),
        switch(&["--base64"]),
        option(&["--screenshot-format"]),
        option(&["--screenshot-quality"]),
    ]),
    command(&["pdf"], "pdf [path] [--base64]", "Save the page as PDF", (0, 1))
        .flags(&[switch(&["--base64"])]),
    command(
        &["eval"],
        "eval <javascript> [-b]",
        "Run JavaScript in the page (-b: it is written in base64)",
        (1, 1),
    )
    .flags(&[switch(&["--base64", "-b"])])
    .text(),
    command(
        &["tab"],
        "tab [list | new [url] | close [tab] | switch <tab> | <tab>] [--label <name>]",
        "List, open, close and switch tabs",
        (0, 2),
    )
    .flags(&[option(&["--label"])]),
    command(
        &["cookies"],
        "cookies [get | set <name> <value> | clear]",
        "Show, set and clear cookies",
        (0, 3),
    )
    .flags(&[
        option(&["--url"]),
        option(&["--domain"]),
        option(&["--path"]),
        option(&["--same-site", "--sameSite"]),
        option(&["--expires"]),
        switch(&["--http-only", "--httpOnly"]),
        switch(&["--secure"]),
    ])
    .subcommands(&["get", "set", "clear"]),
    command(
        &["storage"],
        "storage <local|session> [get [key] | set <key> <value> | clear]",
        "Show and change web storage",
        (1, 4),
    )
    .subcommands(&["local", "session"]),
    command(
        &["set"],
        "set <viewport|device|geo|offline|headers|credentials|media> <values...>",
        "Change how the browser presents itself",
        (1, 4),
    )
    .subcommands(&[
        "viewport",
        "device",
        "geo",
        "geolocation",
        "offline",
        "headers",
        "credentials",
        "auth",
        "media",
    ]),
    command(
        &["network"],
        "network <requests | route <pattern> [--abort | --body <text>] | unroute [pattern]>",
        "Show requests, block or answer them",
        (1, 2),
    )
    .flags(&[
        switch(&["--abort"]),
        option(&["--body"]),
        switch(&["--clear"]),
        option(&["--filter"]),
        option(&["--type"]),
        option(&["--method"]),
        option(&["--status"]),
    ])
    .subcommands(&["requests", "route", "unroute"]),
    command(
        &["dialog"],
        "dialog <accept [text] | dismiss | status>",
        "Answer an alert, confirm or prompt",
        (1, 1),
    )
    .subcommands(&["accept", "dismiss", "status"])
    .text(),
    command(&["console"], "console [--clear]", "Show the messages of the page's console", (0, 0))
        .flags(&[switch(&["--clear"])]),
    command(&["errors"], "errors [--clear]", "Show errors that the page did not catch", (0, 0))
        .flags(&[switch(&["--clear"])]),
    command(
        &["frame"],
        "frame <selector|@ref|name|main>",
        "Work inside an iframe, or in the page again",
        (1, 1),
    ),
    command(
        &["mouse"],
        "mouse <move <x> <y> | down [button] | up [button] | wheel <dy> [dx]>",
        "Move and press the mouse",
        (1, 3),
    )
    .subcommands(&["move", "down", "up", "wheel"]),
    command(&["close"], "close", "Close all tabs and forget refs, logs and routes", (0, 0))
        .flags(&[switch(&["--all"])]),
    command(&["help"], "help [command]", "Show this help", (0, 1)),
];

pub(crate) fn find_spec(name: &str) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|spec| spec.names.contains(&name))
}

/// Every word that is a command.
pub fn command_names() -> Vec<String> {
    COMMANDS.iter().flat_map(|spec| spec.names).map(|name| (*name).to_owned()).collect()
}

/// The names of all commands in one line.
pub(super) fn overview() -> String {
    let names: Vec<&str> = COMMANDS.iter().map(|spec| spec.names[0]).collect();
    format!("Commands: {}\nMore: agent-browser help [command]", names.join(", "))
}

pub(super) fn full_help() -> String {
    let mut help = String::from("Usage: agent-browser <command> [arguments] [--json] [--timeout <ms>]\n\n");
    for spec in COMMANDS {
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {}\n      {}", spec.usage, spec.about);
    }
    help.push_str(
        "\nElements are named by refs of the last snapshot (@e1), CSS selectors, text=…, or xpath=….\n\
         Files are read and written below the session's folder only.",
    );
    help
}

pub(super) fn command_help(spec: &CommandSpec) -> String {
    let mut help =
        format!("agent-browser {0} - {1}\n\nUsage: agent-browser {2}", spec.names[0], spec.about, spec.usage);
    if spec.names.len() > 1 {
        let _ = write!(help, "\nAlso: {}", spec.names[1..].join(", "));
    }
    if !spec.subcommands.is_empty() {
        let _ = write!(help, "\nValid: {}", spec.subcommands.join(", "));
    }
    if !spec.flags.is_empty() {
        let flags: Vec<String> = spec.flags.iter().map(|flag| flag.names.join(", ")).collect();
        let _ = write!(help, "\nOptions: {}", flags.join("; "));
    }
    help
}
