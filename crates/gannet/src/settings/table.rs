//! The declaration of every setting: names, default and description.

use anyhow::{Result, anyhow};

#[derive(Debug)]
pub struct Setting {
    /// In `gannet.toml` and after `--set`.
    pub name: &'static str,
    pub environment: &'static str,
    pub default: &'static str,
    /// Never printed.
    pub secret: bool,
    pub help: &'static str,
}

macro_rules! settings {
    ($($name:literal $environment:literal $default:literal $($secret:ident)? : $help:literal;)+) => {
        pub const SETTINGS: &[Setting] = &[
            $(Setting {
                name: $name, environment: $environment, default: $default,
                secret: settings!(@ $($secret)?), help: $help,
            }),+
        ];
    };
    (@ secret) => { true };
    (@) => { false };
}

settings! {
    "listen" "GANNET_LISTEN" "127.0.0.1:3002": "address and port to listen on";
    "data_dir" "GANNET_DATA_DIR" "gannet-data": "data directory for the database, objects and the first API key";
    "database_url" "GANNET_DATABASE_URL" "": "postgres://… or sqlite:PATH; empty = gannet.db in the data directory";
    "database_connections" "GANNET_DATABASE_CONNECTIONS" "8": "maximum database connections of this process";
    "api_key" "GANNET_API_KEY" "" secret: "the first API key, instead of a random one";
    "secret_key" "GANNET_SECRET_KEY" "" secret: "encryption key of stored secrets: 32 bytes in base64 or hexadecimal, the same for all servers of a database; empty = file secret-key in the data directory";
    "previous_secret_keys" "GANNET_PREVIOUS_SECRET_KEYS" "" secret: "previous values of secret_key, comma-separated, until gannet secrets rekey has run";
    "plan" "GANNET_PLAN" "unlimited": "plan of the first team";
    "auth" "GANNET_AUTH" "on": "off = no API keys are needed; only allowed on a loopback address";
    "anonymous_registration" "GANNET_ANONYMOUS_REGISTRATION" "off": "plan of agents that register themselves without an identity assertion; off = they may not";
    "keyless" "GANNET_KEYLESS" "off": "plan of callers without a key, who may scrape, search, parse and search papers; off = every request needs a key";
    "keyless_credits" "GANNET_KEYLESS_CREDITS" "200": "credits that one address may spend in a day without a key";
    "keyless_requests" "GANNET_KEYLESS_REQUESTS" "100": "requests that one address may send in a day without a key";
    "key_days" "GANNET_KEY_DAYS" "off": "days until a new API key expires where nothing is said, or off: it never does";
    "audit_days" "GANNET_AUDIT_DAYS" "365": "days after which rows of the audit log are deleted";
    "dashboard" "GANNET_DASHBOARD" "on": "on, off, or the folder web of the sources, to read the files of the dashboard from while they are changed";
    "oauth" "GANNET_OAUTH" "on": "off = people who are signed in to the dashboard cannot allow applications to use the server";
    "public_url" "GANNET_PUBLIC_URL" "": "URL under which callers reach this server, if it is behind a proxy";
    "trusted_proxies" "GANNET_TRUSTED_PROXIES" "": "reverse proxies whose X-Forwarded-Host and -Proto headers are trusted, such as 127.0.0.1,10.1.0.0/16; empty = none";
    "connections_per_address" "GANNET_CONNECTIONS_PER_ADDRESS" "1024": "maximum connections of one client address, except trusted proxies; 0 = no limit";
    "write_timeout" "GANNET_WRITE_TIMEOUT" "1m": "how long a client may leave a response unread before its connection is closed";
    "cors" "GANNET_CORS" "none": "none, *, or a comma-separated list of origins that may call from a browser";
    "egress_allow" "GANNET_EGRESS_ALLOW" "": "private addresses that may be reached, by purpose: scrape=127.0.0.0/8;webhook=…;model=…;search=…;mail=…;identity=…;telemetry=…";
    "proxies" "GANNET_PROXIES" "" secret: "proxies for outbound requests, used in turn: http://user:password@host:port,socks5://…; empty = direct";
    "proxy_purposes" "GANNET_PROXY_PURPOSES" "scrape": "purposes that use the proxies: scrape, webhook, model, search";
    "proxy_requests" "GANNET_PROXY_REQUESTS" "off": "on = a request may name a proxy of its own";
    "name_servers" "GANNET_NAME_SERVERS" "": "DNS servers, such as 10.0.0.2 or [fd00::2]:5353; empty = those of the system";
    "extra_certificates" "GANNET_EXTRA_CERTIFICATES" "": "PEM file of additional trusted certificates";
    "web_bot_auth_key" "GANNET_WEB_BOT_AUTH_KEY" "": "file of the private key that requests for pages are signed with (Web Bot Auth); empty = they are not signed";
    "web_bot_auth_agent" "GANNET_WEB_BOT_AUTH_AGENT" "": "URL of the server whose key directory sites look into; empty = public_url";
    "browser" "GANNET_BROWSER" "": "path of Chromium; empty = search in PATH and the usual places, off = no browser";
    "browser_pages" "GANNET_BROWSER_PAGES" "4": "maximum browser pages of this process";
    "browser_sandbox" "GANNET_BROWSER_SANDBOX" "auto": "Chromium's sandbox: auto = use it if it works, else warn; on = required; off";
    "browser_user" "GANNET_BROWSER_USER" "auto": "user that Chromium runs as: auto = never root; same = the user of the server; or a name, UID or UID:GID";
    "browser_site_isolation" "GANNET_BROWSER_SITE_ISOLATION" "on": "off = frames of other sites share the process of the page";
    "browser_restrict_files" "GANNET_BROWSER_RESTRICT_FILES" "on": "on = the kernel keeps Chromium from files that are not its own, where it can; off = it does not, for a Chromium that does not work so";
    "interact_code" "GANNET_INTERACT_CODE" "locked": "users' code in browser sessions: locked = only where the kernel locks it in; unlocked = also where it does not; off";
    "interact_user" "GANNET_INTERACT_USER" "auto": "account of users' code: auto = one for each session if the server runs as root; same = that of the server";
    "interact_node_modules" "GANNET_INTERACT_NODE_MODULES" "": "folder that contains playwright-core; empty = node_modules in the data directory, NODE_PATH, the global folder of npm";
    "interact_node" "GANNET_INTERACT_NODE" "": "path of Node.js; empty = search in PATH";
    "interact_python" "GANNET_INTERACT_PYTHON" "": "path of a Python that has the package playwright; empty = python/bin/python3 in the data directory, then PATH";
    "interact_sessions" "GANNET_INTERACT_SESSIONS" "20": "maximum browser sessions of this process; each is a browser";
    "interact_disk" "GANNET_INTERACT_DISK" "4GB": "most that pages, downloads and code of one session may store; the session ends there";
    "interact_memory" "GANNET_INTERACT_MEMORY" "2GB": "maximum memory of the browser of one session; the session ends there";
    "interact_traffic" "GANNET_INTERACT_TRAFFIC" "4GB": "maximum bytes that the pages of one session receive";
    "interact_pages" "GANNET_INTERACT_PAGES" "50": "maximum open pages of one session; further pages are closed";
    "interact_clients" "GANNET_INTERACT_CLIENTS" "32": "maximum clients that are connected to one session";
    "interact_shared_files" "GANNET_INTERACT_SHARED_FILES" "": "folder that clients of sessions on this machine share with the server, for downloads and uploads; empty = none";
    "interact_warm" "GANNET_INTERACT_WARM" "on": "off = no browser is started ahead of the next session";
    "interact_recording" "GANNET_INTERACT_RECORDING" "on": "off = browser sessions are never recorded";
    "interact_recording_size" "GANNET_INTERACT_RECORDING_SIZE" "64MB": "maximum size of the recording of one session; it stops there";
    "interact_recording_days" "GANNET_INTERACT_RECORDING_DAYS" "30": "days after which a recording is deleted";
    "recordings_limit" "GANNET_RECORDINGS_LIMIT" "2GB": "maximum size of all recordings, a part of objects_limit; the oldest are deleted first";
    "model_url" "GANNET_MODEL_URL" "": "URL of an OpenAI-compatible server, such as http://localhost:11434/v1; empty = no language model";
    "model_name" "GANNET_MODEL_NAME" "": "name of the model";
    "model_key" "GANNET_MODEL_KEY" "" secret: "API key of the model server";
    "model_agent" "GANNET_MODEL_AGENT" "" secret: "another model for agent runs: NAME, URL|NAME or URL|NAME|KEY";
    "model_extract" "GANNET_MODEL_EXTRACT" "" secret: "another model for structured data, likewise";
    "model_summary" "GANNET_MODEL_SUMMARY" "" secret: "another model for summaries and answers, likewise";
    "model_timeout" "GANNET_MODEL_TIMEOUT" "2m": "maximum time of one model response";
    "model_context" "GANNET_MODEL_CONTEXT" "0": "context size of the model in tokens; 0 = as reported by its server";
    "model_requests" "GANNET_MODEL_REQUESTS" "4": "maximum concurrent requests to one model";
    "model_credit_tokens" "GANNET_MODEL_CREDIT_TOKENS" "10000": "model tokens of an agent run for one credit; 0 = tokens are free";
    "search_providers" "GANNET_SEARCH_PROVIDERS" "": "search providers in order: searxng=http://…,brave,serper,tavily,wikipedia,local; empty = those with a key; local is always included";
    "brave_key" "GANNET_BRAVE_KEY" "" secret: "subscription key of Brave Search";
    "serper_key" "GANNET_SERPER_KEY" "" secret: "API key of Serper (Google's results)";
    "tavily_key" "GANNET_TAVILY_KEY" "" secret: "API key of Tavily";
    "search_mode" "GANNET_SEARCH_MODE" "fallback": "fallback = one provider after another until one has results; parallel = all at once, fused";
    "search_timeout" "GANNET_SEARCH_TIMEOUT" "10s": "maximum time of one search provider";
    "search_quotas" "GANNET_SEARCH_QUOTAS" "": "request limits of search providers for this process: brave=60/minute,brave=2000/month; empty = no limit";
    "body_limit" "GANNET_BODY_LIMIT" "10MB": "maximum size of a JSON request body";
    "role" "GANNET_ROLE" "all": "all, api or worker: what this process does; several processes need PostgreSQL";
    "page_memory" "GANNET_PAGE_MEMORY" "1GB": "most bytes that bodies of pages take in the memory of this process at once; further pages wait";
    "response_memory" "GANNET_RESPONSE_MEMORY" "256MB": "most bytes that responses take in the memory of this process until they are read, half of it for one team; more are refused";
    "workers" "GANNET_WORKERS" "32": "pages of crawls and batches, agent runs and webhooks that this process works on at once; 0 = none";
    "lease" "GANNET_LEASE" "15s": "how long a silent worker keeps its pages and runs";
    "agent_deadline" "GANNET_AGENT_DEADLINE" "10m": "how long an agent run may take";
    "webhook_retries" "GANNET_WEBHOOK_RETRIES" "1m,5m,15m": "pauses before each retry of a failed webhook; after the last retry it counts as failed";
    "webhook_timeout" "GANNET_WEBHOOK_TIMEOUT" "10s": "maximum time of a webhook request";
    "smtp_url" "GANNET_SMTP_URL" "" secret: "mail server for messages of monitors: smtp://user:password@host (STARTTLS) or smtps://… (TLS); empty = no mail";
    "mail_from" "GANNET_MAIL_FROM" "": "sender of mails, such as Gannet <gannet@example.com>; needed with smtp_url";
    "mail_trusted" "GANNET_MAIL_TRUSTED" "": "domains and addresses of recipients that need no confirmation: example.com,ann@example.org";
    "mail_timeout" "GANNET_MAIL_TIMEOUT" "1m": "maximum time in which the mail server has to accept a mail";
    "shutdown_grace" "GANNET_SHUTDOWN_GRACE" "10s": "how long open requests, pages and runs may continue after a stop";
    "objects" "GANNET_OBJECTS" "": "s3://bucket/prefix or a folder; empty = folder objects in the data directory";
    "objects_limit" "GANNET_OBJECTS_LIMIT" "10GB": "maximum size of stored objects";
    "cache_limit" "GANNET_CACHE_LIMIT" "2GB": "maximum size of cached pages and scrape results";
    "snapshots_limit" "GANNET_SNAPSHOTS_LIMIT" "1GB": "maximum size of snapshots for change tracking";
    "search_pages" "GANNET_SEARCH_PAGES" "on": "off = scraped and crawled pages are not kept for search, which saves processor time";
    "search_limit" "GANNET_SEARCH_LIMIT" "1GB": "maximum compressed size of pages stored for search in the database";
    "crawls_limit" "GANNET_CRAWLS_LIMIT" "10GB": "maximum size of stored crawls and batches; the oldest finished ones are deleted first";
    "single_crawl_limit" "GANNET_SINGLE_CRAWL_LIMIT" "2GB": "maximum size of one crawl or batch; it ends when it reaches it";
    "runs_limit" "GANNET_RUNS_LIMIT" "2GB": "maximum size of stored agent runs and extracts; the oldest finished ones are deleted first";
    "webhooks_limit" "GANNET_WEBHOOKS_LIMIT" "1GB": "maximum size of pending and failed webhooks";
    "min_free_disk" "GANNET_MIN_FREE_DISK" "64MB": "minimum free disk space; below it the disk counts as full and no new work is accepted; at most a tenth of the disk";
    "search_index_limit" "GANNET_SEARCH_INDEX_LIMIT" "4GB": "maximum size of the local search index in the data directory";
    "s3_endpoint" "GANNET_S3_ENDPOINT" "": "URL of the S3-compatible storage; empty = AWS";
    "s3_region" "GANNET_S3_REGION" "us-east-1": "S3 region";
    "s3_access_key" "GANNET_S3_ACCESS_KEY" "": "S3 access key";
    "s3_secret_key" "GANNET_S3_SECRET_KEY" "" secret: "S3 secret key";
    "research_starter" "GANNET_RESEARCH_STARTER" "on": "off = the research index starts empty instead of with a small corpus";
    "otlp" "GANNET_OTLP" "": "URL of a collector of OpenTelemetry (OTLP over HTTP), such as http://localhost:4318; empty = nothing is sent";
    "otlp_headers" "GANNET_OTLP_HEADERS" "" secret: "headers for the collector, such as Authorization=Bearer KEY,X-Tenant=one";
    "log" "GANNET_LOG" "info": "log filter, for instance info or gannet_server=debug,info";
    "log_format" "GANNET_LOG_FORMAT" "text": "text or json";
}

