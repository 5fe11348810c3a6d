//! `speclens init`: writes a commented starter suite.

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use speclens_schema::format::{Dialect, Starter};

use super::{PASSED, output};
use crate::new_suite::{starters, write};

/// The options of `speclens init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Format of the suite
    #[arg(value_name = "FORMAT", value_parser = formats())]
    dialect: Starter,
}

fn formats() -> impl TypedValueParser<Value = Starter> {
    let value = |(dialect, starter): (Dialect, Starter)| {
        PossibleValue::new(dialect.as_str()).help(format!("{}: {}", dialect.program(), starter.docs))
    };
    PossibleValuesParser::new(starters().map(value)).map(move |name| {
        let chosen = starters().find(|(dialect, _)| dialect.as_str() == name);
        chosen.map(|(_, starter)| starter).expect("the value is one of the formats")
    })
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let paths = write(Path::new(""), args.dialect)?;
    let written: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    output::print(&format!("wrote {}; try `speclens check` and `speclens run`\n", written.join(", ")))?;
    Ok(PASSED)
}
