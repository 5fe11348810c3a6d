//! Tests of the whole program: the real binary, real directories, real processes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod agents;
mod asking;
mod baselines;
mod cases;
mod checking;
#[cfg(unix)]
mod clawspec;
mod cli;
mod compat;
mod contracts;
mod coverage;
mod crashes;
mod fixing;
mod gateway;
mod judging;
mod kinds;
mod loopback;
mod messages;
mod places;
mod processes;
#[cfg(unix)]
mod programs;
mod reach;
mod recorded;
mod recordings;
mod replay;
mod reports;
mod runs;
mod scanning;
mod scored;
mod secrets;
mod settings;
mod support;
#[cfg(unix)]
mod tasks;
mod traces;
mod untrusted;
