//! The client in the sandbox and the server.

use crate::fixture::Fixture;
use gannet_browser_commands::{parse_bare_command, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

async fn ask(stream: &mut UnixStream, request: &Value) -> Value {
    let body = request.to_string();
    stream.write_u32(u32::try_from(body.len()).unwrap()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let length = stream.read_u32().await.unwrap();
    let mut reply = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut reply).await.unwrap();
    serde_json::from_slice(&reply).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_over_a_stream() {
    let fixture = Fixture::at("/").await;
    std::fs::create_dir(fixture.folder().join("work")).unwrap();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let server = tokio::spawn(serve(theirs, fixture.commander.clone()));
    let reply = ask(&mut ours, &json!({ "words": ["get", "title"], "cwd": "/" })).await;
    assert_eq!(reply, json!({ "stdout": "Bird Shop\n", "stderr": "", "exitCode": 0 }));
    let work = fixture.folder().join("work");
    ask(&mut ours, &json!({ "words": ["screenshot", "here.png"], "cwd": work })).await;
    assert!(work.join("here.png").exists(), "relative paths start in the client's folder");
    assert_eq!(ask(&mut ours, &json!({ "words": ["nope"], "cwd": null })).await["exitCode"], 1);
    assert_eq!(
        ask(&mut ours, &json!({ "words": 5 })).await["exitCode"],
        1,
        "what is no request gets an error"
    );
    drop(ours);
    server.await.unwrap().unwrap();

    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let server = tokio::spawn(serve(theirs, fixture.commander.clone()));
    ours.write_u32(u32::MAX).await.unwrap();
    assert!(server.await.unwrap().is_err(), "a length without bound ends the connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_commands_take_turns() {
    let fixture = Fixture::at("/").await;
    let runs = (0..20).map(|number| {
        let commander = fixture.commander.clone();
        tokio::spawn(async move {
            commander.run_line(&format!("eval 'new Promise((d) => setTimeout(() => d({number}), 20))'")).await
        })
    });
    for (number, run) in runs.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(run.await.unwrap().stdout, format!("{number}\n"));
    }
}

#[test]
fn a_bare_command_of_bash_is_recognized() {
    assert_eq!(parse_bare_command("snapshot").unwrap(), ["snapshot"]);
    assert!(parse_bare_command("ls").is_none());
}
