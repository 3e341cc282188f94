use super::*;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn flags(pairs: &[(&str, &str)]) -> Flags {
    let values = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Flags { config: None, values }
}

fn fails(result: Result<Settings>) -> String {
    format!("{:#}", result.expect_err("should have been rejected"))
}

#[test]
fn flags_win_over_environment_over_defaults() {
    let set = load(&flags(&[]), &environment(&[])).unwrap();
    assert_eq!(set.listen.to_string(), "127.0.0.1:3002");
    let set = load(&flags(&[]), &environment(&[("GANNET_LISTEN", "127.0.0.1:1")])).unwrap();
    assert_eq!(set.listen.port(), 1);
    let set = load(&flags(&[("listen", "127.0.0.1:2")]), &environment(&[("GANNET_LISTEN", "127.0.0.1:1")]))
        .unwrap();
    assert_eq!(set.listen.port(), 2);
    let source = &set.given.iter().find(|given| given.setting.name == "listen").unwrap().source;
    assert_eq!(*source, ValueSource::Flag);
}

#[test]
fn the_file_is_parsed_and_its_errors_are_named() {
    let good =
        parse_file("g.toml".into(), "listen = '127.0.0.1:5'\nauth = true\n[plans.tiny]\ncredits = 3\n")
            .unwrap();
    assert_eq!(good.values["listen"], "127.0.0.1:5");
    assert_eq!(good.plans["tiny"].credits, Some(3));
    let typo = format!("{:#}", parse_file("g.toml".into(), "listn = 'x'").unwrap_err());
    assert!(typo.contains("g.toml") && typo.contains("listn") && typo.contains("`listen`"), "{typo}");
    let plan = format!("{:#}", parse_file("g.toml".into(), "[plans.x]\ncredit = 3").unwrap_err());
    assert!(plan.contains("g.toml") && plan.contains("credit"), "{plan}");
}

#[test]
fn a_setting_of_the_version_before_is_accepted_and_named() {
    let set = load(&flags(&[("drill_faults", "on")]), &environment(&[])).unwrap();
    assert_eq!(set.obsolete, ["drill_faults"]);
    let set = load(&flags(&[]), &environment(&[("GANNET_DRILL_FAULTS", "on")])).unwrap();
    assert_eq!(set.obsolete, ["drill_faults"]);
    assert_eq!(parse_file("g.toml".into(), "drill_faults = 'on'").unwrap().obsolete, ["drill_faults"]);
    assert!(load(&flags(&[]), &environment(&[])).unwrap().obsolete.is_empty());
}

#[test]
fn wrong_values_name_the_setting_and_its_source() {
    let text = fails(load(&flags(&[]), &environment(&[("GANNET_LISTEN", "nowhere")])));
    assert!(text.contains("listen") && text.contains("GANNET_LISTEN"), "{text}");
    let text = fails(load(&flags(&[]), &environment(&[("GANNET_LISTN", "x")])));
    assert!(text.contains("GANNET_LISTN") && text.contains("GANNET_LISTEN"), "{text}");
    let text = fails(load(&flags(&[("plan", "gold")]), &environment(&[])));
    assert!(text.contains("plan") && text.contains("unlimited"), "{text}");
}

#[test]
fn auth_off_is_rejected_beyond_loopback() {
    let text = fails(load(&flags(&[("listen", "0.0.0.0:3002"), ("auth", "off")]), &environment(&[])));
    assert!(text.contains("auth"), "{text}");
    assert!(load(&flags(&[("listen", "127.0.0.1:0"), ("auth", "off")]), &environment(&[])).is_ok());
    assert!(load(&flags(&[("listen", "0.0.0.0:3002")]), &environment(&[])).is_ok());
}

