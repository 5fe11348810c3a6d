//! `speclens baseline reset`: removes the stored baselines of a target.

use anyhow::bail;
use speclens_schema::words::{nearest, plural};

use super::contract::{Store, contract_of};
use crate::cli::{FAILED, PASSED, output};

/// The options of `speclens baseline reset`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Target: its directory, its path in the workspace, or its contract
    target: String,
    /// Select a scenario by name (repeatable)
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let mut store = Store::beside(&contract_of(&args.target)?)?;
    let stored = &mut store.baselines.baselines;
    if let Some(unknown) = args.scenarios.iter().find(|name| !stored.contains_key(*name)) {
        if stored.is_empty() {
            output::print("no baseline is stored\n")?;
            return Ok(FAILED);
        }
        let near = nearest(unknown, stored.keys().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        output::print(&format!("no baseline of `{unknown}` is stored{near}\n"))?;
        return Ok(FAILED);
    }
    let before = stored.len();
    stored.retain(|name, _| !args.scenarios.is_empty() && !args.scenarios.contains(name));
    let removed = before - stored.len();
    if !store.exists || removed == 0 {
        output::print("no baseline is stored\n")?;
        return Ok(FAILED);
    }
    if let Err(error) = store.write() {
        bail!("{error:#}; nothing was removed");
    }
    output::print(&format!("removed {} from {}\n", plural(removed, "baseline"), store.name))?;
    Ok(PASSED)
}
