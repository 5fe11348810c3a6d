//! `speclens init`: writes a commented starter suite, in one file or several.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use speclens_schema::format::{Dialect, Starter};

use super::{PASSED, output};

/// The options of `speclens init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Format of the suite
    #[arg(value_name = "FORMAT", value_parser = formats())]
    dialect: Starter,
}

fn formats() -> impl TypedValueParser<Value = Starter> {
    let known = || Dialect::all().filter_map(|dialect| Some((dialect, dialect.starter()?)));
    let value = |(dialect, starter): (Dialect, Starter)| {
        PossibleValue::new(dialect.as_str()).help(format!("{}: {}", dialect.program(), starter.docs))
    };
    PossibleValuesParser::new(known().map(value)).map(move |name| {
        let chosen = known().find(|(dialect, _)| dialect.as_str() == name);
        chosen.map(|(_, starter)| starter).expect("the value is one of the formats")
    })
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let files = args.dialect.files;
    // All of them or none: half a suite is useless.
    if let Some((path, _)) = files.iter().find(|(path, _)| Path::new(path).symlink_metadata().is_ok()) {
        bail!("`{path}` already exists, so nothing was written; move or rename it first");
    }
    for (path, text) in files {
        create(Path::new(path), text)?;
    }
    let written: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    output::print(&format!("wrote {}; try `speclens check` and `speclens run`\n", written.join(", ")))?;
    Ok(PASSED)
}

fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the directory `{}`", folder.display()))?;
    }
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("`{}` already exists and was not changed; move or rename it first", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write `{}`", path.display())),
    }
}