#[test]
fn roles_are_for_several_processes() {
    let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
    assert_eq!(with(&[]).unwrap().role, ProcessRole::All);
    let text = fails(with(&[("role", "api")]));
    assert!(text.contains("role") && text.contains("PostgreSQL"), "{text}");
    let database = ("database_url", "postgres://h/d");
    let api = with(&[("role", "api"), database]).unwrap();
    assert_eq!((api.role, api.workers), (ProcessRole::Api, 0));
    assert!(with(&[("role", "worker"), database]).unwrap().workers > 0);
    let text = fails(with(&[("role", "worker"), ("workers", "0"), database]));
    assert!(text.contains("workers"), "{text}");
    assert!(fails(with(&[("role", "both")])).contains("all, api or worker"));
}

#[test]
fn proxies_are_used_for_their_purposes() {
    let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
    let set = with(&[]).unwrap();
    assert!(set.proxies.pool.is_empty() && !set.proxies.per_request);
    let set = with(&[("proxies", "http://a.example"), ("proxy_purposes", "scrape, model")]).unwrap();
    assert_eq!(set.proxies.purposes, [net::Purpose::Scrape, net::Purpose::Model]);
    let text = fails(with(&[("proxy_purposes", "mail")]));
    assert!(text.contains("mail") && text.contains("webhook"), "{text}");
}

#[test]
fn models_are_set_by_purpose() {
    let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
    assert!(with(&[]).unwrap().models.extract.is_none());
    let own = [("model_url", "http://localhost:11434"), ("model_name", "small"), ("model_key", "k")];
    let set = with(
        &[&own[..], &[("model_agent", "large"), ("model_summary", "http://h.example/v1|other|s3cret")]]
            .concat(),
    );
    let models = set.unwrap().models;
    let (agent, extract, summary) = (models.agent.unwrap(), models.extract.unwrap(), models.summary.unwrap());
    assert_eq!((agent.name.as_str(), agent.key.as_deref()), ("large", Some("k")));
    assert_eq!(extract.name, "small");
    assert_eq!((summary.name.as_str(), summary.url.host_str()), ("other", Some("h.example")));
    assert_eq!(summary.key.as_deref(), Some("s3cret"), "a key is only sent to its own server");
    let other = [&own[..], &[("model_extract", "http://h.example|x")]].concat();
    assert_eq!(with(&other).unwrap().models.extract.unwrap().key, None);
    for (wrong, named) in [
        (vec![("model_url", "http://localhost:8080")], "model_name"),
        (vec![("model_name", "x")], "model_url"),
        (vec![("model_url", "ftp://h"), ("model_name", "x")], "model_url"),
        (vec![("model_agent", "x")], "model_agent"),
        (vec![("model_agent", "http://h|s3cret|b|c")], "model_agent"),
        (vec![("model_context", "10")], "model_context"),
    ] {
        let text = fails(with(&wrong));
        assert!(text.contains(named) && !text.contains("s3cret"), "{text}");
    }
}

#[test]
fn name_servers_have_port_53_unless_they_say_another() {
    let with = |text: &str| load(&flags(&[("name_servers", text)]), &environment(&[]));
    assert!(with("").unwrap().name_servers.is_empty());
    let shown: Vec<String> = with("10.0.0.2, fd00::2,[::1]:5353,127.0.0.1:54")
        .unwrap()
        .name_servers
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shown, ["10.0.0.2:53", "[fd00::2]:53", "[::1]:5353", "127.0.0.1:54"]);
    let text = fails(with("dns.example"));
    assert!(text.contains("name_servers") && text.contains("dns.example"), "{text}");
}

#[test]
fn trusted_proxies_are_addresses_or_networks() {
    let with = |text: &str| load(&flags(&[("trusted_proxies", text)]), &environment(&[]));
    assert!(with("").unwrap().trusted_proxies.is_empty());
    assert_eq!(with("127.0.0.1, fd00::/8").unwrap().trusted_proxies.len(), 2);
    let text = fails(with("127.0.0.1,proxy.example"));
    assert!(text.contains("trusted_proxies") && text.contains("proxy.example"), "{text}");
}

