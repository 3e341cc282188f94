//! What services get: within their limits, with nothing in it that they would read as markup or as a mention.

use crate::fixtures::{HOSTILE, hostile_message, long_message, message};
use notifications::channel::{Channel, ChannelError, ChannelFields, ChannelKind};
use serde_json::Value;

fn channel(kind: ChannelKind) -> Channel {
    let fields = ChannelFields { kind: kind.name(), ..ChannelFields::default() };
    let fields = match kind {
        ChannelKind::Ntfy => {
            ChannelFields { url: Some("https://ntfy.example/s3cret-topic"), token: Some("s3cret"), ..fields }
        }
        ChannelKind::Gotify => {
            ChannelFields { url: Some("http://gotify.example/sub/"), token: Some("s3cret"), ..fields }
        }
        ChannelKind::Telegram => ChannelFields { token: Some("123:s3cret"), room: Some("-1001"), ..fields },
        ChannelKind::Matrix => ChannelFields {
            url: Some("https://matrix.example"),
            token: Some("s3cret"),
            room: Some("!a/b:example.org"),
            ..fields
        },
        _ => ChannelFields { url: Some("https://hooks.example/services/s3cret?key=s3cret"), ..fields },
    };
    Channel::parse(fields).unwrap()
}

/// HTML without the addresses that its links lead to, which nobody sees.
fn without_targets(html: &str) -> String {
    let mut parts = html.split("href=\"");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += part.split_once('"').map_or("", |(_, rest)| rest);
    }
    shown
}

fn body(kind: ChannelKind, message: &notifications::message::CheckMessage) -> Value {
    serde_json::from_slice(&channel(kind).request(message).body).unwrap()
}

/// All strings in a value.
fn strings(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    found
}

