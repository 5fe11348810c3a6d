//! `speclens trust`: lets editors run the suites of a directory.

use std::path::PathBuf;

use super::{PASSED, output};

/// The options of `speclens trust`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory; everything below it is trusted too
    directory: PathBuf,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let trusted = crate::trust::trust(&args.directory)?;
    output::print(&format!("trusted: editors may run the suites in {}\n", trusted.display()))?;
    Ok(PASSED)
}
