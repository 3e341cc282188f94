//! What the goal of a monitor is about, so that it is not taken for noise: who watches the number of
//! followers wants to hear of it.

use super::NoiseKind;
use crate::goal::Goal;

/// Words of a goal that make a kind of noise its subject.
const SUBJECTS: [(NoiseKind, &[&str]); 9] = [
    (
        NoiseKind::Counter,
        &[
            "view",
            "visitor",
            "vote",
            "like",
            "share",
            "follower",
            "subscriber",
            "download",
            "install",
            "comment",
            "repl",
            "reaction",
            "review",
            "rating",
            "watcher",
            "fork",
            "counter",
            "popularity",
            "online",
        ],
    ),
    (
        NoiseKind::UpdatedDate,
        &["updated", "modified", "edited", "copyright", "freshness", "last update", "date", "effective"],
    ),
    (NoiseKind::TitleVersion, &["version", "release", "upgrade"]),
    (NoiseKind::Clock, &["date", "deadline", "due "]),
    (NoiseKind::RelativeTime, &["countdown", "time left", "time remaining", "ago"]),
    (NoiseKind::Order, &["order", "rank", "position", "top ", "first place", "leaderboard", "sorted"]),
    (NoiseKind::Advert, &["advert", "sponsor", "promoted", " ads", "banner"]),
    (NoiseKind::CookieBanner, &["cookie", "consent"]),
    (
        NoiseKind::LinkTarget,
        &["link", "url", "href", "points to", "leads to", "picture", "image", "photo", "logo"],
    ),
];

/// What a monitor wants to hear of: kinds of noise, and lines that are about its goal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Focus {
    kinds: Vec<NoiseKind>,
    goal: Option<Goal>,
}

impl Focus {
    pub fn from_goal(goal: &str) -> Self {
        let lower = format!(" {} ", goal.to_lowercase());
        // A subject begins a word: "order" is not meant by "border".
        let names = |word: &str| lower.contains(&format!(" {}", word.trim_start()));
        let kinds = SUBJECTS.iter().filter(|(_, words)| words.iter().any(|word| names(word)));
        Self { kinds: kinds.map(|(kind, _)| *kind).collect(), goal: Some(Goal::parse(goal)) }
    }

    /// The same, and a kind of noise that the settings ask for.
    #[must_use]
    pub fn with(mut self, kind: NoiseKind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Whether differences of this kind mean nothing to the monitor.
    pub fn ignores(&self, kind: NoiseKind) -> bool {
        !self.kinds.contains(&kind)
    }

    /// Whether a line is about the goal: it is not taken for noise because of what was learnt about the page.
    pub fn names(&self, line: &str) -> bool {
        self.goal.as_ref().is_some_and(|goal| goal.is_about(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_names_what_is_no_noise() {
        let focus = Focus::from_goal("Tell me when the number of followers passes 1000");
        assert!(!focus.ignores(NoiseKind::Counter) && focus.ignores(NoiseKind::Order));
        assert!(Focus::from_goal("border controls").ignores(NoiseKind::Order));
        assert!(!Focus::from_goal("The ranking changes").ignores(NoiseKind::Order));
        assert!(!Focus::from_goal("a link of the list leads elsewhere").ignores(NoiseKind::LinkTarget));
        assert!(Focus::default().ignores(NoiseKind::LinkTarget) && !Focus::default().names("Price: 5 EUR"));
        assert!(Focus::from_goal("the price changes").names("Only 5 EUR"));
    }
}
