//! What an agent test spec may say, and what it means.
//!
//! ```text
//! text ── document ──▶ tree + faults   ── dialect ──▶ Suite { cases: Action, Claims } + problems
//!                                                       Claim × Evidence ── check ──▶ Verdicts
//! ```
//!
//! This crate is pure: it reads no file but through [`files::Files`], starts no process, knows no clock
//! and no network, and nothing in it can fail on account of its input. What it never does: talk to
//! editors (the `speclens` crate does), or make things happen (`speclens-runner` does).

pub mod analysis;
pub mod cure;
pub mod dialect;
pub mod directive;
mod edit;
pub mod faults;
pub mod files;
mod finding;
mod fixes;
pub mod gateway_script;
pub mod json_schema;
pub mod judge;
pub mod kind;
mod new_file;
pub(crate) mod pattern;
pub mod problem;
pub mod reference;
pub(crate) mod rules;
pub mod script;
pub mod settings;
pub mod shape;
mod spec_file;
mod spot;
pub mod suite;
pub mod template;
pub mod unparsed;
pub mod validate;
mod walk;
pub mod words;

pub use speclens_judge::{check, evidence, mask, trace, verdict};
pub use speclens_yaml as document;
