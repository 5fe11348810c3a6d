//! `--deny`, `--warn` and `--allow`: severities for one invocation, which override `speclens.yaml`.

use anyhow::ensure;
use speclens_schema::{
    problem::{Code, Problem, Severity},
    settings::{Level, Settings},
    words,
};

const WARNINGS: &str = "warnings";

/// The options.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct LevelArgs {
    /// Treat problems with this code as errors; `warnings` means all warnings (repeatable)
    #[arg(long, value_name = "CODE|warnings", value_delimiter = ',', value_parser = denied)]
    deny: Vec<Denied>,
    /// Treat problems with this code as warnings (repeatable)
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    warn: Vec<Code>,
    /// Do not report problems with this code (repeatable)
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    allow: Vec<Code>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    Code(Code),
    Warnings,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    levels: Vec<(Code, Level)>,
    deny_warnings: bool,
}

fn denied(word: &str) -> Result<Denied, String> {
    if word == WARNINGS { Ok(Denied::Warnings) } else { code(word).map(Denied::Code) }
}

fn code(word: &str) -> Result<Code, String> {
    Code::parse(word).ok_or_else(|| {
        let names = Code::ALL.iter().map(|code| code.as_str());
        match words::nearest(word, names.chain([WARNINGS])) {
            Some(near) => format!("unknown code; did you mean `{near}`?"),
            None => "unknown code; use one of the codes that `speclens explain` lists".to_owned(),
        }
    })
}

impl LevelArgs {
    /// Returns the resulting levels; an error if the options contradict each other.
    pub(super) fn levels(&self) -> anyhow::Result<Levels> {
        let denied = self.deny.iter().filter_map(|denied| match denied {
            Denied::Code(code) => Some((*code, Level::Error)),
            Denied::Warnings => None,
        });
        let warned = self.warn.iter().map(|code| (*code, Level::Warning));
        let allowed = self.allow.iter().map(|code| (*code, Level::Off));
        let levels: Vec<(Code, Level)> = denied.chain(warned).chain(allowed).collect();
        for (code, level) in &levels {
            let name = code.as_str();
            ensure!(
                levels.iter().all(|(other, there)| other != code || there == level),
                "`{name}` is given to more than one of `--deny`, `--warn` and `--allow`; keep one"
            );
            ensure!(
                *level == Level::Error || !code.is_always_an_error(),
                "the severity of `{name}` cannot be changed, because speclens cannot check text that it cannot read"
            );
        }
        Ok(Levels { levels, deny_warnings: self.deny.contains(&Denied::Warnings) })
    }
}

impl Levels {
    pub(super) fn adjust(&self, settings: &mut Settings) {
        settings.severity.extend(self.levels.iter().map(|(code, level)| (code.as_str().to_owned(), *level)));
    }

    /// Turns warnings into errors where the options ask for it.
    pub(super) fn deny(&self, problems: &mut [Problem]) {
        for problem in problems.iter_mut().filter(|problem| problem.severity == Severity::Warning) {
            if self.deny_warnings {
                problem.severity = Severity::Error;
            }
        }
    }
}
