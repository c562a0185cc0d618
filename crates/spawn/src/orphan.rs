//! Those who left their group: found and ended, on Linux only.
//!
//! A double fork in a session of its own is out of reach of `kill(-group)`. So this process makes itself the *child
//! subreaper* of all its descendants: whoever loses its parent becomes our child instead of init's, shows up in
//! `/proc/self/task/*/children`, and is ended from the top down until nobody is left. The same makes their zombies
//! ours to reap.
//!
//! Several runs are under way at once, so an orphan must be told from another run's. Every run has a mark in its
//! environment ([`RUN_VARIABLE`]), which children inherit. Whoever shed the mark is ended as soon as it can belong to no
//! run that is still under way, because it is older than each of them; at the latest when the last one ends.
//! What is not ours to end: leaders (their own run reaps them), whoever is older than our first run, whoever shares our
//! own group, and unmarked processes where we are init, since an init adopts strangers.
//!
//! Elsewhere than on Linux everything here does nothing, and only the group is killed. Start at [`Run`].

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, kill_process_group, waitpid};

use crate::child::RUN_VARIABLE;

/// A number that no run has.
const NO_RUN: u64 = 0;

/// A process has one set of children, so there is one table of who leads what. Held for microseconds.
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::adopt()));

/// One run, from before its leader starts until nobody of it is left.
pub(crate) struct Run {
    number: u64,
}

impl Run {
    /// Announces a run. Called before its leader starts, so that a leader is never taken for an orphan.
    pub(crate) fn begin() -> Run {
        let mut table = table();
        let number = table.next;
        table.next += 1;
        table.live.insert(number, Live { begun: now(), leader: None, done: false });
        Run { number }
    }

    /// The variable that marks the processes of this run: the mark of the run around us, if there is one, and ours.
    pub(crate) fn mark(&self, env: &[(OsString, OsString)]) -> Option<(&'static str, OsString)> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let mut mark = match env.iter().find(|(name, _)| name == RUN_VARIABLE) {
            Some((_, outer)) => {
                let mut outer = outer.clone();
                outer.push("/");
                outer
            }
            None => OsString::new(),
        };
        mark.push(format!("{}.{}", table().nonce, self.number));
        Some((RUN_VARIABLE, mark))
    }

    /// Names the leader.
    pub(crate) fn led_by(&self, leader: Pid) {
        if let Some(live) = table().live.get_mut(&self.number) {
            live.leader = Some(leader);
        }
    }

    /// Kills and reaps whoever the run left behind, as far as that can be done now; true when nobody is left.
    ///
    /// Called once the leader is dead: then everyone of the run is our child or descends from one of the run that is.
    pub(crate) fn end_orphans(&self) -> bool {
        let mut table = table();
        let nobody_left = table.end_orphans(self.number);
        // With the table still locked: of two runs that end together the second one must not take the first for one that
        // may still own what neither of them could claim alone.
        if let Some(live) = table.live.get_mut(&self.number) {
            live.done = nobody_left;
        }
        nobody_left
    }

    /// Reaps the leader if it is dead. From then on nobody signals its group any more.
    pub(crate) fn reap(&self, leader: &mut Child) -> io::Result<Option<ExitStatus>> {
        let mut table = table();
        let status = leader.try_wait()?;
        if status.is_some()
            && let Some(live) = table.live.get_mut(&self.number)
        {
            live.leader = None;
        }
        Ok(status)
    }

    /// Whether nobody of the group lives but perhaps its leader. Those who left it were not asked to end.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_group_empty(leader: Pid) -> bool {
        !table().children().iter().any(|process| !process.dead && process.group == Some(leader))
    }

    /// Whether nobody of the group lives but perhaps its leader.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn is_group_empty(leader: Pid) -> bool {
        // A group of nothing but a zombie cannot be signalled here.
        rustix::process::test_kill_process_group(leader).is_err()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        table().live.remove(&self.number);
    }
}

/// Whether nothing is left of any run. With no run under way, whoever still is our child and came from one is ended.
pub(crate) fn is_settled() -> bool {
    let mut table = table();
    table.live.is_empty() && table.end_orphans(NO_RUN)
}

/// Kills every group that is under way, and whoever left one and can be told.
pub(crate) fn kill_everybody() {
    let mut table = table();
    for leader in table.live.values().filter_map(|live| live.leader) {
        kill_group(leader);
    }
    for live in table.live.values_mut() {
        live.done = true;
    }
    table.end_orphans(NO_RUN);
}

