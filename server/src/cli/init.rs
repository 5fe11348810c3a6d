//! `speclens init`: a commented starter suite.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::{PASSED, output};

/// The options of `speclens init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The format of the suite
    #[arg(value_enum)]
    dialect: Dialect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// KindLM: kindlm.yaml
    Kindlm,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let (name, text) = match args.dialect {
        Dialect::Kindlm => ("kindlm.yaml", include_str!("init/kindlm.yaml")),
    };
    create(Path::new(name), text)?;
    output::print(&format!("wrote {name}: try `speclens check` and `speclens run`\n"))?;
    Ok(PASSED)
}

/// Writes a file that does not exist yet.
fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists already and stays as it is; move it away first", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
    }
}
