//! Makes things happen and writes down what happened: the only crate with effects.
//!
//! ```text
//! Suite ── run ──▶ exec ──▶ Evidence ── masked, judged by `schema` ──▶ events ──▶ reports, editors
//!                              └──▶ recording, on disk beside the suite
//! ```
//!
//! [`run`] performs the cases of one suite and reports in one stream of [`event`]s, which feeds every
//! reporter, the language server and the progress bar. [`exec`] is where processes live.
//! [`observe`] looks for what claims need to know. [`recording`]
//! keeps the evidence, so that an edited claim is judged again without acting again. [`report`] turns
//! results into text and touches nothing.
//!
//! What it never does: decide what a spec means (`speclens-schema` does), or talk to people and editors
//! (the `speclens` crate does).

pub mod book;
pub mod clock;
mod encryption;
pub mod event;
pub mod exec;
pub mod files;
pub mod gateway;
pub mod model;
pub(crate) mod observe;
mod patience;
pub(crate) mod player;
pub mod recording;
pub mod report;
pub mod run;
pub mod trace;
pub(crate) mod watch;
