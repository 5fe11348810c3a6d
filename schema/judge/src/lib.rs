//! Evidence and its judgment.
//!
//! ```text
//! received spans ── trace ──▶ Evidence ── mask ──▶ Evidence × Check (predicates: check) ──▶ Verdicts
//! ```
//!
//! This crate knows no format: each format defines its claims, and only their predicates are here. It is pure: no file,
//! no process, no clock, no network.

pub mod check;
mod codes;
pub mod evidence;
pub mod mask;
pub mod trace;
pub mod verdict;
