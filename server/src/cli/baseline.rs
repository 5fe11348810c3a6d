//! `speclens baseline`: stores the metrics of a ClawSpec target, and compares later runs with them.

mod capture;
mod compare;
mod store;

use std::{collections::BTreeMap, fmt::Write};

use anyhow::bail;
use clap::Subcommand;
use serde_json::json;
use speclens_runner::report::plain;
use speclens_schema::{dialect::clawspec::baselines::Baseline, words::plural};

use super::{
    FAILED, PASSED,
    output::{self, Format},
};
use store::{Store, contract_of, did_you_mean, table};

/// The options of `speclens baseline`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run the scenarios of a target several times and store their metrics
    Capture(capture::Args),
    /// Show the stored baseline of a target
    Show {
        /// Target: its directory, its path in the workspace, or its contract
        target: String,
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Compare the last recorded run of each scenario with the baseline, without running anything
    Compare(compare::Args),
    /// Remove the stored baseline of a target
    Reset {
        /// Target: its directory, its path in the workspace, or its contract
        target: String,
        /// Select a scenario by name (repeatable)
        #[arg(long = "scenario", value_name = "NAME")]
        scenarios: Vec<String>,
    },
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::Capture(args) => capture::perform(args),
        Action::Show { target, format } => show(target, *format),
        Action::Compare(args) => compare::perform(args),
        Action::Reset { target, scenarios } => reset(target, scenarios),
    }
}

fn show(target: &str, format: Format) -> anyhow::Result<u8> {
    let store = Store::beside(&contract_of(target)?)?;
    let baselines = &store.baselines.baselines;
    let text = match format {
        Format::Human if baselines.is_empty() => {
            format!("no baseline is stored; run `speclens baseline capture {target}` to store one\n")
        }
        Format::Human => human(baselines),
        Format::Json => output::json(&json!({ "speclens": 1, "path": store.name, "baselines": baselines }))?,
    };
    output::print(&text)?;
    Ok(if baselines.is_empty() { FAILED } else { PASSED })
}

fn reset(target: &str, scenarios: &[String]) -> anyhow::Result<u8> {
    let mut store = Store::beside(&contract_of(target)?)?;
    let stored = &mut store.baselines.baselines;
    let unknown = scenarios.iter().find(|name| !stored.contains_key(*name)).filter(|_| !stored.is_empty());
    if let Some(unknown) = unknown {
        let near = did_you_mean(unknown, stored.keys().map(String::as_str));
        output::print(&format!("no baseline of `{unknown}` is stored{near}\n"))?;
        return Ok(FAILED);
    }
    let before = stored.len();
    stored.retain(|name, _| !scenarios.is_empty() && !scenarios.contains(name));
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

fn human(baselines: &BTreeMap<String, Baseline>) -> String {
    let mut text = String::new();
    for (name, Baseline { captured_at, runs, metrics }) in baselines {
        let heading = format!("{name} ({runs} runs, {})", &**captured_at);
        let _ = writeln!(text, "{}", plain::line(&heading));
        text.push_str(&table(metrics));
    }
    text
}
