//! Standard output and standard error.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::ValueEnum;
use speclens_runner::report::plain;

const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// The columns of what is not shown on a terminal.
pub(super) const PAGE_COLUMNS: usize = 100;

/// How a command prints a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text
    Human,
    /// JSON
    Json,
}

/// Returns how many columns standard output has: as `COLUMNS` says, else the terminal.
pub(super) fn columns() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let of_terminal = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    named.or_else(of_terminal).filter(|columns| *columns > 0).unwrap_or(PAGE_COLUMNS)
}

/// Prints a result. Colours reach terminals only, and `NO_COLOR` keeps them away from those too. A reader
/// that has gone away is not an error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    finish(anstream::stdout().lock(), text)
}

fn finish(mut stdout: impl Write, text: &str) -> anyhow::Result<()> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write the result"),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a result for programs, which has no colours. It may be long.
pub(super) fn print_plain(text: &str) -> anyhow::Result<()> {
    finish(io::stdout().lock(), text)
}

/// Writes a result to a file, without colours.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let plain = anstream::adapter::strip_str(text).to_string();
    fs::write(path, plain).with_context(|| format!("cannot write {}", path.display()))
}

/// Says what could not be done, and why.
pub(super) fn complain(error: &anyhow::Error) {
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {}", plain::block(&format!("{error:#}")));
}

/// Says something that changes no result.
pub(super) fn remark(message: &str) {
    let _ = writeln!(anstream::stderr(), "{CYAN}note{CYAN:#}: {}", plain::block(message));
}
