//! Steps that scroll and wait.

use super::find::ElementMatch;
use super::{PromptRun, told_times};
use crate::prompt::parse::{Description, ScrollStep, ScrollWay, WaitStep};
use crate::prompt::target::Purpose;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const STEP_PIXELS: &str = "600";
/// Further than any page.
const END_PIXELS: &str = "100000000";
/// Steps until a text must have come up.
const MAX_STEPS: usize = 300;
/// A page that neither moves nor grows for so many looks has ended.
const STILL_LOOKS: usize = 8;
const POLL_PAUSE: Duration = Duration::from_millis(150);
/// Whether a text can be seen now, and whether the page has moved or grown since.
const LOOK_FOR: &str = include_str!("look_for.js");

impl PromptRun<'_> {
    pub(super) async fn scroll(&mut self, step: &ScrollStep) -> Result<(), String> {
        let mut inside: Vec<String> = Vec::new();
        if let Some(what) = &step.what {
            let (number, _) = self.find_one(what, Purpose::Any).await?;
            inside = vec!["--selector".to_owned(), format!("@e{number}")];
        }
        let scroll = |pixels: &str| {
            let mut words = vec!["scroll".to_owned(), step.direction.to_owned(), pixels.to_owned()];
            words.extend(inside.iter().cloned());
            words
        };
        match &step.way {
            ScrollWay::Steps(times) => {
                for _ in 0..*times {
                    self.run_words(&scroll(STEP_PIXELS)).await?;
                }
                self.done.push(format!("Scrolled {}{}", step.direction, told_times(*times)));
            }
            ScrollWay::Pixels(pixels) => {
                self.run_words(&scroll(&pixels.to_string())).await?;
                self.done.push(format!("Scrolled {} by {pixels} pixels", step.direction));
            }
            ScrollWay::ToEnd => {
                self.run_words(&scroll(END_PIXELS)).await?;
                let end = if step.direction == "up" { "top" } else { "bottom" };
                self.done.push(format!("Scrolled to the {end}"));
            }
            ScrollWay::To(target) => {
                let (number, node) = self.find_one(target, Purpose::Any).await?;
                self.run_quietly(&["scrollintoview", &format!("@e{number}")]).await?;
                self.done.push(format!("Scrolled to {}", crate::prompt::target::describe(&node)));
            }
            ScrollWay::Until(text) => self.scroll_until(text, &scroll(STEP_PIXELS)).await?,
        }
        Ok(())
    }

    /// Scrolls until a text is in view, which may be loaded only then.
    async fn scroll_until(&mut self, text: &str, command: &[String]) -> Result<(), String> {
        let (mut last, mut still) = (String::new(), 0);
        for _ in 0..MAX_STEPS {
            let page = self.page().await?;
            let world = page.world(&page.frame()).await.map_err(|error| error.to_string())?;
            let look = page.evaluate(&world, &format!("({LOOK_FOR})({})", json!(text))).await;
            let look = look.map_err(|error| error.to_string())?;
            if look["shown"] == true {
                self.named = Some(Description::of_name(text));
                self.done.push(format!("Scrolled until \"{text}\" was in view"));
                return Ok(());
            }
            let place = look["place"].to_string();
            still = if place == last { still + 1 } else { 0 };
            last = place;
            if still >= STILL_LOOKS || Instant::now() >= self.deadline {
                break;
            }
            self.run_words(command).await?;
            sleep(POLL_PAUSE).await;
        }
        Err(format!("The page ended, and \"{text}\" had not come into view"))
    }

    pub(super) async fn wait(&mut self, step: &WaitStep) -> Result<(), String> {
        match step {
            WaitStep::Milliseconds(milliseconds) => {
                if Instant::now() + Duration::from_millis(*milliseconds) > self.deadline {
                    return Err("That is longer than the time for this prompt".to_owned());
                }
                self.run_quietly(&["wait", &milliseconds.to_string()]).await?;
                self.done.push(format!("Waited {milliseconds} ms"));
            }
            WaitStep::Loaded => {
                self.run_quietly(&["wait", "--load", "load"]).await?;
                self.done.push("Waited for the page".to_owned());
            }
            WaitStep::For { what, is_shown } => self.wait_for(what, *is_shown).await?,
        }
        Ok(())
    }

    async fn wait_for(&mut self, what: &Description, is_shown: bool) -> Result<(), String> {
        let what = self.resolve_pronoun(what)?;
        let names: Vec<String> = what.readings.iter().map(|reading| reading.name.clone()).collect();
        loop {
            let found = self.find_now(&what, Purpose::Click, None).await?;
            let mut is_there = !matches!(found, ElementMatch::Missing(_));
            if !is_there {
                let page = self.page().await?;
                let world = page.world(&page.frame()).await.map_err(|error| error.to_string())?;
                for name in names.iter().filter(|name| !name.is_empty()).take(2) {
                    let script = format!(
                        "(document.body?.innerText ?? '').toLowerCase().includes({}.toLowerCase())",
                        json!(name)
                    );
                    is_there |= page.evaluate(&world, &script).await.is_ok_and(|there| there == true);
                }
            }
            if is_there == is_shown {
                let state = if is_shown { "there" } else { "gone" };
                self.done.push(format!("Waited until \"{}\" was {state}", what.phrase));
                self.named = Some(what);
                return Ok(());
            }
            if Instant::now() + POLL_PAUSE >= self.deadline {
                let state = if is_shown { "not come up" } else { "not gone away" };
                return Err(format!("\"{}\" has {state} within the time for this prompt", what.phrase));
            }
            sleep(POLL_PAUSE).await;
        }
    }

    async fn run_words(&mut self, words: &[String]) -> Result<String, String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.run_quietly(&words).await
    }
}
