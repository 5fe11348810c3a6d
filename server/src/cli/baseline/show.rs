//! `speclens baseline show`: prints the stored baselines of a target.

use std::collections::BTreeMap;

use serde::Serialize;
use speclens_schema::dialect::clawspec::baselines::Baseline;

use super::contract::{Store, contract_of, human};
use crate::cli::{
    FAILED, PASSED,
    output::{self, Format},
};

/// The options of `speclens baseline show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Target: its directory, its path in the workspace, or its contract
    target: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Baselines in JSON.
#[derive(Serialize)]
pub(super) struct Stored<'s> {
    pub(super) speclens: u32,
    pub(super) path: &'s str,
    pub(super) baselines: &'s BTreeMap<String, Baseline>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let store = Store::beside(&contract_of(&args.target)?)?;
    let baselines = &store.baselines.baselines;
    let text = match args.format {
        Format::Human if baselines.is_empty() => {
            format!("no baseline is stored; run `speclens baseline capture {}` to store one\n", args.target)
        }
        Format::Human => human(baselines),
        Format::Json => output::json(&Stored { speclens: 1, path: &store.name, baselines })?,
    };
    output::print(&text)?;
    Ok(if baselines.is_empty() { FAILED } else { PASSED })
}
