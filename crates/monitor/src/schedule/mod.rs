//! When a monitor runs: a cron expression, or words that mean one, in a time zone.
//!
//! Where clocks are moved, a local time that is left out runs at the first moment after it, and one that
//! comes twice runs once. A schedule that runs in every hour counts elapsed time instead.

mod cron;
mod phrase;
mod words;

pub use cron::Cron;
pub use phrase::FORMS;

use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The least time between two firings.
pub const MIN_INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// Days in which a schedule has to run at least once: 29 February can be eight years away.
const MAX_DAYS_AHEAD: usize = 366 * 9;
/// A day of firings and the step to the next day.
const CHECKED_TIME: SignedDuration = SignedDuration::from_hours(25);

/// Why a schedule is refused. The texts are for callers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("Schedule must include either cron or text")]
    Missing,
    #[error("Schedule must include either cron or text, not both")]
    Both,
    #[error("Invalid cron expression: {0}")]
    Cron(String),
    #[error("Unknown schedule \"{0}\". Known forms: {forms}", forms = FORMS.join(", "))]
    Phrase(String),
    #[error("Invalid schedule \"{text}\": {reason}")]
    Uneven { text: String, reason: String },
    #[error("Unknown time zone \"{0}\". Use an IANA name such as \"Europe/Berlin\"")]
    TimeZone(String),
    #[error("Schedule must not run more often than every 5 minutes")]
    TooOften,
    #[error("Schedule never runs: no day matches \"{0}\"")]
    Never(String),
}

/// A schedule as a caller gives it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScheduleRequest<'a> {
    pub cron: Option<&'a str>,
    pub text: Option<&'a str>,
    /// UTC when absent.
    pub timezone: Option<&'a str>,
}

/// When a monitor runs.
#[derive(Debug, Clone)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
    zone_name: String,
    /// Seconds after the full minute, so that monitors whose caller named no exact time do not all start at
    /// once.
    delay: SignedDuration,
}

impl Schedule {
    /// Parses a schedule and refuses one that runs too often, counted from `now`, or never. `monitor` spreads
    /// schedules in words: the minute where the words leave it open, and the second always.
    pub fn parse(request: ScheduleRequest<'_>, monitor: Uuid, now: Timestamp) -> Result<Self, ScheduleError> {
        let (cron, delay) = match (request.cron, request.text) {
            (Some(_), Some(_)) => return Err(ScheduleError::Both),
            (None, None) => return Err(ScheduleError::Missing),
            (Some(cron), None) => (Cron::parse(cron)?, SignedDuration::ZERO),
            (None, Some(text)) => {
                let spread = phrase::Spread::for_monitor(monitor);
                (Cron::parse(&phrase::to_cron(text, spread)?)?, SignedDuration::from_secs(spread.second()))
            }
        };
        let asked = request.timezone.unwrap_or("UTC");
        let unknown = |_| ScheduleError::TimeZone(asked.to_owned());
        let zone = TimeZoneDatabase::bundled().get(asked).map_err(unknown)?;
        let zone_name = zone.iana_name().unwrap_or(asked).to_owned();
        let schedule = Self { cron, zone, zone_name, delay };
        schedule.check_interval(now)?;
        Ok(schedule)
    }

    /// The cron expression that it means.
    pub fn cron(&self) -> String {
        self.cron.to_string()
    }

    /// The IANA name of its time zone.
    pub fn timezone(&self) -> &str {
        &self.zone_name
    }

    /// The first firing after a moment; none when no day of the next years fits.
    pub fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        self.firings_after(moment).next()
    }

    /// How often it runs in the 30 days after a moment, for estimates of what a month costs.
    pub fn firings_per_month(&self, from: Timestamp) -> usize {
        let end = from.checked_add(SignedDuration::from_hours(24 * 30)).unwrap_or(Timestamp::MAX);
        self.firings_after(from).take_while(|firing| *firing <= end).count()
    }

    /// The firings after a moment, in order.
    pub fn firings_after(&self, moment: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        let moment = moment.checked_sub(self.delay).unwrap_or(moment);
        // A day earlier: a firing of yesterday's local date can be later than midnight where clocks moved.
        let today = self.zone.to_datetime(moment).date();
        let first = today.yesterday().unwrap_or(today);
        let days = std::iter::successors(Some(first), |date| date.tomorrow().ok()).take(MAX_DAYS_AHEAD);
        days.filter(|date| self.cron.has_day(*date))
            .flat_map(|date| self.firings_of(date))
            .filter(move |firing| *firing > moment)
            .filter_map(|firing| firing.checked_add(self.delay).ok())
    }

    /// All firings of a local date, in order, each once.
    fn firings_of(&self, date: Date) -> Vec<Timestamp> {
        let every_hour = self.cron.runs_every_hour();
        let mut firings = Vec::new();
        for time in self.cron.times() {
            let local = date.to_datetime(time);
            let at = |offset: jiff::tz::Offset| offset.to_timestamp(local).ok();
            match self.zone.to_ambiguous_timestamp(local).offset() {
                AmbiguousOffset::Unambiguous { offset } => firings.extend(at(offset)),
                AmbiguousOffset::Gap { .. } if every_hour => {}
                AmbiguousOffset::Gap { before, after } => {
                    // The first moment after the gap is the transition itself.
                    let inside = at(after).and_then(|early| self.zone.following(early).next());
                    firings.extend(inside.map(|transition| transition.timestamp()).or_else(|| at(before)));
                }
                AmbiguousOffset::Fold { before, after } => {
                    firings.extend(at(before));
                    if every_hour {
                        firings.extend(at(after));
                    }
                }
            }
        }
        firings.sort_unstable();
        firings.dedup();
        firings
    }

    /// Checks the firings of a whole day, not the text: `0,59 * * * *` runs a minute after itself.
    fn check_interval(&self, now: Timestamp) -> Result<(), ScheduleError> {
        let mut firings = self.firings_after(now);
        let first = firings.next().ok_or_else(|| ScheduleError::Never(self.cron()))?;
        let mut last = first;
        for next in firings {
            if next.duration_since(last) < MIN_INTERVAL {
                return Err(ScheduleError::TooOften);
            }
            if next.duration_since(first) > CHECKED_TIME {
                break;
            }
            last = next;
        }
        Ok(())
    }
}
