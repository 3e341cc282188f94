//! The languages of users' code.

/// A language that code can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Node,
    Python,
    Bash,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::Node, Self::Python, Self::Bash];

    /// Its name in requests and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}
