//! The HTTP edge and the command line: slow readers, foreign web pages, keys in logs, locks, private files.

mod commands;
mod connections;
mod data_folder;
mod imports;
mod requests;

use crate::server::{Recipe, run};

/// The recipe with a setting, where the version under test has it. An older one, which is expected to fail the test, would otherwise
/// refuse to start.
fn set_if_known(recipe: Recipe, name: &str, value: &str) -> Recipe {
    let (_, listed, _) = run(recipe.command(&["doctor"]));
    if listed.contains(name) { recipe.set(name, value) } else { recipe }
}
