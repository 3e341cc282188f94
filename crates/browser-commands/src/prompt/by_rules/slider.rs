//! Sliders that scripts draw: moved by keys until the number that they show is the one that was asked for.

use super::PromptRun;
use super::document;
use crate::element::Element;
use serde_json::{Value, json};

const FIND_HANDLES: &str = "[...document.querySelectorAll('[role=slider],[class*=slider-handle],[class*=slider-thumb],\
    [class*=slider__thumb],[class*=noUi-handle]')].filter((e) => !e.matches('input') && e.tabIndex >= 0 && e.getClientRects().length > 0)";
/// The value that the handle has, or else all numbers that the page shows, one of which is its value.
const READ_NUMBERS: &str = "function(most) { const own = this.getAttribute('aria-valuenow'); \
    if (own !== null) return [Number(own)]; \
    const isNumber = (e) => e.childElementCount === 0 && /^\\s*-?\\d+(\\.\\d+)?\\s*$/.test(e.textContent) && e.getClientRects().length > 0; \
    return [...document.querySelectorAll('div,span,p,output,td,b,strong,label,i,em,small')].filter(isNumber).slice(0, most) \
      .map((e) => Number(e.textContent)); }";
const MAX_NUMBERS: usize = 500;
const MAX_PRESSES: usize = 1_000;

impl PromptRun<'_> {
    /// Moves the only slider of the page to a number.
    pub(super) async fn slide(&mut self, value: &str) -> Result<(), String> {
        let wanted: f64 =
            value.trim().parse().map_err(|_| format!("\"{value}\" is no number for a slider"))?;
        let page = self.page().await?;
        let handles = document::list(&page, FIND_HANDLES).await.map_err(|error| error.to_string())?;
        let [handle] = handles.as_slice() else {
            return Err(format!("This page has {} sliders that could be moved", handles.len()));
        };
        handle.focus().await.map_err(|error| error.to_string())?;
        let before = numbers(handle).await?;
        let mut shown = None;
        for key in ["ArrowRight", "ArrowLeft"] {
            self.run_quietly(&["press", key]).await?;
            let after = numbers(handle).await?;
            let changed: Vec<usize> = (0..after.len().min(before.len()))
                .filter(|at| (after[*at] - before[*at]).abs() > f64::EPSILON)
                .collect();
            if let ([at], true) = (changed.as_slice(), after.len() == before.len()) {
                shown = Some((*at, after[*at]));
                break;
            }
        }
        let Some((at, mut now)) = shown else {
            return Err("The slider does not show its value".to_owned());
        };
        for _ in 0..MAX_PRESSES {
            if (now - wanted).abs() <= f64::EPSILON {
                self.done.push(format!("Moved the slider to {value}"));
                return Ok(());
            }
            let key = if now < wanted { "ArrowRight" } else { "ArrowLeft" };
            self.run_quietly(&["press", key]).await?;
            let next = numbers(handle).await?.get(at).copied().unwrap_or(now);
            let has_passed = (now < wanted) != (next < wanted) && (next - wanted).abs() > f64::EPSILON;
            if (next - now).abs() <= f64::EPSILON || has_passed {
                return Err(format!("The slider stands at {next} and does not go to {value}"));
            }
            now = next;
        }
        Err(format!("The slider stands at {now} and is too far from {value}"))
    }
}

async fn numbers(handle: &Element) -> Result<Vec<f64>, String> {
    let read = handle.call(READ_NUMBERS, &[json!(MAX_NUMBERS)]).await.map_err(|error| error.to_string())?;
    Ok(read.as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
}
