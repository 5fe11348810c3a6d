//! `speclens trust`: allows editors to run the suites of a directory, lists trusted directories, and revokes trust.

use std::path::PathBuf;

use super::{PASSED, output};

/// The options of `speclens trust`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Directory to trust, with everything in it
    #[arg(required_unless_present_any = ["list", "remove"])]
    directory: Option<PathBuf>,
    /// List trusted directories
    #[arg(long, conflicts_with_all = ["directory", "remove"])]
    list: bool,
    /// Stop trusting this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "directory")]
    remove: Option<PathBuf>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let text = match (&args.directory, &args.remove) {
        (Some(directory), _) => {
            let trusted = crate::trust::trust(directory)?;
            format!(
                "editors may now run the suites in {}; VS Code asks with its own workspace trust\n",
                trusted.display()
            )
        }
        (None, Some(directory)) => {
            let removed = crate::trust::remove(directory)?;
            format!("editors will ask again before they run the suites in {}\n", removed.display())
        }
        (None, None) => {
            let trusted = crate::trust::list()?;
            if trusted.is_empty() {
                output::note("no directory is trusted; `speclens trust DIRECTORY` trusts one");
            }
            trusted.iter().map(|directory| format!("{}\n", directory.display())).collect()
        }
    };
    output::print(&text)?;
    Ok(PASSED)
}
