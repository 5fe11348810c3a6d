//! ClawSpec: scenario, handoff and pipeline contracts of an OpenClaw workspace, its `clawspec.yaml`, its
//! coverage ledger and its baselines.
//!
//! What a contract may say stands in [`scenarios`], [`handoff`] and [`pipeline`]; [`assertion`] lists the types of
//! assertions, each of which is one Rust type below [`assertions`].

pub mod assertion;
pub mod assertions;
pub mod baselines;
pub mod claim;
pub mod config;
pub mod coverage;
pub mod drift;
pub mod gateway_log;
pub mod handoff;
pub mod ledger;
pub mod lint;
pub mod lower;
pub mod measures;
pub mod pipeline;
pub mod scenarios;
pub mod stages;
pub mod structure;
pub mod template;
pub mod trigger;

#[cfg(test)]
mod tests;
