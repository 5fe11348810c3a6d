//! Parses test specs of LLM agents, validates them, and judges evidence against their claims.
//!
//! ```text
//! text ── document ──▶ tree + faults   ── dialect ──▶ Suite { cases: Action, Claims } + problems
//!                                                       Claim × Evidence ── check ──▶ Verdicts
//! ```
//!
//! This crate is pure: it reads files only through [`files::Files`], starts no process, uses neither the clock nor
//! the network, and never fails because of its input. It does not talk to editors (the `speclens` crate does) and
//! has no side effects (`speclens-runner` does).

pub mod analysis;
pub mod dialect;
pub mod directive;
mod edit;
pub mod faults;
pub mod files;
mod finding;
mod fixes;
pub mod fixing;
pub mod gateway_script;
pub mod json_schema;
pub mod judge;
pub mod kind;
mod lint_node;
pub mod names;
mod new_file;
pub(crate) mod pattern;
pub mod problem;
pub mod reference;
mod relations;
pub(crate) mod rules;
pub mod script;
pub mod settings;
pub mod shape;
mod spec_file;
pub mod suite;
pub mod template;
pub mod unparsed;
pub mod validate;
mod walk;
pub mod words;

pub use speclens_judge::{act, check, evidence, mask, seen, text, trace, verdict};
pub use speclens_yaml as document;
