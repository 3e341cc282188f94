//! The value of a cell as text.

use calamine::{Data, DataRef, ExcelDateTime};

use crate::numbers::shortest;

pub(super) fn cell_text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => shortest(*number),
        DataRef::String(text) => text.trim().to_owned(),
        DataRef::SharedString(text) => text.trim().to_owned(),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(moment) => date_text(moment),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

pub(super) fn owned_cell_text(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => shortest(*number),
        Data::String(text) => text.trim().to_owned(),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(moment) => date_text(moment),
        Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}

/// A date, a time of day, both, or a length of time, as ISO 8601 writes them.
fn date_text(moment: &ExcelDateTime) -> String {
    let value = moment.as_f64();
    if !value.is_finite() {
        return String::new();
    }
    if moment.is_duration() {
        let seconds = (value.abs() * 86_400.0).round();
        let sign = if value < 0.0 { "-" } else { "" };
        let (hours, rest) = ((seconds / 3600.0).floor(), seconds % 3600.0);
        return format!("{sign}{hours:.0}:{:02.0}:{:02.0}", (rest / 60.0).floor(), rest % 60.0);
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    if (0.0..1.0).contains(&value) {
        time
    } else if (value - value.floor()).abs() < f64::EPSILON {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {time}")
    }
}

#[cfg(test)]
mod tests {
    use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType};

    use super::cell_text;

    #[test]
    fn dates_times_and_lengths_of_time() {
        let moment = |value, kind| cell_text(&DataRef::DateTime(ExcelDateTime::new(value, kind, false)));
        assert_eq!(moment(45_505.0, ExcelDateTimeType::DateTime), "2024-08-01");
        assert_eq!(moment(45_505.5, ExcelDateTimeType::DateTime), "2024-08-01 12:00:00");
        assert_eq!(moment(0.25, ExcelDateTimeType::DateTime), "06:00:00");
        assert_eq!(moment(1.5, ExcelDateTimeType::TimeDelta), "36:00:00");
    }

    #[test]
    fn numbers_and_truth() {
        assert_eq!(cell_text(&DataRef::Float(0.1 + 0.2)), "0.3");
        assert_eq!(cell_text(&DataRef::Float(12.0)), "12");
        assert_eq!(cell_text(&DataRef::Bool(true)), "TRUE");
        assert_eq!(cell_text(&DataRef::SharedString(" text ")), "text");
    }
}
