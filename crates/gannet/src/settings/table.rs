//! The settings, each declared once: its names, its default, and what it is for.

use anyhow::{Result, anyhow};

#[derive(Debug)]
pub struct Setting {
    /// In `gannet.toml` and after `--set`.
    pub name: &'static str,
    pub environment: &'static str,
    pub default: &'static str,
    /// Never shown.
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
    "data_dir" "GANNET_DATA_DIR" "gannet-data": "folder for the database, objects and the first key";
    "database_url" "GANNET_DATABASE_URL" "": "postgres://… or sqlite:PATH; empty = gannet.db in the data folder";
    "database_connections" "GANNET_DATABASE_CONNECTIONS" "8": "most database connections of this process";
    "api_key" "GANNET_API_KEY" "" secret: "the first key, instead of a random one";
    "secret_key" "GANNET_SECRET_KEY" "" secret: "what stored secrets are encrypted with: 32 bytes in base64 or hexadecimal, the same for all servers of a database; empty = secret-key in the data folder";
    "previous_secret_keys" "GANNET_PREVIOUS_SECRET_KEYS" "" secret: "keys that were secret_key before, comma-separated, until gannet secrets rekey has run";
    "plan" "GANNET_PLAN" "unlimited": "plan of the first team";
    "auth" "GANNET_AUTH" "on": "off = no keys are asked for; only on a loopback address";
    "public_url" "GANNET_PUBLIC_URL" "": "how callers reach this server, when a proxy hides it";
    "trusted_proxies" "GANNET_TRUSTED_PROXIES" "": "proxies in front whose X-Forwarded-Host and -Proto are believed, such as 127.0.0.1,10.1.0.0/16; empty = nobody's";
    "connections_per_address" "GANNET_CONNECTIONS_PER_ADDRESS" "1024": "connections that one client address may hold, trusted proxies aside; 0 = no limit";
    "write_timeout" "GANNET_WRITE_TIMEOUT" "1m": "how long a client may leave an answer unread before its connection is closed";
    "cors" "GANNET_CORS" "none": "none, *, or a comma-separated list of origins that may call from a browser";
    "egress_allow" "GANNET_EGRESS_ALLOW" "": "what may be reached in private space, per purpose: scrape=127.0.0.0/8;webhook=…;model=…;search=…";
    "proxies" "GANNET_PROXIES" "" secret: "proxies to go out through, taken in turn: http://user:password@host:port,socks5://…; empty = straight";
    "proxy_purposes" "GANNET_PROXY_PURPOSES" "scrape": "what goes through the proxies: scrape, webhook, model, search";
    "proxy_requests" "GANNET_PROXY_REQUESTS" "off": "on = a request may name a proxy of its own";
    "name_servers" "GANNET_NAME_SERVERS" "": "name servers to ask, such as 10.0.0.2 or [fd00::2]:5353; empty = as the system does";
    "extra_certificates" "GANNET_EXTRA_CERTIFICATES" "": "PEM file of certificates to trust beside those of the system";
    "browser" "GANNET_BROWSER" "": "the Chromium to use; empty = looked for in PATH and the usual places, off = none";
    "browser_pages" "GANNET_BROWSER_PAGES" "4": "pages that this process has open in browsers at once";
    "browser_sandbox" "GANNET_BROWSER_SANDBOX" "auto": "whether pages run in Chromium's sandbox: auto = where it works, with a warning where not; on = or not at all; off";
    "browser_user" "GANNET_BROWSER_USER" "auto": "account that Chromium runs under: auto = never root; same = that of the server; or a name, UID or UID:GID";
    "browser_site_isolation" "GANNET_BROWSER_SITE_ISOLATION" "on": "off = a page shares one process with its frames of other sites";
    "model_url" "GANNET_MODEL_URL" "": "an OpenAI-compatible server, such as http://localhost:11434/v1; empty = no language model";
    "model_name" "GANNET_MODEL_NAME" "": "the model to ask it for";
    "model_key" "GANNET_MODEL_KEY" "" secret: "its key";
    "model_agent" "GANNET_MODEL_AGENT" "" secret: "another model for agent runs: NAME, URL|NAME or URL|NAME|KEY";
    "model_extract" "GANNET_MODEL_EXTRACT" "" secret: "the same for structured data";
    "model_summary" "GANNET_MODEL_SUMMARY" "" secret: "the same for summaries and answers";
    "model_timeout" "GANNET_MODEL_TIMEOUT" "2m": "how long one answer of a model may take";
    "model_context" "GANNET_MODEL_CONTEXT" "0": "tokens that the model can read at once; 0 = as its server says";
    "model_requests" "GANNET_MODEL_REQUESTS" "4": "requests to one model at once";
    "model_credit_tokens" "GANNET_MODEL_CREDIT_TOKENS" "10000": "tokens that an agent run gets for one credit; 0 = tokens cost nothing";
    "search_providers" "GANNET_SEARCH_PROVIDERS" "": "who is asked, in order: searxng=http://…,brave,serper,tavily,wikipedia,local; empty = those that have a key; local is always among them";
    "brave_key" "GANNET_BRAVE_KEY" "" secret: "subscription key of Brave Search";
    "serper_key" "GANNET_SERPER_KEY" "" secret: "key of Serper (Google's results)";
    "tavily_key" "GANNET_TAVILY_KEY" "" secret: "key of Tavily";
    "search_mode" "GANNET_SEARCH_MODE" "fallback": "fallback = one provider after another until one has results; parallel = all at once, fused";
    "search_timeout" "GANNET_SEARCH_TIMEOUT" "10s": "how long one provider may take to answer";
    "search_quotas" "GANNET_SEARCH_QUOTAS" "": "how often this process may ask a provider: brave=60/minute,brave=2000/month; empty = no limit";
    "body_limit" "GANNET_BODY_LIMIT" "10MB": "largest JSON body";
    "role" "GANNET_ROLE" "all": "all, api or worker: what this process does; several processes need PostgreSQL";
    "page_memory" "GANNET_PAGE_MEMORY" "1GB": "most bytes that bodies of pages take in the memory of this process at once; further pages wait";
    "workers" "GANNET_WORKERS" "32": "jobs, and pages of crawls and batches, that this process works on at once; 0 = none";
    "lease" "GANNET_LEASE" "15s": "how long a silent worker keeps its jobs";
    "agent_deadline" "GANNET_AGENT_DEADLINE" "10m": "how long an agent run may take";
    "webhook_retries" "GANNET_WEBHOOK_RETRIES" "1m,5m,15m": "how long after each failed attempt a webhook is sent again; after the last it is given up";
    "webhook_timeout" "GANNET_WEBHOOK_TIMEOUT" "10s": "how long the receiver of a webhook may take to answer";
    "shutdown_grace" "GANNET_SHUTDOWN_GRACE" "10s": "how long open requests and jobs may go on after a stop";
    "objects" "GANNET_OBJECTS" "": "s3://bucket/prefix or a folder; empty = objects in the data folder";
    "objects_limit" "GANNET_OBJECTS_LIMIT" "10GB": "most bytes that stored objects may take";
    "cache_limit" "GANNET_CACHE_LIMIT" "2GB": "most bytes that cached pages and kept results of scrapes may take";
    "snapshots_limit" "GANNET_SNAPSHOTS_LIMIT" "1GB": "most bytes that snapshots for change tracking may take";
    "search_limit" "GANNET_SEARCH_LIMIT" "1GB": "most bytes that pages kept for search may take in the database, packed";
    "crawls_limit" "GANNET_CRAWLS_LIMIT" "10GB": "most bytes that crawls and batches may store; of those that have ended the oldest go first";
    "single_crawl_limit" "GANNET_SINGLE_CRAWL_LIMIT" "2GB": "most bytes that one crawl or batch may store; it ends there";
    "runs_limit" "GANNET_RUNS_LIMIT" "2GB": "most bytes that agent runs and extracts may store; of those that have ended the oldest go first";
    "webhooks_limit" "GANNET_WEBHOOKS_LIMIT" "1GB": "most bytes that webhooks on their way and given up may take";
    "min_free_disk" "GANNET_MIN_FREE_DISK" "64MB": "free space below which a disk counts as full and no new work is accepted; a tenth of the disk where that is less";
    "search_index_limit" "GANNET_SEARCH_INDEX_LIMIT" "4GB": "most bytes that the local search index may take in the data folder";
    "s3_endpoint" "GANNET_S3_ENDPOINT" "": "address of the S3-compatible storage; empty = AWS";
    "s3_region" "GANNET_S3_REGION" "us-east-1": "its region";
    "s3_access_key" "GANNET_S3_ACCESS_KEY" "": "its access key";
    "s3_secret_key" "GANNET_S3_SECRET_KEY" "" secret: "its secret key";
    "drill_faults" "GANNET_DRILL_FAULTS" "off": "on = drills may rehearse faults of the server itself";
    "research_starter" "GANNET_RESEARCH_STARTER" "on": "off = the research index starts empty instead of with a small corpus";
    "log" "GANNET_LOG" "info": "log filter, for instance info or gannet_server=debug,info";
    "log_format" "GANNET_LOG_FORMAT" "text": "text or json";
}

/// The setting of this name, or an error with the nearest one.
pub fn find(name: &str) -> Result<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name).ok_or_else(|| match nearest(name) {
        Some(near) => anyhow!("unknown setting `{name}` (did you mean `{}`?)", near.name),
        None => anyhow!("unknown setting `{name}`; `gannet doctor` lists them all"),
    })
}

/// The setting a typing mistake away from this name.
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
    fn a_typing_mistake_finds_its_setting() {
        assert_eq!(nearest("datadir").unwrap().name, "data_dir");
        assert!(nearest("something_else").is_none());
    }
}