/// Settings of the version before this one that have no effect any more: accepted with a warning until the next version.
const OBSOLETE: &[&str] = &["drill_faults"];

pub fn is_obsolete(name: &str) -> bool {
    OBSOLETE.contains(&name)
}

/// The obsolete setting that this environment variable was for.
pub fn obsolete_in_environment(variable: &str) -> Option<String> {
    let name = variable.strip_prefix("GANNET_")?.to_ascii_lowercase();
    is_obsolete(&name).then_some(name)
}

/// The setting of this name, or an error that suggests a similar one.
pub fn find(name: &str) -> Result<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name).ok_or_else(|| match nearest(name) {
        Some(near) => anyhow!("unknown setting `{name}` (did you mean `{}`?)", near.name),
        None => anyhow!("unknown setting `{name}`; without it, `gannet doctor` lists all settings"),
    })
}

/// The setting with the most similar name.
pub fn nearest(name: &str) -> Option<&'static Setting> {
    let near = SETTINGS.iter().map(|setting| (distance(name, setting.name), setting));
    near.filter(|(distance, _)| *distance <= 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, setting)| setting)
}

/// Levenshtein distance; names are short.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_their_environment() {
        for setting in SETTINGS {
            assert_eq!(setting.environment, format!("GANNET_{}", setting.name.to_ascii_uppercase()));
        }
    }

    #[test]
    fn a_typo_finds_its_setting() {
        assert_eq!(nearest("datadir").unwrap().name, "data_dir");
        assert!(nearest("something_else").is_none());
    }
}
