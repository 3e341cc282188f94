//! Prints the result of the built-in agent for each task, and for all: `gannet-bench-agent [--answers]
//! [PART_OF_A_NAME]`. Exits with 1 below the floors: 70 % of fields right, 95 % of given values traceable.

use agent::BuiltIn;
use agent_bench::{percent, run_task};
use std::process::ExitCode;
use std::time::Instant;
use testkit::task_sites::{self, Score};

const FIELDS_FLOOR: f64 = 70.0;
const TRACEABLE_FLOOR: f64 = 95.0;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answers = arguments.iter().any(|argument| argument == "--answers");
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let (mut all, mut held_out) = (Score::default(), Score::default());
    println!("{:<28} {:<7} {:>9} {:>11} {:>6} {:>8}", "task", "set", "right", "traceable", "pages", "ms");
    for task in
        task_sites::tasks().iter().filter(|task| wanted.is_none_or(|part| task.name.contains(part.as_str())))
    {
        let begun = Instant::now();
        let result = run_task(&BuiltIn, task).await;
        let score = result.score;
        println!(
            "{:<28} {:<7} {:>4}/{:<4} {:>5}/{:<5} {:>6} {:>8.1}",
            task.name,
            format!("{:?}", task.set),
            score.right,
            score.wanted,
            score.traceable,
            score.given,
            result.pages,
            begun.elapsed().as_secs_f64() * 1_000.0,
        );
        if answers {
            println!("  wanted {}", task.expected);
            println!(
                "  given  {}",
                result.answer.map_or_else(|| result.failure.unwrap_or_default(), |data| data.to_string())
            );
        }
        all += score;
        if task.set.held_out() {
            held_out += score;
        }
    }
    let (right, traceable) = (percent(all.right, all.wanted), percent(all.traceable, all.given));
    println!(
        "fields right      {right:>5.1} %  (held out {:.1} %)  floor {FIELDS_FLOOR}",
        percent(held_out.right, held_out.wanted)
    );
    println!(
        "values traceable  {traceable:>5.1} %  (held out {:.1} %)  floor {TRACEABLE_FLOOR}",
        percent(held_out.traceable, held_out.given)
    );
    let fine = wanted.is_some() || (right >= FIELDS_FLOOR && traceable >= TRACEABLE_FLOOR);
    Ok(ExitCode::from(u8::from(!fine)))
}
