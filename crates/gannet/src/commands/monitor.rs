//! `gannet monitor`: creates, shows, runs and deletes monitors of a team. It works on the database of the
//! server, which does the checks; it need not run while monitors are changed.

mod render;
mod watch;

use crate::commands::keys::TeamChoice;
use crate::commands::server_process::mail_policy;
use crate::data_dir::{self, IfMissing};
use crate::settings::Settings;
use access::Caller;
use anyhow::{Context, Result, bail, ensure};
use engine::files::Files;
use engine::models::Models;
use engine::monitor::{MonitorParts, Monitors};
use outbox::messages;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use wire::monitor::{
    CheckDetailView, CheckListQuery, CheckPageQuery, EmailInput, MonitorListQuery, MonitorPatch,
    MonitorRequest, MonitorView, NotificationInput, ScheduleInput, TargetInput,
};
use wire::webhook::WebhookInput;

/// Monitors and pages that are read at once.
const READ_AT_ONCE: u32 = 100;
/// Checks that are shown with a monitor.
const SHOWN_CHECKS: u32 = 10;
const POLL_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Subcommand)]
pub enum Monitor {
    /// Create a monitor of pages, sites and searches
    Create(Box<Create>),
    /// List monitors, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        team: TeamChoice,
    },
    /// Show a monitor and its last checks
    Show {
        #[command(flatten)]
        monitor: MonitorChoice,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a check now; the server does it
    Run {
        #[command(flatten)]
        monitor: MonitorChoice,
        /// Wait for its end and show it
        #[arg(long)]
        wait: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what changed in a check
    Diff {
        #[command(flatten)]
        monitor: MonitorChoice,
        /// Id of the check [default: the last one in which something changed]
        check: Option<Uuid>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Pause a monitor
    Pause {
        #[command(flatten)]
        monitor: MonitorChoice,
    },
    /// Resume a paused monitor
    Resume {
        #[command(flatten)]
        monitor: MonitorChoice,
    },
    /// Delete a monitor with its checks
    Delete {
        #[command(flatten)]
        monitor: MonitorChoice,
    },
    /// Show all monitors and their checks as they happen, until Ctrl-C
    Watch {
        #[command(flatten)]
        team: TeamChoice,
    },
}

/// Create a monitor of pages, sites and searches
#[derive(Debug, clap::Args)]
pub struct Create {
    /// Pages to check
    urls: Vec<String>,
    /// Name of the monitor [default: its first page, site or search]
    #[arg(long)]
    name: Option<String>,
    /// When to check, in words: "every 30 minutes", "daily at 9:00", "every monday at 8:30"
    #[arg(long, conflicts_with = "cron")]
    schedule: Option<String>,
    /// When to check, as a cron expression of five fields
    #[arg(long)]
    cron: Option<String>,
    /// IANA name of the time zone [default: UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Start of a site whose pages are checked; may be repeated
    #[arg(long, value_name = "URL")]
    site: Vec<String>,
    /// Query of a search whose results are checked; may be repeated
    #[arg(long, value_name = "QUERY")]
    search: Vec<String>,
    /// What changes are about, in words; each change is then judged
    #[arg(long)]
    goal: Option<String>,
    /// URL that is told of changes
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Address that gets mail when something changes; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    email: Vec<String>,
    /// Days for which checks are kept [default: 30]
    #[arg(long, value_name = "DAYS")]
    retention_days: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    team: TeamChoice,
}

#[derive(Debug, clap::Args)]
pub struct MonitorChoice {
    /// Id of the monitor, the start of it, or its name
    monitor: String,
    #[command(flatten)]
    team: TeamChoice,
}

/// The monitors of a team.
struct TeamMonitors {
    monitors: Monitors,
    caller: Caller,
    /// How people reach the server.
    base_url: String,
}

impl Monitor {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let opened = data_dir::open_for_command(settings, IfMissing::Fail).await?;
        let store = opened.store.clone();
        let team = self.team().find(store.as_ref()).await?;
        let models = Models::open(&settings.models, &data_dir::open_fetcher(settings, None)?);
        let base_url = settings.public_url.clone().unwrap_or_else(|| format!("http://{}", settings.listen));
        let objects = data_dir::open_objects(settings, store.clone())?;
        let links = messages::open_links(store.as_ref(), &base_url).await;
        let links = links.map_err(|error| text(engine::from_store(error)))?;
        let team = TeamMonitors {
            monitors: Monitors::new(MonitorParts {
                store: store.clone(),
                allow: settings.egress_allow.clone(),
                models,
                files: Arc::new(Files::open(store.as_ref(), objects).await.map_err(text)?),
                links,
                mail: mail_policy(settings),
            }),
            caller: Caller::new(team, None, &settings.plans),
            base_url,
        };
        let outcome = self.run_for(&team).await;
        store.shut_down().await;
        outcome.map(|()| ExitCode::SUCCESS)
    }

    fn team(&self) -> &TeamChoice {
        match self {
            Self::Create(create) => &create.team,
            Self::List { team, .. } | Self::Watch { team } => team,
            Self::Show { monitor, .. }
            | Self::Run { monitor, .. }
            | Self::Diff { monitor, .. }
            | Self::Pause { monitor }
            | Self::Resume { monitor }
            | Self::Delete { monitor } => &monitor.team,
        }
    }

    async fn run_for(self, team: &TeamMonitors) -> Result<()> {
        let TeamMonitors { monitors, caller, base_url } = team;
        match self {
            Self::Create(create) => create.run(team).await,
            Self::List { json, .. } => {
                let found = team.all().await?;
                if json {
                    return print_json(&found);
                }
                render::print_monitors(&found);
                Ok(())
            }
            Self::Show { monitor, json } => {
                let monitor = team.find(&monitor.monitor).await?;
                if json {
                    return print_json(&monitor);
                }
                let query = CheckListQuery { limit: Some(SHOWN_CHECKS), ..CheckListQuery::default() };
                let checks = monitors.checks(caller, monitor.id, &query, base_url).await.map_err(text)?;
                render::print_monitor(&monitor, &checks);
                Ok(())
            }
            Self::Run { monitor, wait, json } => {
                let monitor = team.find(&monitor.monitor).await?;
                let check = monitors.run(caller, monitor.id, base_url).await.map_err(text)?;
                match (wait, json) {
                    (false, true) => print_json(&check)?,
                    (true, true) => print_json(&team.wait(monitor.id, check.id).await?)?,
                    (false, false) => println!("check {} of {} is queued", check.id, monitor.name),
                    (true, false) => {
                        note!("check {} of {} is queued", check.id, monitor.name);
                        render::print_check(&team.wait(monitor.id, check.id).await?);
                    }
                }
                Ok(())
            }
            Self::Diff { monitor, check, json } => {
                let monitor = team.find(&monitor.monitor).await?;
                let check = match check {
                    Some(check) => check,
                    None => team.last_changed(monitor.id).await?,
                };
                let check = team.check(monitor.id, check).await?;
                if json { print_json(&check) } else { render::print_diffs(&check) }
            }
            Self::Pause { monitor } => team.set_status(&monitor.monitor, "paused").await,
            Self::Resume { monitor } => team.set_status(&monitor.monitor, "active").await,
            Self::Delete { monitor } => {
                let monitor = team.find(&monitor.monitor).await?;
                monitors.delete(caller, monitor.id).await.map_err(text)?;
                println!("deleted {}", monitor.name);
                Ok(())
            }
            Self::Watch { .. } => watch::watch(team).await,
        }
    }
}

impl TeamMonitors {
    async fn all(&self) -> Result<Vec<MonitorView>> {
        let mut found = Vec::new();
        loop {
            let offset = u32::try_from(found.len()).unwrap_or(u32::MAX);
            let query = MonitorListQuery { limit: Some(READ_AT_ONCE), offset: Some(offset) };
            let page = self.monitors.list(&self.caller, &query, &self.base_url).await.map_err(text)?;
            let is_last = page.len() < READ_AT_ONCE as usize;
            found.extend(page);
            if is_last {
                return Ok(found);
            }
        }
    }

    async fn find(&self, wanted: &str) -> Result<MonitorView> {
        let mut found = self.all().await?;
        found.retain(|monitor| monitor.id.to_string().starts_with(wanted) || monitor.name == wanted);
        match found.len() {
            1 => found.pop().context("no monitor"),
            0 => bail!("no monitor has the name `{wanted}` or an id that starts with it"),
            many => bail!("{many} monitors have the name `{wanted}` or an id that starts with it"),
        }
    }

    async fn set_status(&self, wanted: &str, status: &str) -> Result<()> {
        let monitor = self.find(wanted).await?;
        let patch = MonitorPatch { status: Some(status.to_owned()), ..MonitorPatch::default() };
        let updated = self.monitors.update(&self.caller, monitor.id, &patch, &self.base_url).await;
        let monitor = updated.map_err(text)?;
        println!("{} is {}", monitor.name, monitor.status);
        Ok(())
    }

    async fn last_changed(&self, monitor: Uuid) -> Result<Uuid> {
        let query = CheckListQuery { limit: Some(READ_AT_ONCE), ..CheckListQuery::default() };
        let checks =
            self.monitors.checks(&self.caller, monitor, &query, &self.base_url).await.map_err(text)?;
        let changed = checks.into_iter().find(|check| {
            let summary = check.summary;
            summary.changed + summary.new + summary.removed > 0
        });
        Ok(changed.context("nothing has changed yet")?.id)
    }

    /// A check with all of its pages.
    async fn check(&self, monitor: Uuid, check: Uuid) -> Result<CheckDetailView> {
        let mut query = CheckPageQuery { limit: Some(READ_AT_ONCE), ..CheckPageQuery::default() };
        let mut whole = self.page(monitor, check, &query).await?;
        while whole.next.take().is_some() {
            query.skip = Some(u32::try_from(whole.pages.len()).unwrap_or(u32::MAX));
            let page = self.page(monitor, check, &query).await?;
            whole.pages.extend(page.pages);
            whole.next = page.next;
        }
        Ok(whole)
    }

    async fn page(&self, monitor: Uuid, check: Uuid, query: &CheckPageQuery) -> Result<CheckDetailView> {
        let found = self.monitors.check(&self.caller, (monitor, check), query, &self.base_url).await;
        Ok(found.map_err(text)?.data)
    }

    async fn wait(&self, monitor: Uuid, check: Uuid) -> Result<CheckDetailView> {
        loop {
            let found = self.check(monitor, check).await?;
            if !["queued", "running"].contains(&found.check.status) {
                return Ok(found);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Create {
    async fn run(self, team: &TeamMonitors) -> Result<()> {
        let json = self.json;
        let request = self.into_request()?;
        let monitor = team.monitors.create(&team.caller, &request, &team.base_url).await.map_err(text)?;
        if json {
            return print_json(&monitor);
        }
        println!("created {} ({})", monitor.name, monitor.id);
        render::print_schedule(&monitor);
        Ok(())
    }

    fn into_request(self) -> Result<MonitorRequest> {
        let target = |kind: &str| TargetInput { kind: kind.to_owned(), ..TargetInput::default() };
        let first = self.urls.iter().chain(&self.site).chain(&self.search).next().cloned();
        let first = first.context("name pages, --site or --search")?;
        let mut targets = Vec::new();
        if !self.urls.is_empty() {
            targets.push(TargetInput { urls: Some(self.urls), ..target("scrape") });
        }
        for site in self.site {
            targets.push(TargetInput { url: Some(site), ..target("crawl") });
        }
        if !self.search.is_empty() {
            targets.push(TargetInput { queries: Some(self.search), ..target("search") });
        }
        ensure!(self.schedule.is_some() || self.cron.is_some(), "say when: --schedule or --cron");
        let notification = (!self.email.is_empty()).then(|| NotificationInput {
            email: Some(EmailInput {
                enabled: Some(true),
                recipients: Some(self.email),
                include_diffs: Some(true),
            }),
            ..NotificationInput::default()
        });
        Ok(MonitorRequest {
            name: Some(self.name.unwrap_or(first)),
            schedule: Some(ScheduleInput { cron: self.cron, text: self.schedule, timezone: self.timezone }),
            targets: Some(targets),
            webhook: self.webhook.map(WebhookInput::Plain),
            notification,
            retention_days: self.retention_days,
            goal: self.goal,
            ..MonitorRequest::default()
        })
    }
}

fn print_json<T: serde::Serialize>(value: &T) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// What a caller of the API would be told.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: engine::Error) -> anyhow::Error {
    anyhow::anyhow!(error.text())
}
