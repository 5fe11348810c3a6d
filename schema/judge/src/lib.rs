//! Evidence, and what can be said about it.
//!
//! ```text
//! what was received ── trace ──▶ Evidence ── mask ──▶ Evidence × Check (predicates: check) ──▶ Verdicts
//! ```
//!
//! This crate knows no format: the claims of each are theirs, and only their predicates are here. It is pure: no file, no
//! process, no clock, no network.

pub mod check;
pub mod evidence;
pub mod mask;
pub mod trace;
pub mod verdict;
