//! Crawls, batches and agent runs: started, waited for, listed and cancelled.

use crate::{World, eventually, get, refused};
use firecrawl::{
    AgentEffort, AgentModel, AgentOptions, AgentStatus, AgentTraceEvent, BatchScrapeOptions, CrawlOptions,
    Format, JobStatus, ScrapeOptions,
};
use serde::Deserialize;
use serde_json::json;

/// Milliseconds between two looks at a job.
const POLL: Option<u64> = Some(50);

pub async fn use_jobs(world: &World) {
    crawls(world).await;
    batches(world).await;
    agents(world).await;
}

fn markdown_only() -> Option<ScrapeOptions> {
    Some(ScrapeOptions { formats: Some(vec![Format::Markdown]), ..ScrapeOptions::default() })
}

async fn crawls(world: &World) {
    let (client, start) = (&world.client, format!("{}/site/", world.site));
    let options = CrawlOptions {
        limit: Some(20),
        max_discovery_depth: Some(5),
        scrape_options: markdown_only(),
        poll_interval: POLL,
        ..CrawlOptions::default()
    };
    let crawl = get!(client, crawl(&start, options));
    assert_eq!((crawl.status, crawl.completed), (JobStatus::Completed, 4), "{crawl:?}");
    assert!(crawl.data.iter().all(|page| page.markdown.is_some()), "{crawl:?}");

    let started = get!(client, start_crawl(&start, None));
    let ended = eventually(async || {
        let status = get!(client, get_crawl_status(&started.id));
        (status.status == JobStatus::Completed).then_some(status)
    });
    assert_eq!(ended.await.data.len(), 4);
    let errors = get!(client, get_crawl_errors(&started.id));
    assert!(errors.errors.iter().any(|error| error.url.ends_with("/broken")), "{errors:?}");
    assert!(errors.robots_blocked.iter().any(|url| url.ends_with("/site/secret/plan")), "{errors:?}");

    let held = get!(client, start_crawl(format!("{}/held/", world.site), None));
    assert_eq!(get!(client, cancel_crawl(&held.id)).status, "cancelled");
    refused(crate::call!(client, start_crawl("mailto:a@b.example", None)), "unsupported protocol");
}

async fn batches(world: &World) {
    let client = &world.client;
    let urls = ["one", "two"].map(|page| format!("{}/site/{page}", world.site)).to_vec();
    let options =
        BatchScrapeOptions { options: markdown_only(), poll_interval: POLL, ..BatchScrapeOptions::default() };
    let batch = get!(client, batch_scrape(urls.clone(), options));
    assert_eq!((batch.status, batch.completed, batch.data.len()), (JobStatus::Completed, 2, 2), "{batch:?}");
    let mut broken = urls;
    broken.push("no address".to_owned());
    broken.push("http://127.0.0.1:2/".to_owned());
    let options = BatchScrapeOptions { ignore_invalid_urls: Some(true), ..BatchScrapeOptions::default() };
    let started = get!(client, start_batch_scrape(broken, options));
    assert_eq!(started.invalid_urls.as_deref(), Some(&["no address".to_owned()][..]), "{started:?}");
    eventually(async || {
        let status = get!(client, get_batch_scrape_status(&started.id));
        (status.status == JobStatus::Completed).then_some(())
    })
    .await;
    let errors = get!(client, get_batch_scrape_errors(&started.id));
    assert_eq!(errors.errors.len(), 1, "{errors:?}");
}

#[derive(Debug, Deserialize)]
struct Company {
    founded: i64,
    employees: i64,
}

async fn agents(world: &World) {
    let client = &world.client;
    let page = format!("{}/company", world.companies);
    let prompt = "When was it founded, and how many employees has it?".to_owned();
    let schema = json!({ "type": "object", "required": ["founded", "employees"],
        "properties": { "founded": { "type": "integer" }, "employees": { "type": "integer" } } });
    let options = AgentOptions {
        urls: Some(vec![page.clone()]),
        prompt: prompt.clone(),
        schema: Some(schema.clone()),
        strict_constrain_to_urls: Some(true),
        model: Some(AgentModel::Spark2),
        effort: Some(AgentEffort::Low),
        poll_interval: POLL,
        timeout: Some(60),
        ..AgentOptions::default()
    };
    let run = get!(client, agent(options.clone()));
    assert_eq!(run.status, AgentStatus::Completed, "{run:?}");
    assert_eq!(run.data, Some(json!({ "founded": 1987, "employees": 42 })));
    let company: Option<Company> = get!(client, agent_with_schema(vec![page], prompt, schema));
    assert!(company.is_some_and(|company| (company.founded, company.employees) == (1987, 42)));

    let started = get!(client, start_agent(options));
    eventually(async || {
        let status = get!(client, get_agent_status(&started.id)).status;
        (status == AgentStatus::Completed).then_some(())
    })
    .await;
    let trace = get!(client, get_agent_trace(&started.id, true));
    let events = trace.events.expect("events");
    let snapshot = events.iter().find_map(|event| match event {
        AgentTraceEvent::ArtifactUpdated(updated) => Some(updated.artifact.snapshot_id.clone()),
        _ => None,
    });
    let snapshot = get!(client, get_agent_snapshot(&started.id, snapshot.expect("a snapshot")));
    assert!(snapshot.snapshot.is_some_and(|text| text.contains("1987")));
    let listed = get!(client, list_agents(None)).agents.expect("runs");
    assert!(listed.iter().any(|run| run.id == started.id && run.status == AgentStatus::Completed));

    let endless = AgentOptions {
        urls: Some(vec![format!("{}/walk/1", world.companies)]),
        prompt: "What does a gannet weigh, and how old is the oldest?".to_owned(),
        ..AgentOptions::default()
    };
    let started = get!(client, start_agent(endless));
    assert!(get!(client, cancel_agent(&started.id)));
    let unknown = "019a0000-0000-7000-8000-000000000000";
    refused(crate::call!(client, get_agent_trace(unknown, false)), "Agent job not found");
}
