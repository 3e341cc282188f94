//! Which tools a client is given: all, the short profile, or those it names. A long list costs a language
//! model thousands of tokens in every conversation.

use crate::tools::{TOOLS, ToolEntry};
use std::fmt;

/// The name of the short profile.
const CORE: &str = "core";
const ALL: &str = "all";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selection {
    #[default]
    All,
    Core,
    Named(Vec<&'static str>),
}

/// A name in a list of tools that no tool has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool(pub String);

impl fmt::Display for UnknownTool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.0.chars().take(100).collect();
        write!(out, "there is no tool {name}; `core`, `all`, or names of tools separated by commas")
    }
}

impl std::error::Error for UnknownTool {}

impl Selection {
    /// `core`, `all`, or names separated by commas, with or without their prefix.
    pub fn parse(text: &str) -> Result<Self, UnknownTool> {
        match text.trim() {
            ALL | "" => return Ok(Self::All),
            CORE => return Ok(Self::Core),
            _ => {}
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let known = |name: &str| {
            let has_name = |tool: &&ToolEntry| {
                let short = tool.name.split_once('_').map_or(tool.name, |(_, short)| short);
                tool.name == name || short == name
            };
            TOOLS.iter().find(has_name).map(|tool| tool.name).ok_or_else(|| UnknownTool(name.to_owned()))
        };
        Ok(Self::Named(names.map(known).collect::<Result<_, _>>()?))
    }

    /// The selection in the query of an HTTP request, `tools=…`.
    pub fn from_query(query: Option<&str>) -> Result<Option<Self>, UnknownTool> {
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let mut chosen = pairs.filter(|(name, _)| *name == "tools").map(|(_, value)| value);
        let Some(value) = chosen.next_back() else { return Ok(None) };
        let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
        Self::parse(&value).map(Some)
    }

    /// Whether a client with this selection may call a tool.
    pub fn contains(&self, tool: &ToolEntry) -> bool {
        match self {
            Self::All => true,
            Self::Core => tool.core,
            Self::Named(names) => names.contains(&tool.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_chosen_by_profile_or_by_name() {
        assert_eq!(Selection::parse("core"), Ok(Selection::Core));
        let named = Selection::Named(vec!["firecrawl_scrape", "gannet_continue"]);
        assert_eq!(Selection::parse("scrape, gannet_continue"), Ok(named.clone()));
        assert_eq!(Selection::from_query(Some("a=1&tools=scrape%2Ccontinue")), Ok(Some(named)));
        assert_eq!(Selection::from_query(Some("a=1")), Ok(None));
        assert!(Selection::parse("scrape,no_such").is_err());
    }
}
