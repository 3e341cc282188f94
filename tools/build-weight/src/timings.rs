//! The units of a build and how long each took, from the report that `cargo build --timings` writes: a page
//! with the numbers as JSON in its script.

use serde_json::Value;

const DATA: &str = "const UNIT_DATA = ";

/// One call of the compiler, or of a build script.
#[derive(Debug, PartialEq)]
pub struct Unit {
    pub name: String,
    /// Seconds after the beginning of the build.
    pub start: f64,
    pub seconds: f64,
}

/// All units, the longest first.
pub fn parse(html: &str) -> Result<Vec<Unit>, String> {
    let (_, data) =
        html.split_once(DATA).ok_or("no list of units; was it written by `cargo build --timings`?")?;
    // The script goes on after the list.
    let list = serde_json::Deserializer::from_str(data).into_iter::<Value>().next();
    let list = list.and_then(Result::ok).ok_or("its list of units is not JSON")?;
    let list = list.as_array().ok_or("its units are no list")?;
    let mut units =
        list.iter().map(unit).collect::<Option<Vec<_>>>().ok_or("a unit has no name or no duration")?;
    units.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Ok(units)
}

fn unit(value: &Value) -> Option<Unit> {
    let part = |name: &str| value[name].as_str().unwrap_or_default().trim();
    let name = format!("{} {} {}", value["name"].as_str()?, part("version"), part("target"));
    Some(Unit {
        name: name.trim_end().to_owned(),
        start: value["start"].as_f64().unwrap_or_default(),
        seconds: value["duration"].as_f64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_from_the_page_and_sorted() {
        let html = r#"<script>
            DURATION = 60;
            const UNIT_DATA = [
              {"i": 0, "name": "url", "version": "2.5.8", "target": "", "start": 1.5, "duration": 2.25},
              {"i": 1, "name": "rten", "version": "0.27.0", "mode": "run-custom-build",
               "target": " build script (run)", "start": 3, "duration": 30.0, "sections": null}
            ];
            const CONCURRENCY_DATA = [];
            </script>"#;
        let units = parse(html).unwrap();
        let unit = |name: &str, start, seconds| Unit { name: name.to_owned(), start, seconds };
        assert_eq!(units, [unit("rten 0.27.0 build script (run)", 3.0, 30.0), unit("url 2.5.8", 1.5, 2.25)]);
    }

    #[test]
    fn another_page_is_refused_with_the_reason() {
        assert!(parse("<html></html>").unwrap_err().contains("no list of units"));
        assert!(parse("const UNIT_DATA = [{").unwrap_err().contains("not JSON"));
        assert!(parse("const UNIT_DATA = [{}];").unwrap_err().contains("no name"));
    }
}
