//! `speclens init`: a commented starter suite, in one file or in a few.

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
    /// Format of the suite
    #[arg(value_enum)]
    dialect: Dialect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// KindLM: `kindlm.yaml`
    Kindlm,
    /// cli-bench: `cli-bench.yaml`, a task file, and a scripted model
    CliBench,
    /// ClawSpec: `clawspec.yaml`, a skill with its contract, and a scripted gateway
    Clawspec,
}

impl Dialect {
    /// Returns the files of the starter suite: path and text.
    fn files(self) -> &'static [(&'static str, &'static str)] {
        macro_rules! files {
            ($($folder:literal / $path:literal),*) => {
                &[$(($path, include_str!(concat!("init/", $folder, "/", $path)))),*]
            };
        }
        match self {
            Dialect::Kindlm => files!("kindlm" / "kindlm.yaml"),
            Dialect::CliBench => files!(
                "cli-bench" / "cli-bench.yaml",
                "cli-bench" / "rehearsal.script.yaml",
                "cli-bench" / "tasks/basics.yaml"
            ),
            Dialect::Clawspec => files!(
                "clawspec" / "clawspec.yaml",
                "clawspec" / "speclens.yaml",
                "clawspec" / "rehearsal.gateway.yaml",
                "clawspec" / "openclaw-otel.json",
                "clawspec" / "skills/greeter/SKILL.md",
                "clawspec" / "skills/greeter/tests/scenarios.yaml"
            ),
        }
    }
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let files = args.dialect.files();
    // All of them or none: half a suite is of no use.
    if let Some((path, _)) = files.iter().find(|(path, _)| Path::new(path).symlink_metadata().is_ok()) {
        bail!("{path} already exists, so nothing was written: move it away first");
    }
    for (path, text) in files {
        create(Path::new(path), text)?;
    }
    let written: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    output::print(&format!("wrote {}; try `speclens check` and `speclens run`\n", written.join(", ")))?;
    Ok(PASSED)
}

/// Writes a file that does not exist yet.
fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the directory {}", folder.display()))?;
    }
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} already exists and was not changed: move it away first", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
    }
}