#[test]
fn a_server_knows_when_it_is_open_without_tls() {
    let is_open = |listen: &str, settings: &[(&str, &str)]| {
        load(&flags(settings), &environment(&[])).unwrap().is_open_without_tls(listen.parse().unwrap())
    };
    assert!(is_open("0.0.0.0:3002", &[]) && is_open("[::]:3002", &[]) && is_open("10.0.0.1:80", &[]));
    assert!(is_open("0.0.0.0:3002", &[("public_url", "http://gannet.example")]));
    assert!(!is_open("127.0.0.1:3002", &[]) && !is_open("[::1]:3002", &[]));
    assert!(!is_open("0.0.0.0:3002", &[("public_url", "https://gannet.example")]));
    assert!(!is_open("0.0.0.0:3002", &[("trusted_proxies", "10.0.0.1")]));
}

#[test]
fn issuers_are_trusted_with_an_address_of_our_own_only() {
    let folder = testkit::TempDir::new();
    let file = folder.join("gannet.toml");
    let text = "[[trust]]\nissuer = 'https://login.example'\njwks_url = 'https://login.example/jwks'\n";
    std::fs::write(&file, text).unwrap();
    let with = |values: &[(&str, &str)]| {
        load(&Flags { config: Some(file.clone()), ..flags(values) }, &environment(&[]))
    };
    let text = fails(with(&[]));
    assert!(text.contains("[[trust]]") && text.contains("public_url"), "{text}");
    assert_eq!(with(&[("public_url", "https://gannet.example")]).unwrap().trust.len(), 1);
}

#[test]
fn secrets_stay_hidden() {
    let set = load(
        &flags(&[("api_key", "fc-0123456789abcdef"), ("database_url", "postgres://me:pw@h/d")]),
        &environment(&[]),
    )
    .unwrap();
    let shown: String = set.given.iter().map(SettingValue::shown).collect();
    assert!(!shown.contains("0123456789") && !shown.contains("pw") && shown.contains("me:…@h/d"), "{shown}");
    assert!(!format!("{:?}", set.api_key).contains("0123456789abcdef"));
    let proxies = "http://me:s3cret@p.example:3128, socks5://me:s3cret@[::1]";
    let set = load(&flags(&[("proxies", proxies)]), &environment(&[])).unwrap();
    let shown: String = set.given.iter().map(SettingValue::shown).collect();
    assert!(!format!("{shown}{set:?}").contains("s3cret"), "{shown}");
    for wrong in ["http://me:s3cret@p.example:3128,nonsense", "gopher://me:s3cret@p.example", "s3cret"] {
        let text = fails(load(&flags(&[("proxies", wrong)]), &environment(&[])));
        assert!(text.contains("proxies") && !text.contains("s3cret"), "{text}");
    }
    for url in ["postgres://u:s3cret@h/d", "postgres://u:a/s3cret@h/d", "postgres://u@h/d?password=s3cret"] {
        assert!(!hide_password(url).contains("s3cret"), "{}", hide_password(url));
    }
    assert_eq!(hide_password("sqlite:x/y.db"), "sqlite:x/y.db");
}

#[test]
fn a_collector_that_cannot_be_sent_to_is_refused_with_the_reason() {
    let given = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
    assert!(given(&[]).unwrap().collector.is_none(), "off by default");
    let set = given(&[("otlp", "http://localhost:4318/tenant/"), ("otlp_headers", "A=b=c, D=e")]).unwrap();
    let request = set.collector.unwrap().post("/v1/traces", Vec::new()).unwrap();
    assert_eq!(request.url().as_str(), "http://localhost:4318/tenant/v1/traces");
    for (name, value, why) in [
        ("otlp", "localhost:4318", "must start with http:// or https://"),
        ("otlp", "http://user:secret-word@localhost:4318", "put keys into otlp_headers"),
        ("otlp", "http://localhost:4318/?key=secret-word", "put keys into otlp_headers"),
        ("otlp_headers", "secret-word", "must be NAME=VALUE"),
        ("otlp_headers", "Host=secret-word", "cannot be set"),
    ] {
        let text = fails(given(&[("otlp", "http://localhost:4318"), (name, value)]));
        assert!(text.contains(why) && !text.contains("secret-word"), "{name} = {value}: {text}");
    }
}
