//! Prints the result of the built-in agent for each task, and for all. An error below the floors: 70 % of fields right,
//! 95 % of given values traceable.

use agent::BuiltIn;
use anyhow::{Result, ensure};
use gannet_bench::task_sites::{percent, run_task};
use gannet_bench::timing::milliseconds;
use std::time::Instant;
use testkit::task_sites::{self, Score};

const FIELDS_FLOOR: f64 = 70.0;
const TRACEABLE_FLOOR: f64 = 95.0;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print the wanted and the given answer of each task.
    #[arg(long)]
    answers: bool,
    /// Only tasks with this in their names; the floors are not checked then.
    part_of_a_name: Option<String>,
}

#[tokio::main]
pub async fn run(arguments: &Arguments) -> Result<()> {
    let part = arguments.part_of_a_name.as_deref();
    let (mut all, mut held_out) = (Score::default(), Score::default());
    println!("{:<28} {:<7} {:>9} {:>11} {:>6} {:>8}", "task", "set", "right", "traceable", "pages", "ms");
    for task in task_sites::tasks().iter().filter(|task| part.is_none_or(|part| task.name.contains(part))) {
        let start = Instant::now();
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
            milliseconds(start.elapsed()),
        );
        if arguments.answers {
            let given =
                result.answer.map_or_else(|| result.failure.unwrap_or_default(), |data| data.to_string());
            println!("  wanted {}\n  given  {given}", task.expected);
        }
        all += score;
        if task.set.held_out() {
            held_out += score;
        }
    }
    let right = |score: Score| percent(score.right, score.wanted);
    let traceable = |score: Score| percent(score.traceable, score.given);
    let print = |name: &str, share: &dyn Fn(Score) -> f64, floor: f64| {
        println!("{name:<17} {:>5.1} %  (held out {:.1} %)  floor {floor}", share(all), share(held_out));
    };
    print("fields right", &right, FIELDS_FLOOR);
    print("values traceable", &traceable, TRACEABLE_FLOOR);
    let reached = right(all) >= FIELDS_FLOOR && traceable(all) >= TRACEABLE_FLOOR;
    ensure!(part.is_some() || reached, "below the floors");
    Ok(())
}
