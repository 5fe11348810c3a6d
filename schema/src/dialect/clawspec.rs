//! ClawSpec: scenario, handoff and pipeline contracts of an OpenClaw workspace, its `clawspec.yaml`, its
//! coverage ledger and its baselines.

pub mod baselines;
pub mod config;
pub mod handoff;
pub mod ledger;
pub mod lint;
pub mod lower;
pub mod pipeline;
pub mod scenarios;
