//! What the goal of a monitor is about, so that it is not taken for noise: who watches the number of
//! followers wants to hear of it.

use super::NoiseKind;

/// Words of a goal that make a kind of noise its subject.
const SUBJECTS: [(NoiseKind, &[&str]); 6] = [
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
    (NoiseKind::UpdatedDate, &["updated", "modified", "edited", "copyright", "freshness", "last update"]),
    (NoiseKind::RelativeTime, &["countdown", "time left", "time remaining", "ago"]),
    (NoiseKind::Order, &["order", "rank", "position", "top ", "first place", "leaderboard", "sorted"]),
    (NoiseKind::Advert, &["advert", "sponsor", "promoted", " ads", "banner"]),
    (NoiseKind::CookieBanner, &["cookie", "consent"]),
];

/// The kinds of noise that a monitor wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Focus(Vec<NoiseKind>);

impl Focus {
    pub fn from_goal(goal: &str) -> Self {
        let goal = format!(" {} ", goal.to_lowercase());
        // A subject begins a word: "order" is not meant by "border".
        let names = |word: &str| goal.contains(&format!(" {}", word.trim_start()));
        let kinds = SUBJECTS.iter().filter(|(_, words)| words.iter().any(|word| names(word)));
        Self(kinds.map(|(kind, _)| *kind).collect())
    }

    /// Whether differences of this kind mean nothing to the monitor.
    pub fn ignores(&self, kind: NoiseKind) -> bool {
        !self.0.contains(&kind)
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
    }
}
