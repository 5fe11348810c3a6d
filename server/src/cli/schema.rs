//! `speclens schema`: the JSON Schema of a kind of file, for other tools.

use anyhow::bail;
use speclens_runner::report::json;
use speclens_schema::json_schema::SpecFile;

use super::{PASSED, output};

/// The name of the schema of the JSON report.
const REPORT: &str = "report";

/// The options of `speclens schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Kind of file; if omitted, the kinds are listed
    kind: Option<String>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let text = match args.kind.as_deref() {
        None => kinds(),
        Some(REPORT) => json::SCHEMA.to_owned(),
        Some(kind) => match SpecFile::parse(kind) {
            Some(file) => file.schema_text(),
            None => bail!("unknown kind of file `{kind}`; the kinds are:\n{}", kinds().trim_end()),
        },
    };
    output::print(&text)?;
    Ok(PASSED)
}

fn kinds() -> String {
    let files = SpecFile::ALL.iter().map(|file| (file.as_str(), file.title()));
    let kinds = files.chain([(REPORT, "the JSON report of `run` and `check`")]);
    kinds.map(|(word, title)| format!("{word:<10} {title}\n")).collect()
}
