//! Starts processes from one thread that lives as long as the server.
//!
//! A sandboxed process asks the kernel to be killed when its parent ends, and for the kernel the parent is
//! the *thread* that started it. Threads of the runtime may end while the server goes on.

use crate::error::StartError;
use crate::executable::Executable;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct SpawnRequest {
    command: Command,
    /// Held until the process has started: the command names its open descriptor, whose number must not
    /// become that of another file before.
    executable: Executable,
    runtime: Handle,
    reply: oneshot::Sender<std::io::Result<Child>>,
}

/// Starts the command of an executable. A caller who has stopped waiting gets no process: it is killed when
/// it is dropped.
pub(crate) async fn spawn(command: Command, executable: Executable) -> Result<Child, StartError> {
    let (reply, answer) = oneshot::channel();
    let request = SpawnRequest { command, executable, runtime: Handle::current(), reply };
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
            for SpawnRequest { mut command, executable, runtime, reply } in requests {
                let _guard = runtime.enter();
                let child = command.spawn();
                drop(executable);
                let _ = reply.send(child);
            }
        });
        started.map(|_| sender).map_err(|error| error.to_string())
    });
    spawner.clone().map_err(StartError)
}
