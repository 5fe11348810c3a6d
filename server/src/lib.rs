//! The `speclens` program: speaks LSP to editors and text to terminals.
//!
//! ```text
//! main ──▶ cli/  one file per subcommand          lsp/  the language server
//!              ╲                                  ╱
//!               ╲── scope, workspace, trust ────╱──▶ ide/  pure: document → what an editor shows
//!                          index, results ──────╱   what the files of the workspace say about names, and the evidence store about tests
//! ```
//!
//! `lsp` is the only module that uses LSP types; `ide` uses neither them nor the disk. `speclens-schema` decides what
//! is valid, and `speclens-runner` runs tests. Both front ends call the same functions, so the editor and the command
//! line agree.

mod accept;
mod clawspec;
mod cli;
mod dry;
mod ide;
mod index;
mod job;
mod lsp;
mod new_suite;
mod processes;
mod read;
mod results;
mod scope;
mod threads;
mod trust;
mod workspace;

pub use cli::{command_line, main};
