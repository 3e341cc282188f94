//! Starts processes from one thread that lives as long as the server.
//!
//! A sandboxed process asks the kernel to be killed when its parent ends, and for the kernel the parent is
//! the *thread* that started it. Threads of the runtime may end while the server goes on.

use crate::error::StartError;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct SpawnRequest {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<std::io::Result<Child>>,
}

/// Starts the command. A caller who has stopped waiting gets no process: it is killed when it is dropped.
pub(crate) async fn spawn(command: Command) -> Result<Child, StartError> {
    let (reply, answer) = oneshot::channel();
    let request = SpawnRequest { command, runtime: Handle::current(), reply };
    spawner()?.send(request).map_err(|_| StartError("the thread that starts processes has ended".into()))?;
    let child = answer.await.map_err(|_| StartError("the thread that starts processes has ended".into()))?;
    Ok(child?)
}

fn spawner() -> Result<Sender<SpawnRequest>, StartError> {
    static SPAWNER: OnceLock<Result<Sender<SpawnRequest>, String>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, requests) = channel::<SpawnRequest>();
        let thread = std::thread::Builder::new().name("sandbox-spawner".into());
        let started = thread.spawn(move || {
            for SpawnRequest { mut command, runtime, reply } in requests {
                let _guard = runtime.enter();
                let _ = reply.send(command.spawn());
            }
        });
        started.map(|_| sender).map_err(|error| error.to_string())
    });
    spawner.clone().map_err(StartError)
}
