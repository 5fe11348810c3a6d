//! `speclens recordings`: lists, shows and removes the recordings of tests.

mod inventory;
mod list;
mod prune;
mod show;
mod words;

use clap::Subcommand;

/// The options of `speclens recordings`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List recordings with their age, size and state
    List(list::Args),
    /// Show the recordings of a test, with secrets masked
    Show(show::Args),
    /// Remove recordings that exceed the limits of `speclens.yaml`, or those selected by options
    #[command(after_help = prune::AFTER_HELP)]
    Prune(prune::Args),
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::List(args) => list::perform(args),
        Action::Show(args) => show::perform(args),
        Action::Prune(args) => prune::perform(args),
    }
}
