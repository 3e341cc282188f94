//! Scopes of API keys: one per capability, and `admin` for keys.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! scopes {
    ($($scope:ident $name:literal),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum Scope { $($scope),+ }

        impl Scope {
            pub const ALL: &'static [Scope] = &[$(Scope::$scope),+];

            pub fn name(self) -> &'static str {
                match self { $(Scope::$scope => $name),+ }
            }
        }
    };
}

scopes! {
    Search "search",
    Scrape "scrape",
    Interact "interact",
    Parse "parse",
    Monitor "monitor",
    Crawl "crawl",
    Map "map",
    Agent "agent",
    Research "research",
    Admin "admin",
}

impl std::str::FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|scope| scope.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|scope| scope.name()).collect();
            format!("unknown scope `{text}`; known scopes: {}", names.join(", "))
        })
    }
}
