//! Commands about the browser around the page: tabs, cookies, settings, network, dialogs, logs.

use super::{CommandSpec, command, option, switch};

pub(super) const COMMANDS: &[CommandSpec] = &[
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
