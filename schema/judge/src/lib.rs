//! Evidence and its judgment.
//!
//! ```text
//! received spans ── trace ──▶ Evidence ── mask ──▶ Act × Check (predicates: check; gaps: seen, text) ──▶ Verdicts
//! ```
//!
//! This crate knows no format: each format defines its claims, and only their predicates are here. It is pure: no file,
//! no process, no clock, no network.

pub mod acceptable;
pub mod act;
pub mod check;
mod codes;
pub mod evidence;
pub mod mask;
pub mod seen;
pub mod text;
pub mod trace;
pub mod verdict;
