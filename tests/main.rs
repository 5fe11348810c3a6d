//! Tests of the whole program: the real binary, real directories, real processes.
//!
//! Which tests there are, from the inside to the outside:
//!
//! | layer | what it tests | for example |
//! |---|---|---|
//! | beside the code | pure functions; for every claim, every way in which its evidence may be damaged | `schema/src/dialect/kindlm/claims/tests.rs` |
//! | `schema/tests/problems` | what an author sees for a mistake, one file and its output for each rule | `unknown-key.yaml` |
//! | `schema/tests` | fixes, cases recorded of the original tools, properties over all examples | `fixes.rs`, `kindlm_cases.rs` |
//! | `server/src/ide` | an editor feature on a text with a cursor | `hover/tests.rs` |
//! | `tests/*.rs` | the program at the command line, with models and gateways on this machine | `runs.rs` |
//! | `tests/lsp` | the language server over pipes | `running.rs` |
//! | `tests/editors`, `tests/gateway/*.mjs`, `tests/traces` | real editors, the OpenClaw gateway, SDKs of traces | `editors/neovim` |

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod accepting;
mod adding;
mod agents;
mod audit;
mod baselines;
mod cases;
mod checking;
#[cfg(unix)]
mod clawspec;
mod clawspec_gateway;
mod cli;
mod compat;
mod contracts;
mod coverage;
mod crashes;
mod diffing;
mod files_of_suites;
mod fixing;
mod gateway;
mod html;
mod import_gaps;
mod importing;
mod judges_again;
mod judging;
mod kinds;
mod loopback;
mod messages;
mod places_in_reports;
mod processes;
#[cfg(unix)]
mod programs;
mod prompts;
mod providers;
mod recorded;
mod recordings;
mod replay;
mod reports;
mod runs;
mod scanning;
mod secrets;
mod settings;
mod sharding;
mod support;
#[cfg(unix)]
mod tasks;
mod traces;
mod untrusted;
mod viewing;
mod writing;
