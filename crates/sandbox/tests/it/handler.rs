//! What the sandboxed processes of these tests do: whatever the options of a job say, mostly something bad.

use crate::attempts::{ATTEMPTS, open_descriptors};
use gannet_sandbox::{Handler, ReceivedJob};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub fn prepare(role: &str, arguments: &[String]) -> Result<Handler, String> {
    if role == "no-role" {
        return Err("this role does not exist".to_owned());
    }
    let arguments = arguments.join(" ");
    let mut kept = Vec::new();
    Ok(Box::new(move |job| run(job, &arguments, &mut kept)))
}

fn run(mut job: ReceivedJob, arguments: &str, kept: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let options = String::from_utf8(job.options).expect("text");
    let (word, rest) = options.split_once(' ').unwrap_or((&options, ""));
    match word {
        "echo" | "echo-slowly" => {
            if word == "echo-slowly" {
                std::thread::sleep(Duration::from_millis(400));
            }
            let mut input = Vec::new();
            job.input.read_to_end(&mut input).expect("read the input");
            return input;
        }
        "arguments" => return arguments.into(),
        "pid" => return std::process::id().to_string().into(),
        "environment" => return format!("{:?}", std::env::vars_os().collect::<Vec<_>>()).into(),
        "descriptors" => return format!("{:?}", open_descriptors()).into(),
        "attempt" => return attempt(rest).into(),
        "sum-in-threads" => {
            let parts: Vec<_> = (0..4_u64).map(|part| std::thread::spawn(move || part * 10)).collect();
            let sum: u64 = parts.into_iter().map(|part| part.join().expect("a thread")).sum();
            return sum.to_string().into();
        }
        "write-to-input" => return format!("{:?}", job.input.write_all(b"x").is_ok()).into(),
        "panic" => panic!("secret text of a document"),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        "overflow-the-stack" => _ = black_box(recurse(1)),
        "loop" => loop {
            black_box(0);
        },
        "sleep" => std::thread::sleep(Duration::from_hours(1)),
        "loop-in-threads" => {
            for _ in 0..8 {
                std::thread::spawn(|| {
                    loop {
                        black_box(0);
                    }
                });
            }
            std::thread::sleep(Duration::from_hours(1));
        }
        "allocate-large" => loop {
            kept.push(vec![1; 16 * 1024 * 1024]);
        },
        "allocate-small" => loop {
            kept.push(vec![1; 64]);
        },
        "allocate-at-once" => kept.push(vec![1; 1 << 40]),
        "keep-100-mb" => kept.push(vec![1; 100 * 1024 * 1024]),
        "large-output" => return vec![b'x'; 5 * 1024 * 1024],
        "send-garbage" => send(b"HTTP/1.1 200 OK\r\n"),
        "send-for-ever" => loop {
            send(&[4, 255, 255, 0, 0]);
            send(&vec![b'x'; 65_535]);
        },
        "claim-4-gb" => send(&[4, 255, 255, 255, 255]),
        "send-half" => {
            send(&[4, 100, 0, 0, 0, b'h', b'a', b'l', b'f']);
            std::process::exit(0);
        }
        "send-twice" => send(&[4, 5, 0, 0, 0, b'f', b'i', b'r', b's', b't']),
        "send-late" => {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                send(&[4, 4, 0, 0, 0, b'l', b'a', b't', b'e']);
            });
        }
        "close-the-connection" => {
            for descriptor in [0, 3] {
                let _ = nix::unistd::close(descriptor);
            }
            std::thread::sleep(Duration::from_hours(1));
        }
        _ => panic!("unknown job"),
    }
    kept.len().to_string().into()
}

/// Tries one thing; the answer is what came of it.
fn attempt(words: &str) -> String {
    let (name, server) = words.split_once(' ').expect("a name and a process");
    let attempt = ATTEMPTS.iter().find(|attempt| attempt.name == name).expect("a known attempt");
    describe(&(attempt.run)(server.parse().expect("a number")))
}

pub fn describe(result: &io::Result<()>) -> String {
    match result {
        Ok(()) => "allowed".to_owned(),
        Err(error) => {
            error.raw_os_error().map_or_else(|| error.to_string(), |number| format!("error {number}"))
        }
    }
}

/// Sends bytes to the server past the protocol.
fn send(bytes: &[u8]) {
    let connection = io::stdin().as_fd().try_clone_to_owned().expect("the connection");
    let _ = UnixStream::from(connection).write_all(bytes);
}

#[allow(unconditional_recursion, reason = "this is the fault that is tested")]
fn recurse(depth: u64) -> u64 {
    let room = black_box([depth; 128]);
    recurse(depth + 1) + room[7]
}
