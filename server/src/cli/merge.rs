//! `speclens merge`: recordings that were made in other copies of the directory become those of this one.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::ensure;
use speclens_runner::recording::merge::{directories, merge};
use speclens_schema::words::plural;

use super::{INVALID, PASSED, load, output};
use crate::workspace::{self, Reach};

/// The options of `speclens merge`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Copies of the directory with recordings, such as the artifacts of the shards of a run
    #[arg(required = true, value_name = "DIR")]
    from: Vec<PathBuf>,
    /// Directory with the same suites that gets the recordings
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let mut of_directory: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for from in &args.from {
        ensure!(from.is_dir(), "`{}` is not a directory", from.display());
        let found = directories(from);
        ensure!(!found.is_empty(), "`{}` has no recordings; a run writes them to `.speclens`", from.display());
        for relative in found {
            of_directory.entry(relative.clone()).or_default().push(from.join(relative));
        }
    }
    let (mut copied, mut known, mut is_refused) = (0, 0, false);
    for (relative, from) in of_directory {
        let into = args.into.join(&relative);
        if !into.is_dir() {
            output::complain(&anyhow::anyhow!(
                "`{}` does not exist, so the recordings of `{}` were not copied",
                load::shown(&into),
                from.iter().map(|from| load::shown(from)).collect::<Vec<_>>().join("`, `"),
            ));
            is_refused = true;
            continue;
        }
        let merged = merge(&from, &into, limit(&into))?;
        for (path, reason) in &merged.refused {
            output::complain(&anyhow::anyhow!("`{}` was not copied: {reason}", load::shown(path)));
        }
        is_refused |= !merged.refused.is_empty();
        copied += merged.copied;
        known += merged.known;
    }
    let others = if known > 0 { format!("; {known} unchanged") } else { String::new() };
    let next = "evaluate them with `speclens run --recorded --strict`";
    output::print(&format!("copied {}{others}; {next}\n", plural(copied, "recording")))?;
    Ok(if is_refused { INVALID } else { PASSED })
}

/// Returns the maximum size of a recording in a directory, in bytes.
fn limit(directory: &Path) -> u64 {
    workspace::settings_for(&Reach::folder(directory.to_owned())).settings.limits.recording_bytes()
}
