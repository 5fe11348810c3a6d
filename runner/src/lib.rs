//! Performs runs and records them: the only crate with effects.
//!
//! ```text
//! Suite ── run ──▶ exec ──▶ Evidence ── masked, judged by `schema` ──▶ events ──▶ reports, editors
//!                              └──▶ recording, on disk beside the suite
//! ```
//!
//! [`run`] performs the cases of one suite and reports them as one stream of [`event`]s, which feeds every reporter,
//! the language server and the progress bar. [`exec`] owns the processes. [`observe`] collects the facts that claims
//! need. [`recording`] stores the evidence, so an edited claim is judged again without acting again. [`report`] turns
//! results into text and touches nothing. [`live_page`] serves such a text to browsers on this machine.
//!
//! It never decides what a spec means (`speclens-schema` does), and never talks to users or editors (the `speclens`
//! crate does).

pub mod clock;
pub mod event;
pub mod evidence_store;
pub mod exec;
pub mod files;
pub mod gateway;
mod http;
mod job;
pub mod live_page;
mod lock;
pub mod model;
pub(crate) mod observe;
pub mod recording;
pub mod report;
pub mod run;
pub(crate) mod scripted_gateway;
pub mod trace;
pub(crate) mod watch;
pub mod write;
