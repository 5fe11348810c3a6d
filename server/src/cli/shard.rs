//! Shards: a run in several parts, each in a process or on a machine of its own. Every shard divides the tests in the same
//! way, so each test is in exactly one.

use std::{collections::BTreeSet, fs::OpenOptions, str::FromStr};

use anyhow::{Context, bail};
use speclens_schema::words::plural;

use super::load::Loaded;

/// The part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its number, from 0.
    index: usize,
    count: usize,
}

/// The value of `--shard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShardArg {
    /// `I/N`, counted from 1.
    Given(Shard),
    /// `auto` or `auto/N`: what the environment says, perhaps with the number of shards.
    Auto(Option<usize>),
}

/// The variables with which a system that runs several copies of a command numbers them.
struct Contract {
    name: &'static str,
    index: &'static str,
    count: &'static str,
    /// The number of the first copy.
    first: First,
}

#[derive(Clone, Copy)]
enum First {
    Fixed(usize),
    /// The value of a variable.
    In(&'static str),
}

/// In this order, because a job of one system may run inside of another one.
const CONTRACTS: [Contract; 7] = [
    Contract { name: "Bazel", index: "TEST_SHARD_INDEX", count: "TEST_TOTAL_SHARDS", first: First::Fixed(0) },
    Contract {
        name: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: First::In("SLURM_ARRAY_TASK_MIN"),
    },
    Contract { name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS", first: First::Fixed(0) },
    Contract { name: "GitLab", index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", first: First::Fixed(1) },
    Contract { name: "CircleCI", index: "CIRCLE_NODE_INDEX", count: "CIRCLE_NODE_TOTAL", first: First::Fixed(0) },
    Contract {
        name: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        first: First::Fixed(0),
    },
    Contract { name: "the environment", index: "SHARD_INDEX", count: "SHARD_COUNT", first: First::Fixed(1) },
];

/// A file that Bazel expects to be touched by tests that support shards.
const BAZEL_STATUS_FILE: &str = "TEST_SHARD_STATUS_FILE";

impl FromStr for ShardArg {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardArg, String> {
        let wrong = || format!("`{text}` is not a shard; write `1/4` for the first of four, or `auto`");
        let count = |text: &str| text.parse().ok().filter(|count| *count > 0).ok_or_else(wrong);
        match text.split_once('/') {
            None if text == "auto" => Ok(ShardArg::Auto(None)),
            None => Err(wrong()),
            Some(("auto", all)) => Ok(ShardArg::Auto(Some(count(all)?))),
            Some((number, all)) => {
                let (number, count) = (count(number)?, count(all)?);
                if number > count {
                    return Err(format!("there is no shard {number} of {count}"));
                }
                Ok(ShardArg::Given(Shard { index: number - 1, count }))
            }
        }
    }
}

impl ShardArg {
    /// Returns the shard that is meant. `variable` returns the value of an environment variable.
    pub(super) fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
        let given = match self {
            ShardArg::Given(shard) => return Ok(shard),
            ShardArg::Auto(count) => count,
        };
        let names = || CONTRACTS.iter().map(|contract| format!("`{}`", contract.index)).collect::<Vec<_>>().join(", ");
        let Some(contract) = CONTRACTS.iter().find(|contract| variable(contract.index).is_some()) else {
            bail!("`--shard auto` needs one of the variables {}; write `--shard 1/4` otherwise", names());
        };
        let number = |name: &str| -> anyhow::Result<usize> {
            let text =
                variable(name).with_context(|| format!("`{name}` is not set, although `{}` is", contract.index))?;
            text.trim().parse().with_context(|| format!("`{name}` is `{text}`, which is not a number"))
        };
        let first = match contract.first {
            First::Fixed(first) => first,
            First::In(name) => number(name)?,
        };
        let count = match given {
            Some(count) => count,
            None => number(contract.count).context("the number of shards is unknown; write `--shard auto/4`")?,
        };
        let index = number(contract.index)?.checked_sub(first).filter(|index| *index < count);
        let index = index.with_context(|| {
            let found = variable(contract.index).unwrap_or_default();
            format!("{} has numbered this shard {found}, but there are only {count}, from {first}", contract.name)
        })?;
        if let Some(file) = variable(BAZEL_STATUS_FILE).filter(|file| !file.is_empty()) {
            let touched = OpenOptions::new().create(true).append(true).open(&file);
            touched.with_context(|| format!("cannot write `{file}`, which `{BAZEL_STATUS_FILE}` names"))?;
        }
        Ok(Shard { index, count })
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.index + 1, self.count)
    }
}

impl Shard {
    /// Returns the tests of this shard among the chosen ones of each suite. `durations` are those of the last recorded
    /// runs in milliseconds; the longest come first. A test without one counts as an average one.
    pub(super) fn part(
        self,
        suites: &[Loaded],
        chosen: &[BTreeSet<usize>],
        duration: impl Fn(usize, usize) -> Option<f64>,
    ) -> Vec<BTreeSet<usize>> {
        let mut tests = Vec::new();
        for (suite, (loaded, cases)) in suites.iter().zip(chosen).enumerate() {
            for case in cases {
                let identity = (load_name(loaded), loaded.report.suite.cases[*case].name.clone());
                tests.push(Test { at: (suite, *case), identity, duration_ms: duration(suite, *case) });
            }
        }
        let own = self.of(tests);
        let of_suite = |suite: usize| own.iter().filter(|at| at.0 == suite).map(|at| at.1).collect();
        (0..suites.len()).map(of_suite).collect()
    }

