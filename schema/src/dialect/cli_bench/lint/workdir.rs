//! A directory that all tasks share.

use crate::{
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    shape::Shape,
    spot::Spot,
    validate::line_in_order,
};

use super::super::config::Config;

/// `workdir` together with `concurrency`.
pub(super) fn lint(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(workdir) = root.get("workdir").filter(|workdir| workdir.text().is_some()) else { return };
    let concurrency = root.get("concurrency");
    let count = match &concurrency {
        Some(spot) => spot.number(),
        None => Some(f64::from(Config::CONCURRENCY)),
    };
    let Some(count) = count.filter(|count| *count > 1.0) else { return };
    let help = "set `concurrency: 1`";
    let mut problem = workdir
        .head_problem(Code::SharedWorkdir, "all tasks share this directory")
        .with_note(format!("cli-bench runs up to {count} of them at once; speclens runs one after the other"))
        .with_help(help);
    let edits = match &concurrency {
        Some(spot) => spot.replaced("1"),
        None => line_in_order(root.node, &Shape::of(SpecFile::CliBench), "concurrency", "concurrency: 1"),
    };
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    if let Some(spot) = &concurrency {
        problem = problem.with_related("the number of tasks at once", spot.at.clone(), spot.range());
    }
    problems.push(problem);
}
