//! The skill that tells AI tools how to use this version of Gannet: `SKILL.md`, embedded, so that it always
//! fits the program that hands it out.

/// The name of the skill and of its folder.
pub const NAME: &str = "gannet";
/// The name of its file.
pub const FILE: &str = "SKILL.md";
/// The text, with the address that a server has by default.
pub const TEXT: &str = include_str!("../skills/gannet/SKILL.md");
const DEFAULT_ADDRESS: &str = "http://127.0.0.1:3002";

/// What the skill is for, from its front matter.
pub fn description() -> &'static str {
    TEXT.lines().find_map(|line| line.strip_prefix("description: ")).unwrap_or_default()
}

/// The text for users of the server at this address.
pub fn text_for(base_url: &str) -> String {
    TEXT.replace(DEFAULT_ADDRESS, base_url)
}
