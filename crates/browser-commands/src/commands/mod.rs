//! The commands themselves, one function each, grouped by what they are about. Each takes what was typed and
//! gives its text and its data.

mod act;
mod capture;
mod dialog;
mod find;
mod form;
mod frame;
mod log;
mod navigate;
mod network;
mod pointer;
mod read;
mod settings;
mod storage;
mod tabs;
mod wait;

use crate::arguments::{self, Arguments};
use crate::element::{Element, Locator};
use crate::error::CommandError;
use crate::files::Files;
use crate::page::{CommandPage, SessionBrowser};
use crate::reply::Outcome;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a tab may take until it is attached.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(12);

type CommandResult = Result<Outcome, CommandError>;

/// What a command works with.
pub(crate) struct Context {
    pub(crate) browser: Arc<SessionBrowser>,
    pub(crate) files: Option<Files>,
    pub(crate) deadline: Instant,
}

impl Context {
    /// The current tab; opens one when there is none.
    pub(crate) async fn page(&self) -> Result<CommandPage, CommandError> {
        // The current tab may be one that was closed before it was known, as when a page opens too many windows.
        let has_tab = {
            let mut state = self.browser.state();
            if state.current_tab().is_none() {
                state.current = state.tabs.last().map(|tab| tab.target.clone());
            }
            state.current.is_some()
        };
        if !has_tab {
            let params = json!({ "url": "about:blank" });
            self.browser.call(None, "Target.createTarget", params, self.deadline).await?;
        }
        let limit = self.deadline.min(Instant::now() + ATTACH_TIMEOUT);
        let ready = self.browser.wait_for(limit, |state| {
            let tab = state.current_tab().filter(|tab| tab.is_ready || tab.dialog.is_some())?;
            Some((tab.target.clone(), tab.session.clone()?))
        });
        let (target, session) = ready
            .await
            .ok_or_else(|| CommandError::failed("The tab does not respond; `tab new` opens another one"))?;
        Ok(CommandPage { browser: Arc::clone(&self.browser), target, session, deadline: self.deadline })
    }

    /// The element that a selector names.
    async fn element(&self, typed: &str) -> Result<Element, CommandError> {
        Element::find(&self.page().await?, &Locator::parse(typed)).await
    }

    fn files(&self) -> Result<&Files, CommandError> {
        self.files.as_ref().ok_or_else(|| CommandError::failed("This session has no folder for files"))
    }
}

/// Carries out a command.
pub(crate) async fn run(context: &Context, arguments: &Arguments) -> CommandResult {
    let command = arguments.spec.names[0];
    if arguments.has("--help") {
        return Ok(Outcome::new(arguments::help(Some(command))?, json!({})));
    }
    match command {
        "open" => navigate::open(context, arguments).await,
        "back" => navigate::go(context, -1).await,
        "forward" => navigate::go(context, 1).await,
        "reload" => navigate::reload(context).await,
        "snapshot" => read::snapshot(context, arguments).await,
        "click" => pointer::click(context, arguments).await,
        "dblclick" => pointer::double_click(context, arguments).await,
        "hover" => pointer::hover(context, arguments).await,
        "drag" => pointer::drag(context, arguments).await,
        "scroll" => pointer::scroll(context, arguments).await,
        "scrollintoview" => pointer::scroll_into_view(context, arguments).await,
        "mouse" => pointer::mouse(context, arguments).await,
        "fill" => form::fill(context, arguments).await,
        "type" => form::type_into(context, arguments).await,
        "press" => form::press(context, arguments).await,
        "keyboard" => form::keyboard(context, arguments).await,
        "focus" => form::focus(context, arguments).await,
        "check" => form::check(context, arguments, true).await,
        "uncheck" => form::check(context, arguments, false).await,
        "select" => form::select(context, arguments).await,
        "upload" => form::upload(context, arguments).await,
        "wait" => wait::wait(context, arguments).await,
        "get" => read::get(context, arguments).await,
        "is" => read::is(context, arguments).await,
        "eval" => read::evaluate(context, arguments).await,
        "find" => find::find(context, arguments).await,
        "screenshot" => capture::screenshot(context, arguments).await,
        "pdf" => capture::pdf(context, arguments).await,
        "download" => capture::download(context, arguments).await,
        "tab" => tabs::tab(context, arguments).await,
        "close" => tabs::close_all(context).await,
        "frame" => frame::frame(context, arguments).await,
        "cookies" => storage::cookies(context, arguments).await,
        "storage" => storage::web_storage(context, arguments).await,
        "set" => settings::set(context, arguments).await,
        "network" => network::network(context, arguments).await,
        "dialog" => dialog::dialog(context, arguments).await,
        "console" => Ok(log::console(context, arguments)),
        "errors" => Ok(log::errors(context, arguments)),
        _ => Ok(Outcome::new(arguments::help(arguments.values.first().map(String::as_str))?, json!({}))),
    }
}
