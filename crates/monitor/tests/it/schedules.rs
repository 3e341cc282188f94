//! Schedules against a table that a brute-force script made over a year with daylight saving
//! (`fixtures/make_schedules.py`), and what is refused.

use jiff::Timestamp;
use monitor::schedule::{Schedule, ScheduleError, ScheduleRequest};
use uuid::Uuid;

const TABLE: &str = include_str!("fixtures/schedules.txt");

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn parse_text(text: &str) -> Result<Schedule, ScheduleError> {
    let request = ScheduleRequest { text: Some(text), ..ScheduleRequest::default() };
    Schedule::parse(request, Uuid::nil(), moment("2026-01-01T00:00:00Z"))
}

fn parse_cron(cron: &str) -> Result<Schedule, ScheduleError> {
    let request = ScheduleRequest { cron: Some(cron), ..ScheduleRequest::default() };
    Schedule::parse(request, Uuid::nil(), moment("2026-01-01T00:00:00Z"))
}

#[test]
fn firings_of_a_year_in_four_zones() {
    let (start, end) = (moment("2026-01-01T00:00:00Z"), moment("2027-01-01T00:00:00Z"));
    let mut wrong = Vec::new();
    for row in TABLE.lines() {
        let columns: Vec<&str> = row.split('|').collect();
        let [kind, text, zone, expected @ ..] = &columns[..] else { panic!("{row}") };
        let request = ScheduleRequest {
            cron: (*kind == "cron").then_some(*text),
            text: (*kind == "text").then_some(*text),
            timezone: Some(zone),
        };
        let schedule = Schedule::parse(request, Uuid::nil(), start).unwrap_or_else(|e| panic!("{row}: {e}"));
        let firings = schedule.firings_after(start).take_while(|firing| *firing <= end);
        let firings: Vec<i128> = firings.map(|firing| i128::from(firing.as_second() / 60)).collect();
        let found = [
            firings.len().to_string(),
            firings.first().unwrap_or(&0).to_string(),
            firings.last().unwrap_or(&0).to_string(),
            (firings.iter().sum::<i128>() % ((1 << 61) - 1)).to_string(),
        ];
        if found.iter().ne(expected.iter()) {
            wrong.push(format!("{row}: found {found:?}"));
        }
    }
    assert_eq!(TABLE.lines().count(), 200);
    assert!(wrong.is_empty(), "{} of 200 are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_that_people_type() {
    let cases = [
        ("every 5 min", "*/5 * * * *"),
        ("every 30m", "*/30 * * * *"),
        ("every half hour", "*/30 * * * *"),
        ("every quarter of an hour", "*/15 * * * *"),
        ("Hourly at :15", "15 * * * *"),
        ("every hour", "0 * * * *"),
        ("every 6h", "0 */6 * * *"),
        ("every six hours", "0 */6 * * *"),
        ("every 120 minutes", "0 */2 * * *"),
        ("every 24 hours", "0 0 * * *"),
        ("twice daily", "0 */12 * * *"),
        ("three times a day", "0 */8 * * *"),
        ("4x a day", "0 */6 * * *"),
        ("once a day at 7:05", "5 7 * * *"),
        ("every day at 9 and 17", "0 9,17 * * *"),
        ("daily 12am", "0 0 * * *"),
        ("daily at 12 pm", "0 12 * * *"),
        ("every other day", "0 0 */2 * *"),
        ("every 3 days at 6:00", "0 6 */3 * *"),
        ("every weekday at 9", "0 9 * * 1,2,3,4,5"),
        ("mon-fri at 18:30", "30 18 * * 1,2,3,4,5"),
        ("mondays at 9am", "0 9 * * 1"),
        ("every sat, sun at 10", "0 10 * * 0,6"),
        ("weekly on friday at 17:00", "0 17 * * 5"),
        ("every week", "0 0 * * 0"),
        ("twice a week", "0 0 * * 1,4"),
        ("monthly", "0 0 1 * *"),
        ("every month on the 1st", "0 0 1 * *"),
        ("twice a month", "0 0 1,15 * *"),
    ];
    for (text, cron) in cases {
        let schedule = parse_text(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schedule.cron(), cron, "{text}");
    }
}

#[test]
fn monitors_are_spread_where_the_words_leave_the_time_open() {
    let now = moment("2026-03-01T00:00:00Z");
    let next = |text, id: u128| {
        let request = ScheduleRequest { text: Some(text), ..ScheduleRequest::default() };
        Schedule::parse(request, Uuid::from_u128(id), now).unwrap().next_after(now).unwrap()
    };
    // Ids as they are made: random in their last bytes.
    let ids = || (1..=300_u128).map(|number| number * 0x9E37_79B9_7F4A_7C15);
    let hourly: std::collections::BTreeSet<i64> =
        ids().map(|id| next("hourly", id).as_second() % 3600 / 60).collect();
    assert!(hourly.len() > 40, "the minutes of the hour are used: {hourly:?}");
    for id in ids() {
        let named = next("daily at 9:00", id);
        let start = moment("2026-03-01T09:00:00Z");
        assert!((0..60).contains(&named.duration_since(start).as_secs()), "{named}");
        assert_eq!(next("hourly", id), next("hourly", id));
    }
}

#[test]
fn too_often_never_and_unknown() {
    for text in ["every minute", "every 4 minutes", "every 30 seconds", "1000 times a day"] {
        assert_eq!(parse_text(text).unwrap_err(), ScheduleError::TooOften, "{text}");
    }
    for cron in ["* * * * *", "*/4 * * * *", "0,59 * * * *", "0,3 9 * * 1", "58 23 * * *,1 0 * * *"] {
        assert!(parse_cron(cron).is_err(), "{cron}");
    }
    assert_eq!(parse_cron("0,59 * * * *").unwrap_err(), ScheduleError::TooOften);
    assert_eq!(parse_cron("0,3 9 * * 1").unwrap_err(), ScheduleError::TooOften);
    // A step that starts again each hour is checked by its firings, not by its number.
    assert_eq!(parse_cron("*/57 * * * *").unwrap_err(), ScheduleError::TooOften);
    assert_eq!(parse_cron("0 0 30 2 *").unwrap_err(), ScheduleError::Never("0 0 30 2 *".into()));
    assert!(parse_cron("0 0 29 2 *").is_ok());
    for cron in [
        "0 0 * * * *",
        "",
        "60 * * * *",
        "* 24 * * *",
        "a b c d e",
        "5-1 * * * *",
        "*/0 * * * *",
        "0 0 0 * *",
    ] {
        assert!(matches!(parse_cron(cron), Err(ScheduleError::Cron(_))), "{cron}");
    }
    let long = "9".repeat(100_000);
    for text in
        ["when it rains", "", "every", "every blue moon", "daily at 25:00", "daily at 9:00 and 17:30", &long]
    {
        let error = parse_text(text).unwrap_err();
        assert!(matches!(error, ScheduleError::Phrase(_)), "{text}: {error}");
        assert!(error.to_string().contains("\"every 15 minutes starting at :07\""), "{error}");
    }
    assert!(matches!(parse_text("every 45 minutes"), Err(ScheduleError::Uneven { .. })));
    assert!(matches!(parse_text("every 5 hours"), Err(ScheduleError::Uneven { .. })));
}

#[test]
fn the_texts_that_clients_know() {
    let parse = |request| Schedule::parse(request, Uuid::nil(), moment("2026-01-01T00:00:00Z")).unwrap_err();
    let none = ScheduleRequest::default();
    assert_eq!(parse(none).to_string(), "Schedule must include either cron or text");
    let both = ScheduleRequest { cron: Some("0 * * * *"), text: Some("hourly"), timezone: None };
    assert_eq!(parse(both).to_string(), "Schedule must include either cron or text, not both");
    let often = ScheduleRequest { cron: Some("* * * * *"), ..none };
    assert_eq!(parse(often).to_string(), "Schedule must not run more often than every 5 minutes");
    let zone = ScheduleRequest { text: Some("hourly"), timezone: Some("Mars/Olympus"), ..none };
    assert_eq!(parse(zone), ScheduleError::TimeZone("Mars/Olympus".into()));
}

#[test]
fn a_month_is_counted() {
    let from = moment("2026-06-01T00:00:00Z");
    assert_eq!(parse_text("every 5 minutes").unwrap().firings_per_month(from), 30 * 288);
    assert_eq!(parse_text("daily at 9:00").unwrap().firings_per_month(from), 30);
    assert_eq!(parse_cron("0 0 1 1 *").unwrap().firings_per_month(from), 0);
}
