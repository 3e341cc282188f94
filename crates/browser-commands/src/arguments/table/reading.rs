//! Commands that wait for a page, find elements in it and read it.

use super::{CommandSpec, command, option, switch};

pub(super) const COMMANDS: &[CommandSpec] = &[
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
];
