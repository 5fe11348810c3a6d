//! The command line: one file per subcommand. It does not interpret specs itself.

mod audit;
mod baseline;
mod check;
mod completions;
mod coverage;
mod diff;
mod discover;
mod exit_code;
mod explain;
mod fix;
mod import;
mod init;
mod levels;
mod list;
pub(crate) mod load;
mod merge;
mod output;
mod passing;
mod recordings;
mod run;
mod schema;
mod select;
mod shard;
mod trace;
mod trust;
mod view;
mod write;

use std::{io, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand};
#[cfg(unix)]
use speclens_runner::exec::program::shell;
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt,
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::{lsp::End, threads};

pub(crate) use exit_code::{FAILED, INCONCLUSIVE, INTERRUPTED, INVALID, PASSED};

/// Environment variable with the log level: `error`, `warn`, `info`, `debug` or `trace`.
const LOG_VARIABLE: &str = "SPECLENS_LOG";

/// Checks and runs agent test specs in YAML, in the terminal and in the editor.
#[derive(Debug, Parser)]
#[command(name = "speclens", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Without a path, speclens searches the current directory for suites of all formats.

Exit status: 0 passed; 1 an assertion or gate failed; 2 a suite or the command line is invalid;
3 a run ended with an error, or a result is unknown; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Report problems in suites without running anything
    Check(check::Args),
    /// Run suites, or evaluate their recordings
    Run(run::Args),
    /// Damage recorded runs one fault at a time, and report the faults that no assertion notices
    Audit(audit::Args),
    /// Compare the recorded runs of two models, or of two directories with the same suites
    Diff(diff::Args),
    /// Copy the recordings of other copies of the directory, such as the shards of a run
    Merge(merge::Args),
    /// Show recorded runs in a browser, in a page that follows the files and the recordings
    View(view::Args),
    /// Write assertions for a test from its recorded runs
    Write(write::Args),
    /// Make recordings of other programs those of a test, or a new suite with assertions
    Import(import::Args),
    /// Evaluate suites against a stored trace, or against one that a running system sends
    Trace(trace::Args),
    /// List suites and their tests
    List(list::Args),
    /// List, show or remove recordings
    Recordings(recordings::Args),
    /// Store the metrics of a ClawSpec target as a baseline, or compare runs with it
    Baseline(baseline::Args),
    /// List what the targets of a ClawSpec coverage ledger lack: the target itself, its contracts, a negative scenario
    Coverage(coverage::Args),
    /// Explain a topic of the manual, a field, an assertion type, a kind of problem, a result or a template variable
    Explain(explain::Args),
    /// Print the JSON Schema of a kind of file
    Schema(schema::Args),
    /// Write a starter suite
    Init(init::Args),
    /// Allow editors to run the suites in a directory
    Trust(trust::Args),
    /// Print the script that completes the words of the command line in a shell
    Completions(completions::Args),
    /// Start the language server on standard input and output, for editors
    Lsp,
}

pub fn main() -> ExitCode {
    close_environment();
    #[cfg(unix)]
    if let Some(code) = recording_shell() {
        return code;
    }
    threads::limit_address_space();
    let command = command();
    start_log(matches!(command, Command::Lsp));
    let work = move || match perform(command) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&error);
            exit_code::of_error(&error)
        }
    };
    let code = match threads::start("main", work) {
        Ok(thread) => thread.join().unwrap_or(INCONCLUSIVE),
        Err(error) => {
            output::complain(&error);
            INCONCLUSIVE
        }
    };
    ExitCode::from(code)
}

/// Denies other processes of the user, such as the commands of an agent, the environment and the memory of this one.
/// If the system cannot do that, the program runs anyway.
fn close_environment() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Returns the definition of the command line, from which completions and manual pages are made.
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// Returns the subcommand. Editors wait for the server to start, and describing all options to the parser takes longer than
/// most of the rest.
fn command() -> Command {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(only), None) if only == "lsp" => Command::Lsp,
        _ => Cli::parse().command,
    }
}

/// Acts as the shell of an agent program if this process was started as such; users never type this.
#[cfg(unix)]
fn recording_shell() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let is_shell = arguments.next().is_some_and(|word| word == shell::SUBCOMMAND);
    let status = is_shell.then(|| shell::run(&arguments.collect::<Vec<_>>()))?;
    Some(ExitCode::from(u8::try_from(status & 0xff).unwrap_or(INCONCLUSIVE)))
}

fn perform(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Check(args) => check::perform(&args),
        Command::Run(args) => run::perform(&args),
        Command::Audit(args) => audit::perform(&args),
        Command::Diff(args) => diff::perform(&args),
        Command::Merge(args) => merge::perform(&args),
        Command::View(args) => view::perform(&args),
        Command::Write(args) => write::perform(&args),
        Command::Import(args) => import::perform(&args),
        Command::Trace(args) => trace::perform(&args),
        Command::List(args) => list::perform(&args),
        Command::Recordings(args) => recordings::perform(&args),
        Command::Baseline(args) => baseline::perform(&args),
        Command::Coverage(args) => coverage::perform(&args),
        Command::Explain(args) => explain::perform(&args),
        Command::Schema(args) => schema::perform(&args),
        Command::Init(args) => init::perform(&args),
        Command::Trust(args) => trust::perform(&args),
        Command::Completions(args) => completions::perform(&args, command_line()),
        Command::Lsp => crate::lsp::serve().map(|end| match end {
            End::Client => PASSED,
            End::Signal => INTERRUPTED,
        }),
    }
}

/// Starts logging to standard error: standard output belongs to results and to the editor. `is_server`: its readers
/// are editors, which keep a log. At a terminal, a person reads it.
fn start_log(is_server: bool) {
    let level: Option<LevelFilter> = std::env::var(LOG_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    let is_log = is_server || level.is_some();
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    let log = is_log.then_some(lines);
    let sentences = (!is_log).then(|| fmt::layer().with_writer(io::stderr).event_format(Sentence));
    let registry = tracing_subscriber::registry().with(log).with(sentences);
    registry.with(logged(level.unwrap_or(LevelFilter::WARN))).init();
}

/// Writes an event as other messages of the program: `warning: …`, without time and place.
struct Sentence;

impl<S, N> fmt::FormatEvent<S, N> for Sentence
where
    S: tracing::Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> fmt::FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &fmt::FmtContext<'_, S, N>,
        mut writer: fmt::format::Writer<'_>,
        event: &tracing::Event<'_>,
    ) -> std::fmt::Result {
        let level = if *event.metadata().level() == tracing::Level::ERROR { "error" } else { "warning" };
        write!(writer, "{level}: ")?;
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Returns which targets are logged. Answers of models are evidence, which is masked; the library that reads them would
/// log them unmasked.
fn logged(level: LevelFilter) -> Targets {
    Targets::new().with_default(level).with_target("genai", LevelFilter::OFF)
}

#[cfg(test)]
mod tests {
    #[test]
    fn answers_of_models_reach_no_log() {
        let logged = super::logged(super::LevelFilter::TRACE);
        assert!(!logged.would_enable("genai::webc::web_client", &tracing::Level::ERROR));
        assert!(logged.would_enable("speclens", &tracing::Level::TRACE));
    }

    #[test]
    fn the_command_line_is_sound() {
        super::command_line().debug_assert();
    }
}
