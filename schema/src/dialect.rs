//! The supported formats. Each has a folder with everything that is specific to it, behind [`crate::format::Format`].

pub mod clawspec;
pub mod cli_bench;
pub mod kindlm;