/// Kills a group by its unreaped leader, and the leader itself: it may have moved to another group.
pub(crate) fn kill_group(leader: Pid) {
    // The leader is there at least as a zombie; a failure means that there is nobody whom we may kill.
    let _ = kill_process_group(leader, Signal::KILL);
    let _ = kill_process(leader, Signal::KILL);
}

fn table() -> MutexGuard<'static, Table> {
    // The table is whole between any two statements, so a panic elsewhere does not spoil it.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who leads what, and by what our own are known.
struct Table {
    /// Stands in every mark of this process, so that another process' runs are not taken for ours.
    nonce: String,
    /// When we became the subreaper, in clock ticks since boot.
    since: u64,
    /// Our own process group.
    group: Pid,
    /// Whether we are init: then strangers become our children.
    is_init: bool,
    /// Whether `/proc` is there and speaks of our own pid namespace.
    sees_children: bool,
    next: u64,
    live: BTreeMap<u64, Live>,
    /// Killed and not yet reaped: a zombie has no environment and so no mark.
    doomed: HashSet<Pid>,
}

/// A run that is under way.
struct Live {
    /// In clock ticks since boot.
    begun: u64,
    /// Until it is reaped.
    leader: Option<Pid>,
    /// Whether nobody of it was left at its last look: it owns nobody any more.
    done: bool,
}

/// Whose a child of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// Left over from the run that is ending.
    Ours,
    /// Left over from a run that ended before.
    Past,
    /// Not to be touched now.
    Foreign,
}

/// What came of ending a process.
enum End {
    Reaped,
    Dying,
    /// It runs as somebody else.
    Untouchable,
}

/// What `/proc` says of a child of ours.
#[derive(Clone, Debug)]
struct Process {
    pid: Pid,
    group: Option<Pid>,
    /// When it started, in clock ticks since boot.
    started: u64,
    dead: bool,
    /// The number in its mark, if the mark is one of this process'.
    mark: Option<u64>,
}

impl Table {
    #[cfg(target_os = "linux")]
    fn adopt() -> Table {
        let pid = getpid();
        if let Err(error) = rustix::process::set_child_subreaper(Some(pid)) {
            tracing::warn!(%error, "cannot adopt orphans: a child that leaves its process group outlives its run");
        }
        let own = std::fs::read_link("/proc/self").ok();
        Table {
            nonce: format!("{:016x}", RandomState::new().hash_one(0_u8)),
            sees_children: own.is_some_and(|own| own.as_os_str() == pid.to_string().as_str()),
            ..Table::bare(pid)
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn adopt() -> Table {
        Table::bare(getpid())
    }

    fn bare(pid: Pid) -> Table {
        Table {
            nonce: String::new(),
            since: now(),
            group: getpgrp(),
            is_init: pid.is_init(),
            sees_children: false,
            next: 1,
            live: BTreeMap::new(),
            doomed: HashSet::new(),
        }
    }

    /// Kills and reaps what the claim of a run covers; true when nobody of it is left.
    fn end_orphans(&mut self, run: u64) -> bool {
        loop {
            let (mut waiting, mut reaped) = (false, false);
            for process in self.children() {
                match self.claim(&process, run) {
                    Claim::Foreign => {}
                    claim @ (Claim::Ours | Claim::Past) => match self.end(&process) {
                        End::Reaped => reaped = true,
                        End::Dying => waiting |= claim == Claim::Ours || run == NO_RUN,
                        End::Untouchable => {}
                    },
                }
            }
            // Whoever died has left its own children to us, after we looked.
            if !reaped {
                return !waiting;
            }
        }
    }

    /// Every child that leads no run.
    fn children(&self) -> Vec<Process> {
        if !self.sees_children {
            return Vec::new();
        }
        let leaders: HashSet<Pid> = self.live.values().filter_map(|live| live.leader).collect();
        let others = children().into_iter().filter(|pid| !leaders.contains(pid));
        others.filter_map(|pid| read(pid, &self.nonce)).collect()
    }

    fn claim(&self, process: &Process, ending: u64) -> Claim {
        let by_group = self.live.iter().find(|(_, live)| live.leader.is_some() && live.leader == process.group);
        match process.mark.or(by_group.map(|(number, _)| *number)) {
            Some(run) if run == ending => Claim::Ours,
            Some(run) if self.live.get(&run).is_some_and(|live| !live.done) => Claim::Foreign,
            Some(_) => Claim::Past,
            None if self.doomed.contains(&process.pid) => Claim::Ours,
            None if self.is_nobodys(process, ending) => Claim::Ours,
            None => Claim::Foreign,
        }
    }

    /// Whether an unmarked child was left behind by some run, and by none that is still under way.
    fn is_nobodys(&self, process: &Process, ending: u64) -> bool {
        let others = self.live.iter().filter(|(number, live)| **number != ending && !live.done);
        process.started >= self.since
            && process.group != Some(self.group)
            && (process.dead || !self.is_init)
            && others.into_iter().all(|(_, live)| process.started < live.begun)
    }

    fn end(&mut self, process: &Process) -> End {
        if !process.dead {
            // It is an unreaped child of ours, so its number cannot have become another's.
            match kill_process(process.pid, Signal::KILL) {
                Ok(()) => self.doomed.insert(process.pid),
                Err(error) => {
                    tracing::warn!(%error, pid = %process.pid, "cannot end a process that a run left behind");
                    return End::Untouchable;
                }
            };
        }
        match waitpid(Some(process.pid), WaitOptions::NOHANG) {
            Ok(None) => End::Dying,
            // Reaped now, or by somebody else.
            Ok(Some(_)) | Err(_) => {
                self.doomed.remove(&process.pid);
                End::Reaped
            }
        }
    }
}

/// The clock by which processes' starts are told.
#[cfg(target_os = "linux")]
fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let (seconds, nanoseconds) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    (seconds * 1_000_000_000 + nanoseconds) / tick.max(1)
}

#[cfg(not(target_os = "linux"))]
fn now() -> u64 {
    0
}

/// Our children. Orphans come to the first thread, so that only its list is read.
fn children() -> Vec<Pid> {
    let own = getpid();
    match std::fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(list) => list.split_ascii_whitespace().filter_map(pid).collect(),
        // A kernel without that list.
        Err(_) => children_by_parent(own),
    }
}

