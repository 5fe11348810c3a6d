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
//!
//! To add a field or an assertion, edit its type in `dialect/`: the schema, validation, completion, hover and the
//! reference are derived from it, and a test rewrites the generated files. Declare at the field what its value means (a
//! pattern, a path that must exist, a text with variables, a lower bound) and which other names people use for it:
//! [`words`] lists the keywords, and `walk` applies the rules for these meanings in all formats.
//!
//! To add a ClawSpec assertion, write its type with its judgement in a file of `dialect/clawspec/assertions/`, and give it a
//! row in `dialect/clawspec/assertion.rs`.
//!
//! To add a format, create its folder in `dialect/`: the implementation of [`format::Format`] (name, rules, lowering), and a
//! row for each kind of file (name, title, usual file names, how the content is recognized, where the cases are, schema).
//! Then list the rows in `SpecFile::ALL`. `server/src/ide/tests/fourth_format.rs` does this for a small made-up format.
//!
//! To add a rule, write its file with the check, messages and fixes in `rules/` (all formats; one about a value alone is a row
//! of `OF_VALUES` in `walk.rs`) or in `dialect/*/rules/` (one format; called in the `rules.rs` above it), and a golden file
//! in `schema/tests/problems`. A new kind of problem is a row of `code.rs` and a page in `codes/`. `tests/adding.rs` adds an
//! assertion and a rule.

pub mod accept;
pub mod analysis;
pub mod audit;
mod code;
mod declared;
pub mod dialect;
pub mod directive;
mod edit;
pub mod faults;
pub mod files;
pub mod finding;
mod fixes;
pub mod fixing;
pub mod format;
pub mod gates;
pub mod gateway;
pub mod gateway_script;
pub(crate) mod idle;
pub mod import;
pub mod json_schema;
pub mod judge;
pub mod key_path;
pub mod kind;
mod lenient;
mod lint_node;
pub mod loosen;
pub mod names;
mod new_file;
pub mod observed;
pub(crate) mod pattern;
pub mod problem;
pub mod proposal;
pub mod quoting;
pub mod reference;
pub mod relations;
pub(crate) mod rules;
pub mod script;
pub mod settings;
pub mod shape;
pub(crate) mod shell;
mod spec_file;
pub mod suite;
pub mod template;
pub mod template_syntax;
pub mod unparsed;
pub mod validate;
mod walk;
pub mod words;
pub mod write;

pub use speclens_judge::{acceptable, act, check, evidence, mask, seen, text, trace, verdict};
pub use speclens_yaml as document;