    fn of(self, mut tests: Vec<Test>) -> Vec<(usize, usize)> {
        let known: Vec<f64> = tests.iter().filter_map(|test| test.duration_ms).collect();
        let average = if known.is_empty() { 1.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        let weight = |test: &Test| test.duration_ms.unwrap_or(average);
        tests.sort_by(|one, other| {
            weight(other).total_cmp(&weight(one)).then_with(|| one.identity.cmp(&other.identity))
        });
        let mut loads = vec![(0.0_f64, 0_usize); self.count];
        let mut own = Vec::new();
        for test in &tests {
            let least = (0..self.count).min_by(|one, other| {
                let (one, other) = (loads[*one], loads[*other]);
                one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
            });
            let least = least.expect("there is at least one shard");
            loads[least].0 += weight(test);
            loads[least].1 += 1;
            if least == self.index {
                own.push(test.at);
            }
        }
        own
    }

    /// Returns a sentence about the size of this shard.
    pub(super) fn sentence(self, own: &[BTreeSet<usize>], all: usize) -> String {
        let own: usize = own.iter().map(BTreeSet::len).sum();
        format!("shard {self}: {own} of {}", plural(all, "test"))
    }
}

struct Test {
    /// The suite and the case.
    at: (usize, usize),
    /// The path of the suite and the name of the test.
    identity: (String, String),
    duration_ms: Option<f64>,
}

fn load_name(loaded: &Loaded) -> String {
    loaded.report.source.path.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let arg: ShardArg = text.parse()?;
        arg.resolve(variable).map(|shard| shard.to_string()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn shards_are_given_or_found_in_the_environment() {
        for (text, variables, shard) in [
            ("1/4", &[][..], "1/4"),
            ("4/4", &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "2")], "4/4"),
            ("auto", &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "2")], "1/2"),
            ("auto", &[("CIRCLE_NODE_INDEX", "0"), ("CIRCLE_NODE_TOTAL", "3")], "1/3"),
            ("auto", &[("BUILDKITE_PARALLEL_JOB", "2"), ("BUILDKITE_PARALLEL_JOB_COUNT", "3")], "3/3"),
            ("auto", &[("TEST_SHARD_INDEX", "1"), ("TEST_TOTAL_SHARDS", "5")], "2/5"),
            ("auto/8", &[("JOB_COMPLETION_INDEX", "7")], "8/8"),
            (
                "auto",
                &[("SLURM_ARRAY_TASK_ID", "12"), ("SLURM_ARRAY_TASK_MIN", "10"), ("SLURM_ARRAY_TASK_COUNT", "4")],
                "3/4",
            ),
            ("auto", &[("SHARD_INDEX", "2"), ("SHARD_COUNT", "2")], "2/2"),
        ] {
            assert_eq!(resolve(text, variables).as_deref(), Ok(shard), "{text} {variables:?}");
        }
    }

    #[test]
    fn wrong_shards_are_refused_with_a_reason() {
        for (text, variables, words) in [
            ("0/4", &[][..], "write `1/4`"),
            ("5/4", &[], "there is no shard 5 of 4"),
            ("4", &[], "write `1/4`"),
            ("auto/0", &[], "write `1/4`"),
            ("auto", &[], "`TEST_SHARD_INDEX`"),
            ("auto", &[("JOB_COMPLETION_INDEX", "7")], "write `--shard auto/4`"),
            ("auto", &[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "2")], "not a number"),
            ("auto", &[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "2")], "only 2, from 1"),
            ("auto", &[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "2")], "only 2, from 1"),
        ] {
            let error = resolve(text, variables).expect_err(text);
            assert!(error.contains(words), "{error}");
        }
    }

    /// Tests with the durations that are known of some of them.
    fn tests(durations: &[Option<f64>]) -> Vec<Test> {
        let test = |(case, duration_ms): (usize, &Option<f64>)| Test {
            at: (0, case),
            identity: ("a.yaml".to_owned(), format!("t{case}")),
            duration_ms: *duration_ms,
        };
        durations.iter().enumerate().map(test).collect()
    }

    #[test]
    fn each_test_is_in_exactly_one_shard_which_do_not_depend_on_the_order_of_tests() {
        let durations: Vec<Option<f64>> =
            (0..30_u32).map(|number| (number % 3 > 0).then(|| f64::from(number * number % 977))).collect();
        for count in [1, 2, 7, 8, 41] {
            let mut all = Vec::new();
            for index in 0..count {
                let shard = Shard { index, count };
                let own = shard.of(tests(&durations));
                let mut reversed = tests(&durations);
                reversed.reverse();
                assert_eq!(shard.of(reversed), own);
                all.extend(own);
            }
            all.sort_unstable();
            assert_eq!(all, (0..30).map(|case| (0, case)).collect::<Vec<_>>(), "{count}");
        }
    }

    #[test]
    fn long_tests_are_divided_first() {
        let durations = [Some(10.0), Some(1.0), Some(9.0), Some(1.0), Some(8.0), Some(1.0)];
        let shards = [0, 1, 2].map(|index| Shard { index, count: 3 }.of(tests(&durations)));
        let time = |own: &Vec<(usize, usize)>| own.iter().filter_map(|at| durations[at.1]).sum::<f64>();
        assert_eq!(shards.each_ref().map(time), [10.0, 10.0, 10.0]);
        // Without durations, the numbers of tests differ by one at most.
        let shards = [0, 1, 2].map(|index| Shard { index, count: 3 }.of(tests(&[None; 8])).len());
        assert_eq!(shards, [3, 3, 2]);
    }
}