/// Our children of all threads, by asking every process for its parent.
fn children_by_parent(own: Pid) -> Vec<Pid> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str().and_then(pid));
    pids.filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == Some(own))).collect()
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

fn read(pid: Pid, nonce: &str) -> Option<Process> {
    let stat = stat(pid)?;
    // Not readable for a zombie, nor for one that runs as somebody else.
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    Some(Process { pid, group: stat.group, started: stat.started, dead: stat.dead, mark: mark(&environment, nonce) })
}

struct Stat {
    parent: Option<Pid>,
    group: Option<Pid>,
    started: u64,
    dead: bool,
}

fn stat(pid: Pid) -> Option<Stat> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The program's name stands in brackets and may hold anything, brackets included.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some(Stat {
        dead: matches!(*fields.first()?, "Z" | "X"),
        parent: pid(fields.get(1)?),
        group: pid(fields.get(2)?),
        started: fields.get(19)?.parse().ok()?,
    })
}

/// The number in the mark that carries `nonce`, wherever it stands in the chain of runs within runs.
fn mark(environment: &[u8], nonce: &str) -> Option<u64> {
    let marks = environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.strip_prefix(RUN_VARIABLE.as_bytes())?.strip_prefix(b"="));
    marks
        .filter_map(|value| std::str::from_utf8(value).ok())
        .flat_map(|value| value.split('/'))
        .find_map(|run| run.strip_prefix(nonce)?.strip_prefix('.')?.parse().ok())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn number(raw: i32) -> Pid {
        Pid::from_raw(raw).unwrap()
    }

    /// We are process 10 in group 10, adopted at 100; run 1 (led by 50) began at 100, run 2 (led by 60) at 200.
    fn two_runs() -> Table {
        let live = [
            (1, Live { begun: 100, leader: Some(number(50)), done: false }),
            (2, Live { begun: 200, leader: Some(number(60)), done: false }),
        ];
        Table {
            nonce: "n".to_owned(),
            since: 100,
            group: number(10),
            is_init: false,
            sees_children: true,
            next: 3,
            live: live.into(),
            doomed: HashSet::new(),
        }
    }

    fn orphan(group: i32, started: u64, mark: Option<u64>) -> Process {
        Process { pid: number(77), group: Some(number(group)), started, dead: false, mark }
    }

    #[test]
    fn a_marked_orphan_belongs_to_its_run_and_to_no_other() {
        let table = two_runs();
        assert_eq!(table.claim(&orphan(70, 300, Some(1)), 1), Claim::Ours);
        assert_eq!(table.claim(&orphan(70, 300, Some(2)), 1), Claim::Foreign);
        assert_eq!(table.claim(&orphan(70, 300, Some(0)), 1), Claim::Past);
    }

    #[test]
    fn an_unmarked_orphan_in_a_group_belongs_to_the_group_s_run() {
        let table = two_runs();
        assert_eq!(table.claim(&orphan(50, 300, None), 1), Claim::Ours);
        assert_eq!(table.claim(&orphan(60, 300, None), 1), Claim::Foreign);
    }

    #[test]
    fn an_unmarked_orphan_is_ended_once_no_other_run_can_have_started_it() {
        let mut table = two_runs();
        // Older than run 2, so it is not of run 2.
        assert_eq!(table.claim(&orphan(70, 199, None), 1), Claim::Ours);
        // May be of run 2.
        assert_eq!(table.claim(&orphan(70, 200, None), 1), Claim::Foreign);
        table.live.remove(&1);
        assert_eq!(table.claim(&orphan(70, 200, None), 2), Claim::Ours);
    }

    #[test]
    fn of_two_runs_that_end_together_the_last_one_ends_whom_neither_could_claim_alone() {
        let mut table = two_runs();
        assert_eq!(table.claim(&orphan(70, 300, None), 1), Claim::Foreign);
        // Run 1 has looked for the last time and is not taken off the table yet.
        table.live.get_mut(&1).unwrap().done = true;
        assert_eq!(table.claim(&orphan(70, 300, None), 2), Claim::Ours);
        assert_eq!(table.claim(&orphan(70, 300, Some(1)), 2), Claim::Past);
    }

    #[test]
    fn once_no_run_is_under_way_whoever_came_from_one_is_ended() {
        let mut table = two_runs();
        table.live.clear();
        assert_eq!(table.claim(&orphan(70, 300, None), NO_RUN), Claim::Ours);
        assert_eq!(table.claim(&orphan(70, 300, Some(2)), NO_RUN), Claim::Past);
        assert_eq!(table.claim(&orphan(70, 99, None), NO_RUN), Claim::Foreign, "older than our first run");
    }

    #[test]
    fn strangers_are_left_alone() {
        let mut table = two_runs();
        assert_eq!(table.claim(&orphan(10, 150, None), 1), Claim::Foreign, "started by us, not by a run");
        assert_eq!(table.claim(&orphan(70, 99, None), 1), Claim::Foreign, "older than our first run");
        table.is_init = true;
        assert_eq!(table.claim(&orphan(70, 150, None), 1), Claim::Foreign, "an init adopts strangers");
        let zombie = Process { dead: true, ..orphan(70, 150, None) };
        assert_eq!(table.claim(&zombie, 1), Claim::Ours, "and reaps them");
    }

    #[test]
    fn a_mark_is_found_within_marks_of_other_processes() {
        let environment = b"A=1\0GATELATCH_RUN=other.4/mine.7/inner.9\0B=mine.8\0";
        assert_eq!(mark(environment, "mine"), Some(7));
        assert_eq!(mark(environment, "inner"), Some(9));
        assert_eq!(mark(environment, "nobody"), None);
        assert_eq!(mark(b"", "mine"), None);
    }

    #[test]
    fn a_mark_carries_the_run_around_us() {
        let run = Run::begin();
        let outer = [(RUN_VARIABLE.into(), "outer.1".into())];
        let (_, inner) = run.mark(&outer).unwrap();
        let (_, alone) = run.mark(&[]).unwrap();
        assert_eq!(inner.to_str().unwrap(), format!("outer.1/{}", alone.to_str().unwrap()));
    }

    #[test]
    fn a_program_s_name_cannot_forge_its_group() {
        let stat = parse_stat("7 (a) Z 1 2 3) S 10 20 20 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0").unwrap();
        assert_eq!(
            (stat.parent, stat.group, stat.started, stat.dead),
            (Some(number(10)), Some(number(20)), 4242, false)
        );
    }

    #[test]
    fn the_clock_is_the_one_that_processes_are_dated_by() {
        let started = stat(getpid()).unwrap().started;
        let age = now() - started;
        assert!(age < 100 * 3600, "this test runs for {age} ticks already");
    }
}
