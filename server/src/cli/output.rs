//! Standard output, standard error and exit codes.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use speclens_runner::report::plain;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// The width of output that is not shown on a terminal.
pub(super) const PAGE_COLUMNS: usize = 100;

/// Output formats of lists, baselines and the coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
}

/// Returns the width of standard output: `COLUMNS` if set, else that of the terminal.
pub(super) fn columns() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let of_terminal = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    named.or_else(of_terminal).filter(|columns| *columns > 0).unwrap_or(PAGE_COLUMNS)
}

pub(super) fn json(result: &impl Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(result)?;
    text.push('\n');
    Ok(text)
}

/// Prints a result. Colors are printed to terminals only, and not if `NO_COLOR` is set. A reader
/// that has closed the pipe is not an error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    // JSON is for programs.
    let is_json = text.starts_with(['{', '[']);
    finish(anstream::stdout().lock(), &if is_json { text.to_owned() } else { plain::without_commands(text) })
}

/// Prints a text to standard error, because standard output belongs to a report.
pub(super) fn print_aside(text: &str) -> anyhow::Result<()> {
    finish(anstream::stderr().lock(), &plain::without_commands(text))
}

fn finish(mut stdout: impl Write, text: &str) -> anyhow::Result<()> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write the result"),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a result for programs, without colors. It may be long.
pub(super) fn print_plain(text: &str) -> anyhow::Result<()> {
    finish(io::stdout().lock(), text)
}

pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let plain = anstream::adapter::strip_str(text).to_string();
    fs::write(path, plain).with_context(|| format!("cannot write `{}`", path.display()))
}

pub(super) fn complain(error: &anyhow::Error) {
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {}", line_of(&format!("{error:#}")));
}

pub(super) fn warn(message: &str) {
    let _ = writeln!(anstream::stderr(), "{YELLOW}warning{YELLOW:#}: {}", line_of(message));
}

pub(super) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{CYAN}note{CYAN:#}: {}", line_of(message));
}

fn line_of(message: &str) -> String {
    plain::without_commands(&plain::block(message))
}
