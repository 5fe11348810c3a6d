//! The `speclens` program: speaks LSP to editors and text to terminals.
//!
//! ```text
//! main ──▶ cli/  one file per subcommand          lsp/  the language server
//!              ╲                                  ╱
//!               ╲── scope, workspace, trust ────╱──▶ ide/  pure: document → what an editor shows
//!                          index, results ──────╱   what the files of the workspace say about names, and the book about tests
//! ```
//!
//! `lsp` is the only place that knows LSP's types; `ide` knows neither them nor the disk. What is right or
//! wrong is decided in `speclens-schema`, what happens in `speclens-runner`: both fronts call the same
//! functions, so the editor shows what the command line says.

pub mod buffers;
pub mod clawspec_reports;
pub mod cli;
pub mod dry;
pub mod ide;
pub mod index;
pub mod job;
pub mod lsp;
pub mod read;
pub mod results;
pub mod scope;
mod signals;
mod threads;
pub mod trust;
pub mod workspace;
mod write;
