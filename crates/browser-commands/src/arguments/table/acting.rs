//! Commands that act on a page: navigation, mouse, keyboard, forms, files.

use super::{CommandSpec, command, option, switch};

pub(super) const COMMANDS: &[CommandSpec] = &[
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
];
