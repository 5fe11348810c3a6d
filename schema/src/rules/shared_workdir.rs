use crate::{
    dialect::cli_bench::config::Config,
    finding::{Report, Rule, Site, Words},
    json_schema::SpecFile,
    problem::{Code, Fix},
    shape::Shape,
    spot::Spot,
    validate::line_in_order,
};

page! {
    /// All tasks share a directory, and several run at the same time. They can change each other's files.
    "shared-workdir", Warning
}

/// The key that says how many tasks run at once.
const CONCURRENCY: &str = "concurrency";

/// A directory that all tasks share, with the number of those that run at once.
#[derive(Debug)]
struct SharedWorkdir {
    at_once: f64,
}

/// Looks at `workdir` together with `concurrency`.
pub(crate) fn check(root: &Spot<'_>, report: &mut Report) {
    let Some(workdir) = root.get("workdir").filter(|workdir| workdir.text().is_some()) else { return };
    let concurrency = root.get(CONCURRENCY);
    let count = match &concurrency {
        Some(spot) => spot.number(),
        None => Some(f64::from(Config::CONCURRENCY)),
    };
    let Some(at_once) = count.filter(|count| *count > 1.0) else { return };
    let finding = workdir.head_finding(SharedWorkdir { at_once });
    report.push(match &concurrency {
        Some(spot) => finding.with("the number of tasks at once", spot),
        None => finding,
    });
}

impl Rule for SharedWorkdir {
    const CODE: Code = Code::SharedWorkdir;

    fn words(&self, site: &Site<'_>) -> Words {
        let count = self.at_once;
        let help = "set `concurrency: 1`";
        let edits = match Spot::root(site.root).get(CONCURRENCY) {
            Some(spot) => spot.replaced("1"),
            None => line_in_order(site.root, &Shape::of(SpecFile::CLI_BENCH), CONCURRENCY, "concurrency: 1"),
        };
        Words::new("all tasks share this directory")
            .note(format!("cli-bench runs up to {count} of them at once; speclens runs them one after the other"))
            .remedy(help, Fix::guess, edits)
    }
}
