//! `speclens baseline`: stores what a run measured, and compares later runs with it: the outputs of a KindLM suite, or the
//! metrics of a ClawSpec target.

mod capture;
mod compare;
mod store;
mod suite;

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
pub(super) use store::prepare;
use store::{Store, contract_of, did_you_mean, table};

/// The options of `speclens baseline`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run a KindLM suite and store its outputs; or run the scenarios of a ClawSpec target several times and store their
    /// metrics
    #[command(alias = "capture")]
    Set(capture::Args),
    /// Show the stored baseline
    Show {
        /// KindLM suite or its directory; or a ClawSpec target: its directory, its path in the workspace, or its contract
        #[arg(default_value = ".")]
        target: String,
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Compare the last recorded runs with the baseline, without running anything
    Compare(compare::Args),
    /// List the stored baselines of a KindLM suite
    List {
        /// KindLM suite or its directory
        #[arg(default_value = ".")]
        target: String,
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Remove the stored baseline
    Reset {
        /// KindLM suite or its directory; or a ClawSpec target: its directory, its path in the workspace, or its contract
        target: String,
        /// Select a test or scenario by name (repeatable)
        #[arg(long = "test", alias = "scenario", value_name = "NAME")]
        scenarios: Vec<String>,
    },
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::Set(args) => match suite::suite_at(&args.target)? {
            Some(loaded) => suite::set(&loaded, &args.scenarios, args.runs, args.force, args.format),
            None => capture::perform(args),
        },
        Action::Show { target, format } => match suite::suite_at(target)? {
            Some(loaded) => suite::show(&loaded, *format),
            None => show(target, *format),
        },
        Action::Compare(args) => match suite::suite_at(&args.target)? {
            Some(loaded) => suite::compare(&loaded, &args.scenarios, args.run, args.format),
            None => compare::perform(args),
        },
        Action::List { target, format } => match suite::suite_at(target)? {
            Some(loaded) => suite::list(&loaded, *format),
            None => show(target, *format),
        },
        Action::Reset { target, scenarios } => match suite::suite_at(target)? {
            Some(loaded) => suite::reset(&loaded, scenarios),
            None => reset(target, scenarios),
        },
    }
}

fn show(target: &str, format: Format) -> anyhow::Result<u8> {
    let store = Store::beside(&contract_of(target)?)?;
    let baselines = &store.baselines.baselines;
    let text = match format {
        Format::Human if baselines.is_empty() => {
            format!("no baseline is stored; run `speclens baseline set {target}` to store one\n")
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
