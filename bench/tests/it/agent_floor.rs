//! The floors for the built-in agent, over all task sites.

use agent::BuiltIn;
use gannet_bench::task_sites::{percent, run_task};
use testkit::task_sites::{self, Score};

#[tokio::test]
async fn the_built_in_agent_reaches_its_floors() {
    let mut all = Score::default();
    for task in task_sites::tasks() {
        all += run_task(&BuiltIn, task).await.score;
    }
    assert!(task_sites::tasks().len() >= 40, "{} tasks", task_sites::tasks().len());
    let (right, traceable) = (percent(all.right, all.wanted), percent(all.traceable, all.given));
    assert!(right >= 70.0, "{right:.1} % of the fields are right");
    assert!(traceable >= 95.0, "{traceable:.1} % of the values stand where they are said to");
}
