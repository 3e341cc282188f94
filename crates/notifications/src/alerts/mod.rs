//! Whether and when people are told: pure decisions.

mod quiet_hours;

pub use quiet_hours::{QuietHours, QuietHoursError};

use crate::message::PageStatus;

/// Errors in a row before people are told of one: a site that is away for a moment is no news.
pub const DEFAULT_ERRORS_BEFORE_ALERT: u32 = 2;

/// What of a check is worth telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertRules {
    /// At least 1.
    pub errors_before_alert: u32,
}

impl Default for AlertRules {
    fn default() -> Self {
        Self { errors_before_alert: DEFAULT_ERRORS_BEFORE_ALERT }
    }
}

/// What became of a page, as far as it decides about telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOutcome {
    pub status: PageStatus,
    /// What the judge said; none where there is no goal or no judgement, which counts as meaningful.
    pub meaningful: Option<bool>,
    /// Of an error: errors of this page without a success between them, with this one. Of others: the errors
    /// that ended with this check.
    pub errors_in_a_row: u32,
    /// Whether the target was checked for the first time. Its pages are new to the monitor, not to the world.
    pub first_check: bool,
}

impl AlertRules {
    /// What people are told of this page, if anything. A check without any such page tells nothing.
    pub fn told_as(self, page: PageOutcome) -> Option<PageStatus> {
        let is_told = match page.status {
            PageStatus::Same => false,
            PageStatus::New => !page.first_check && page.meaningful != Some(false),
            PageStatus::Changed | PageStatus::Removed => page.meaningful != Some(false),
            // Once for each row of errors, not with every check while the site is away.
            PageStatus::Error => page.errors_in_a_row == self.errors_before_alert.max(1),
            PageStatus::Recovered => true,
        };
        // Who was told of errors is told that they have ended.
        let has_recovered =
            page.status != PageStatus::Error && page.errors_in_a_row >= self.errors_before_alert.max(1);
        let recovered = has_recovered.then_some(PageStatus::Recovered);
        if is_told { Some(page.status) } else { recovered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(status: PageStatus) -> PageOutcome {
        PageOutcome { status, meaningful: None, errors_in_a_row: 0, first_check: false }
    }

    #[test]
    fn noise_is_not_told() {
        let rules = AlertRules::default();
        for status in [PageStatus::Changed, PageStatus::New, PageStatus::Removed] {
            assert_eq!(rules.told_as(page(status)), Some(status), "{status:?} without a judge");
            let matters = PageOutcome { meaningful: Some(true), ..page(status) };
            assert_eq!(rules.told_as(matters), Some(status), "{status:?}");
            let noise = PageOutcome { meaningful: Some(false), ..page(status) };
            assert_eq!(rules.told_as(noise), None, "{status:?} as noise");
        }
        assert_eq!(rules.told_as(PageOutcome { meaningful: Some(true), ..page(PageStatus::Same) }), None);
    }

    #[test]
    fn the_first_check_is_no_news() {
        let rules = AlertRules::default();
        assert_eq!(rules.told_as(PageOutcome { first_check: true, ..page(PageStatus::New) }), None);
    }

    #[test]
    fn an_error_is_told_once_when_it_stays() {
        let told = |errors_before_alert, errors_in_a_row| {
            AlertRules { errors_before_alert }
                .told_as(PageOutcome { errors_in_a_row, ..page(PageStatus::Error) })
                .is_some()
        };
        let default: Vec<u32> = (1..=9).filter(|errors| told(DEFAULT_ERRORS_BEFORE_ALERT, *errors)).collect();
        assert_eq!(default, [2]);
        assert!(told(1, 1) && !told(1, 2), "at once when the operator says so");
        assert!(told(0, 1), "zero is read as one");
    }

    #[test]
    fn the_end_of_errors_is_told_to_those_who_know_of_them() {
        let rules = AlertRules::default();
        let after = |status, errors_in_a_row, meaningful| {
            rules.told_as(PageOutcome { meaningful, errors_in_a_row, ..page(status) })
        };
        assert_eq!(after(PageStatus::Same, 1, None), None, "nobody knew");
        assert_eq!(after(PageStatus::Same, 2, None), Some(PageStatus::Recovered));
        assert_eq!(after(PageStatus::Changed, 5, None), Some(PageStatus::Changed));
        assert_eq!(after(PageStatus::Changed, 5, Some(false)), Some(PageStatus::Recovered));
    }
}
