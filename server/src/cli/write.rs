//! `speclens write`: writes assertions for a test from its recorded runs.

use std::{path::PathBuf, sync::Arc};

use anyhow::{anyhow, bail, ensure};
use speclens_schema::{
    audit::Tally,
    fixing,
    words::{nearest, plural},
    write::{Written, write},
};

use super::{
    INVALID, PASSED,
    discover::Wanted,
    fix,
    levels::Levels,
    load::{self, Loaded},
    output,
    passing::{of_passing, recorded},
};

/// The options of `speclens write`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Test to write assertions for
    #[arg(value_name = "TEST")]
    test: String,
    /// Suite, or directory to search (repeatable)
    #[arg(long = "path", value_name = "SUITE")]
    paths: Vec<PathBuf>,
    /// Print the changes as a unified diff without applying them
    #[arg(long)]
    diff: bool,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let load::Load { suites, failures, activity } = load::suites(&args.paths, Wanted::Suites, &Levels::default());
    drop(activity);
    failures.iter().for_each(output::complain);
    if suites.is_empty() {
        return Ok(INVALID);
    }
    let (loaded, index) = find(suites, &args.test)?;
    let suite = Arc::clone(&loaded.report.suite);
    let case = &suite.cases[index];
    let (result, loaded) = recorded(loaded, [index].into(), None)?;
    let Some(outcome) = result.cases.iter().find(|outcome| outcome.case == index) else {
        bail!("`{}` has no result", args.test);
    };
    let (path, document) = loaded.file_of(case);
    let secrets = &loaded.report.source.secrets;
    let written = of_passing(&loaded, case, outcome, |document, attempts, look| {
        write(document, case, suite.dialect, attempts, secrets, look)
    })?
    .map_err(|reason| anyhow!("nothing to write for `{}`: {reason}", args.test))?;
    let (shown, before) = (load::shown(&path), String::from(document.text()));
    output::print(&secrets.mask(&fixing::unified(&shown, &before, &written.text)))?;
    output::note(&numbers(&written));
    if !args.diff {
        fix::rewrite(&path, &before, &written.text)
            .map_err(|error| error.context(format!("`{shown}` was not changed")))?;
    }
    Ok(PASSED)
}

/// Returns the suite with a test, and its index there.
pub(super) fn find(suites: Vec<Loaded>, name: &str) -> anyhow::Result<(Loaded, usize)> {
    let places: Vec<(usize, usize)> = suites
        .iter()
        .enumerate()
        .flat_map(|(at, loaded)| {
            let cases = loaded.report.suite.cases.iter().enumerate();
            cases.filter(|(_, case)| case.name == name).map(move |(index, _)| (at, index))
        })
        .collect();
    match places.as_slice() {
        [(at, index)] => {
            let loaded = suites.into_iter().nth(*at).ok_or_else(|| anyhow!("the suite is gone"))?;
            ensure!(!loaded.report.is_refused(), "`{}` has errors; run `speclens check`", loaded.report.source.path);
            Ok((loaded, *index))
        }
        [] => {
            let known = suites.iter().flat_map(|loaded| loaded.report.suite.cases.iter().map(|case| &*case.name));
            let near = nearest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            bail!("no test has the name `{name}`{near}")
        }
        several => bail!("{} have the name `{name}`; name the suite with `--path`", plural(several.len(), "test")),
    }
}

pub(super) fn numbers(written: &Written) -> String {
    let count = plural(written.added.len(), "assertion");
    let Tally { noticed: before, .. } = written.before;
    let after = written.after;
    format!("{count} added: {} of {} noticed, before {before}", after.noticed, plural(after.tried(), "fault"))
}
