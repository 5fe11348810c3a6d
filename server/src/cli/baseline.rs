//! `speclens baseline`: stores the metrics of a ClawSpec target, and compares later runs with them.

mod capture;
mod compare;
mod contract;
mod reset;
mod show;

use clap::Subcommand;

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
    Show(show::Args),
    /// Compare the last recorded run of each scenario with the baseline, without running anything
    Compare(compare::Args),
    /// Remove the stored baseline of a target
    Reset(reset::Args),
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::Capture(args) => capture::perform(args),
        Action::Show(args) => show::perform(args),
        Action::Compare(args) => compare::perform(args),
        Action::Reset(args) => reset::perform(args),
    }
}
