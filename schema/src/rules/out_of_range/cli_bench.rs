//! Values of a suite of cli-bench that are blank, too small or too large.

use crate::{
    dialect::cli_bench::{
        facts::{About, ItemFacts, Items},
        limits::Limits,
        task_files,
    },
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    spot::Spot,
};

/// A text that consists of spaces: its key, and what to write.
#[derive(Debug)]
struct Blank {
    key: &'static str,
    wanted: &'static str,
}

/// A suite whose files contain no task.
#[derive(Debug)]
struct NoTasks;

/// An exit code, as written, that no process ends with.
#[derive(Debug)]
struct ExitCode(String);

/// A threshold that is most likely a share of one.
#[derive(Debug)]
struct ShareOfOne(f64);

/// Looks at the sections of a suite.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    check_blank(root, Blank { key: "cli", wanted: "name the program that the tasks are about" }, report);
    let Some(limits) = Limits::of(root) else { return };
    for (value, limit) in limits.all().filter(|(value, _)| *value > 0.0 && *value < 1.0) {
        report.push(limit.finding(ShareOfOne(value)));
    }
}

/// Looks at a task.
pub(crate) fn check_task(task: &Spot<'_>, report: &mut Report) {
    check_blank(task, Blank { key: "id", wanted: "name the task" }, report);
    check_blank(task, Blank { key: "intent", wanted: "describe what the model must achieve" }, report);
}

fn check_blank(owner: &Spot<'_>, rule: Blank, report: &mut Report) {
    let is_blank = |spot: &Spot<'_>| spot.text().is_some_and(|text| !text.is_empty() && text.trim().is_empty());
    if let Some(spot) = owner.get(rule.key).filter(is_blank) {
        report.push(spot.finding(rule));
    }
}

/// Looks at the exit code of an assertion, which may be written as a text.
pub(crate) fn check_assertion(assertion: &Spot<'_>, report: &mut Report) {
    let Some(spot) = assertion.get("exit_code") else { return };
    let number = match spot.text() {
        Some(text) => text.trim().parse::<i64>().ok().map(|number| number as f64),
        None => spot.number(),
    };
    if number.is_some_and(|number| !(0.0..=255.0).contains(&number)) {
        report.push(spot.finding(ExitCode(spot.node.text().unwrap_or_default().to_owned())));
    }
}

/// Looks for a suite whose files contain no task.
pub(crate) fn check_relations(root: &Spot<'_>, items: Items<'_>, report: &mut Report) {
    let may_hold_tasks = |(_, facts): (usize, &ItemFacts)| match facts {
        ItemFacts::Task(_) | ItemFacts::Nothing => true,
        ItemFacts::Files(entry, files) => {
            // A pattern that nothing matches gives no task, and is only a warning by itself.
            files.is_empty() && !task_files::is_pattern(&entry.text)
                || files.iter().any(|file| file.wrong.is_some() || !file.ids.is_empty())
        }
    };
    let are_files = items.count() > 0 && items.about(About::Files).count() == items.count();
    if are_files
        && !items.about(About::Files).any(may_hold_tasks)
        && let Some(tasks) = root.get("tasks")
    {
        report.push(tasks.head_finding(NoTasks));
    }
}

impl Rule for Blank {
    const CODE: Code = Code::OutOfRange;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` must not be blank", self.key)).help(self.wanted)
    }
}

impl Rule for NoTasks {
    const CODE: Code = Code::OutOfRange;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("the files named here contain no task")
    }
}

impl Rule for ExitCode {
    const CODE: Code = Code::OutOfRange;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`exit_code` must be from 0 to 255, found `{}`", self.0))
    }
}

impl Rule for ShareOfOne {
    const CODE: Code = Code::OutOfRange;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let value = self.0;
        let percent = format!("{}", (value * 1e4).round() / 100.0);
        Words::new(format!("a threshold of {value} is less than one percent"))
            .note("a threshold is a percentage from 0 to 100")
            .remedy(format!("write `{percent}`"), Fix::guess, site.replaced(percent))
    }
}