#[test]
fn each_service_is_told_what_changed_and_where_to_look() {
    for kind in ChannelKind::ALL {
        let request = channel(kind).request(&message());
        let text = String::from_utf8(request.body.clone()).unwrap();
        for part in ["Shop prices", "39 a month", "status 503"] {
            assert!(text.contains(part), "{kind:?} without {part}: {text}");
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert!(
            strings(&body).iter().any(|text| text.contains("https://gannet.example/monitor/diff?token=abc")),
            "{kind:?} without its link: {text}"
        );
        assert_eq!(
            request,
            channel(kind).request(&message()),
            "{kind:?} is not the same when it is sent again"
        );
        assert!(request.to_net_request().is_ok(), "{kind:?}");
    }
}

#[test]
fn requests_go_where_the_services_expect_them() {
    let address = |kind| {
        let request = channel(kind).request(&message());
        (request.method, request.url, request.headers)
    };
    let bearer = || vec![("authorization", "Bearer s3cret".to_owned())];
    assert_eq!(address(ChannelKind::Ntfy), ("POST", "https://ntfy.example/".to_owned(), bearer()));
    assert_eq!(body(ChannelKind::Ntfy, &message())["topic"], "s3cret-topic");
    let key = vec![("x-gotify-key", "s3cret".to_owned())];
    assert_eq!(address(ChannelKind::Gotify), ("POST", "http://gotify.example/sub/message".to_owned(), key));
    let telegram = "https://api.telegram.org/bot123:s3cret/sendMessage".to_owned();
    assert_eq!(address(ChannelKind::Telegram), ("POST", telegram, Vec::new()));
    let matrix = "https://matrix.example/_matrix/client/v3/rooms/!a%2Fb:example.org/send/m.room.message/\
        gannet-00000000-0000-0000-0000-000000000002";
    assert_eq!(address(ChannelKind::Matrix), ("PUT", matrix.to_owned(), bearer()));
}

#[test]
fn no_secret_is_shown() {
    for kind in ChannelKind::ALL {
        let channel = channel(kind);
        let shown = format!("{channel:?} {:?} {}", channel.request(&message()), channel.host());
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    let fields = ChannelFields { kind: "slack", url: Some("s3cret"), token: Some("s3cret"), room: None };
    assert!(!format!("{fields:?} {}", Channel::parse(fields).unwrap_err()).contains("s3cret"));
}

#[test]
fn settings_are_checked() {
    let parse = |kind, url, token, room| Channel::parse(ChannelFields { kind, url, token, room }).map(|_| ());
    let url = Some("https://a.example/x");
    let cases = [
        (parse("pager", url, None, None), Some(ChannelError::UnknownKind)),
        (
            parse("slack", None, None, None),
            Some(ChannelError::Missing { kind: ChannelKind::Slack, field: "url" }),
        ),
        (parse("slack", Some("ftp://a.example"), None, None), Some(ChannelError::Url)),
        (parse("slack", Some("https://user:pw@a.example"), None, None), Some(ChannelError::Url)),
        (parse("slack", Some("javascript:alert(1)"), None, None), Some(ChannelError::Url)),
        (
            parse("slack", url, Some("t"), None),
            Some(ChannelError::NotTaken { kind: ChannelKind::Slack, field: "token" }),
        ),
        (
            parse("gotify", url, None, None),
            Some(ChannelError::Missing { kind: ChannelKind::Gotify, field: "token" }),
        ),
        (parse("generic", url, Some("a\r\nb"), None), Some(ChannelError::Token)),
        (parse("telegram", None, Some("1:a/../b"), Some("1")), Some(ChannelError::Token)),
        (
            parse("telegram", None, Some("1:a"), Some("x y")),
            Some(ChannelError::Room { kind: ChannelKind::Telegram }),
        ),
        (
            parse("matrix", url, Some("t"), Some("#alias:a")),
            Some(ChannelError::Room { kind: ChannelKind::Matrix }),
        ),
        (
            parse("ntfy", Some("https://ntfy.example/"), None, None),
            Some(ChannelError::Missing { kind: ChannelKind::Ntfy, field: "room" }),
        ),
        (parse("ntfy", None, None, Some("topic")), None),
        (parse("telegram", None, Some("1:a"), Some("@news")), None),
        (parse("generic", Some("http://127.0.0.1:9/hook"), None, None), None),
    ];
    for (place, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found.err(), expected, "case {place}");
    }
}

#[test]
fn limits_of_services_are_kept() {
    let message = long_message();
    let request_bytes = |kind| channel(kind).request(&message).body.len();
    assert!(request_bytes(ChannelKind::Teams) < 28_000);
    assert!(request_bytes(ChannelKind::Matrix) < 65_536);
    assert!(request_bytes(ChannelKind::Generic) < 1 << 20);
    let slack = body(ChannelKind::Slack, &message);
    assert!(slack["blocks"].as_array().unwrap().len() <= 50);
    assert!(slack["blocks"][0]["text"]["text"].as_str().unwrap().chars().count() <= 150);
    let discord = body(ChannelKind::Discord, &message);
    let chars = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    assert!(chars(&discord["content"]) <= 2_000);
    let embeds = discord["embeds"].as_array().unwrap();
    assert!(embeds.len() <= 10 && embeds.iter().all(|embed| chars(&embed["title"]) <= 256));
    assert!(
        embeds.iter().map(|embed| chars(&embed["title"]) + chars(&embed["description"])).sum::<usize>()
            <= 6_000
    );
    assert!(chars(&body(ChannelKind::Mattermost, &message)["text"]) <= 4_000);
    assert!(request_bytes(ChannelKind::Mattermost) < 3 * 16_383);
    assert!(body(ChannelKind::Ntfy, &message)["message"].as_str().unwrap().len() <= 4_096);
    let telegram = body(ChannelKind::Telegram, &message);
    assert!(telegram["text"].as_str().unwrap().encode_utf16().count() <= 4_096);
    for kind in ChannelKind::ALL {
        let text = String::from_utf8(channel(kind).request(&message).body).unwrap();
        assert!(text.contains("more page"), "{kind:?} does not say that pages are left out");
    }
}

#[test]
fn text_of_pages_calls_nobody_and_is_no_markup() {
    for hostile in HOSTILE {
        let message = hostile_message(hostile);
        let discord = body(ChannelKind::Discord, &message);
        assert_eq!(discord["allowed_mentions"], serde_json::json!({ "parse": [] }));
        assert_eq!(body(ChannelKind::Matrix, &message)["m.mentions"], serde_json::json!({}));
        for kind in
            [ChannelKind::Discord, ChannelKind::Mattermost, ChannelKind::Telegram, ChannelKind::Matrix]
        {
            for text in strings(&body(kind, &message)).iter().filter(|text| !text.starts_with("https://")) {
                let shown = without_targets(text);
                for name in ["@everyone", "@here", "@channel", "@room", "@all"] {
                    assert!(!shown.contains(name), "{kind:?}: {text}");
                }
            }
        }
        // Markdown: every mark has its backslash.
        for kind in [ChannelKind::Discord, ChannelKind::Mattermost] {
            for text in strings(&body(kind, &message)).iter().filter(|text| text.contains("italic")) {
                if text.starts_with("https://") {
                    continue;
                }
                assert!(text.contains("\\*bold\\*") && text.contains("\\_italic\\_"), "{kind:?}: {text}");
            }
        }
        // HTML: only the tags of our own.
        for (kind, field) in [(ChannelKind::Telegram, "text"), (ChannelKind::Matrix, "formatted_body")] {
            let body = body(kind, &message);
            let mut html = body[field].as_str().unwrap().to_owned();
            for own in ["<b>", "</b>", "<strong>", "</strong>", "<p>", "</p>", "<br>", "</a>"] {
                html = html.replace(own, "");
            }
            for tag in html.split('<').skip(1) {
                let is_link = tag.starts_with("a href=\"https://")
                    || tag.starts_with("a rel=\"noreferrer noopener\" href=\"https://");
                assert!(is_link, "{kind:?}: <{tag}");
            }
        }
        // Slack and Teams: text is data in their blocks, and links lead to the web.
        let (slack, teams) = (body(ChannelKind::Slack, &message), body(ChannelKind::Teams, &message));
        assert!(!slack["text"].as_str().unwrap().contains(['<', '>']));
        assert!(strings(&teams).iter().all(|text| !text.contains("{{") && !text.contains("${a")));
        let mut open = vec![&slack["blocks"], &teams];
        while let Some(value) = open.pop() {
            if let Value::Array(items) = value {
                open.extend(items);
            }
            let Value::Object(fields) = value else { continue };
            if let Some(url) = fields.get("url") {
                assert!(url.as_str().unwrap().starts_with("https://"), "{url}");
            }
            let kind = fields.get("type").and_then(Value::as_str);
            assert!(kind != Some("mrkdwn") && kind != Some("TextBlock") && !fields.contains_key("entities"));
            open.extend(fields.values());
        }
    }
}
