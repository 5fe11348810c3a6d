//! The gateway that runs the targets of a workspace: its settings, the requests that start a target, and its log.

pub mod config;
pub mod log;
pub mod params;
mod python_json;
pub mod trigger;
pub mod workspace;
