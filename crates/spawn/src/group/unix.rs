//! Groups on Unix: `setpgid`, `kill(-group)`, and on Linux the orphans that left the group.
//!
//! INVARIANT: the leader is reaped last. Until then its number, which is the group's too, is given to nobody else, so
//! a signal to the group never reaches a stranger. Only `Run::reap` reaps it, with the table of leaders locked.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::SignalKind;

use super::{Exit, Input, Started, command};
use crate::child::Launch;
use crate::orphan::{Run, kill_group};

pub(crate) use crate::orphan::{is_settled, kill_everybody};

/// How long a killed process may take to be gone. Only one that is stuck in the kernel takes longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often what was killed is looked at until it is gone.
const LOOK: Duration = Duration::from_millis(1);

/// A leader, its group, and on Linux everyone who left it.
pub(crate) struct Group {
    /// Tells that some child ended. Not `tokio::process`, which reaps the leader before its group is killed.
    deaths: tokio::signal::unix::Signal,
    /// `None` once everybody is gone.
    remains: Option<Remains>,
}

impl Group {
    pub(crate) fn start(launch: &Launch, input: Input) -> io::Result<Started> {
        // First of all, so that no death goes unheard and nothing is started that could not be waited for.
        let deaths = tokio::signal::unix::signal(SignalKind::child())?;
        let run = Run::begin();
        let mut command = command(launch, input);
        command.process_group(0);
        match input {
            Input::Nothing => {
                if let Some((name, value)) = run.mark(&launch.env) {
                    command.env(name, value);
                }
            }
            // Whoever sees the mark knows that nobody talks to it, which is not so here. Who is left over is found by
            // being nobody else's.
            Input::Pipe => {}
        }
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let pipes = (child.stdout.take(), child.stderr.take());
        let leader = Pid::from_child(&child);
        run.led_by(leader);
        // From here on an error, too, kills what was started.
        let group = Group { deaths, remains: Some(Remains { child, leader, run }) };
        let (Some(stdout), Some(stderr)) = pipes else { return Err(io::ErrorKind::BrokenPipe.into()) };
        Ok(Started {
            group,
            stdin: stdin.map(ChildStdin::from_std).transpose()?,
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        })
    }

    /// Waits for the leader's end without reaping it. May be dropped and called again.
    pub(crate) async fn leader_gone(&mut self) -> io::Result<()> {
        let Some(remains) = &self.remains else { return Ok(()) };
        while !is_dead(remains.leader)? {
            self.deaths.recv().await;
        }
        Ok(())
    }

    /// Asks the whole group to end.
    pub(crate) fn ask_to_end(&mut self) {
        if let Some(remains) = &self.remains {
            // A group that is gone already needs no asking.
            let _ = rustix::process::kill_process_group(remains.leader, Signal::TERM);
        }
    }

    /// Whether nobody of the group lives. Asked once the leader is gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.remains.as_ref().is_none_or(|remains| Run::is_group_empty(remains.leader))
    }

    /// Kills everybody and returns when they are gone.
    pub(crate) async fn end(&mut self) -> io::Result<Exit> {
        if let Some(remains) = &self.remains {
            remains.kill();
        }
        tokio::time::timeout(PATIENCE, self.leader_gone()).await??;
        let Some(remains) = &mut self.remains else { return Err(io::ErrorKind::NotFound.into()) };
        let since = Instant::now();
        while !remains.run.end_orphans() {
            if since.elapsed() > PATIENCE {
                tracing::warn!("a killed process of a run that ended is still there");
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        let status = remains.run.reap(&mut remains.child)?.ok_or(io::ErrorKind::TimedOut)?;
        self.remains = None;
        Ok(exit(status))
    }
}

impl Drop for Group {
    /// The caller is gone or something failed: everybody is killed now, and a thread tidies up after the dead.
    fn drop(&mut self) {
        let Some(mut remains) = self.remains.take() else { return };
        remains.kill();
        if remains.tidy() {
            return;
        }
        // A thread and not a task: the runtime may be going down, and this must outlive it.
        let tidied = std::thread::Builder::new().name("gatelatch-tidy".to_owned()).spawn(move || {
            let since = Instant::now();
            while !remains.tidy() && since.elapsed() < PATIENCE {
                std::thread::sleep(LOOK);
            }
        });
        if let Err(error) = tidied {
            tracing::warn!(%error, "no thread to tidy up after a killed child");
        }
    }
}

/// What is not yet known to be gone.
struct Remains {
    child: Child,
    leader: Pid,
    run: Run,
}

impl Remains {
    fn kill(&self) {
        kill_group(self.leader);
    }

    /// Reaps whoever is dead and kills whoever left the group; true when nobody is left.
    fn tidy(&mut self) -> bool {
        matches!(is_dead(self.leader), Ok(true) | Err(_))
            && self.run.end_orphans()
            && !matches!(self.run.reap(&mut self.child), Ok(None))
    }
}

/// Whether a child of ours is dead; leaves it to be reaped.
fn is_dead(child: Pid) -> io::Result<bool> {
    let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(child), looking)?.is_some())
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, BufReader};

    #[tokio::test]
    async fn killing_the_group_takes_more_than_its_leader() {
        let launch = Launch {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), "sleep 1000 & echo $!; wait".into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
            timeout: PATIENCE,
            max_stdout_bytes: 0,
            stderr_tail_bytes: 0,
        };
        let Started { mut group, stdout, .. } = Group::start(&launch, Input::Nothing).unwrap();
        let member = BufReader::new(stdout).lines().next_line().await.unwrap().unwrap();
        let member = Pid::from_raw(member.parse().unwrap()).unwrap();
        group.remains.as_ref().unwrap().kill();
        group.leader_gone().await.unwrap();
        // Dead and not reaped, or reaped by whoever adopted it: nothing but the signal to the group reached it.
        let since = Instant::now();
        while rustix::process::test_kill_process(member).is_ok() && !is_dead(member).unwrap_or(false) {
            assert!(since.elapsed() < PATIENCE, "it lives on");
            tokio::time::sleep(LOOK).await;
        }
        assert_eq!(group.end().await.unwrap(), Exit::Signal(9));
    }
}
