//! Selects tests of suites.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use globset::{GlobBuilder, GlobMatcher};
use speclens_schema::suite::Case;

use super::{load::Loaded, output};

/// The options that select tests. A test must match each kind of option that is used.
#[derive(Debug, clap::Args)]
pub(super) struct Selection {
    /// Select tests by name or glob (repeatable; a test must match one of them)
    #[arg(long = "test", visible_alias = "scenario", value_name = "NAME|GLOB")]
    tests: Vec<String>,
    /// Select tests with a tag; `a,b` selects tests with both (repeatable; a test must match one of them)
    #[arg(long = "tag", visible_alias = "tags", value_name = "TAG")]
    tags: Vec<String>,
}

impl Selection {
    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.tags.is_empty()
    }

    /// Returns the selected tests of each suite. It is an error if there are none, unless a suite has errors that may
    /// hide them.
    pub(super) fn cases(&self, suites: &[Loaded]) -> anyhow::Result<Vec<BTreeSet<usize>>> {
        let patterns = self
            .tests
            .iter()
            .map(|text| {
                let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
                // A name that is not a valid glob is compared as written.
                (text, glob.ok().map(|glob| glob.compile_matcher()))
            })
            .collect::<Vec<_>>();
        let named = |case: &Case| {
            patterns.is_empty() || patterns.iter().any(|(text, glob)| is_named(text, glob.as_ref(), case))
        };
        let tagged = |case: &Case| {
            let all =
                |group: &String| group.split(',').map(str::trim).all(|tag| case.tags.iter().any(|known| known == tag));
            self.tags.is_empty() || self.tags.iter().any(all)
        };
        let chosen: Vec<BTreeSet<usize>> = suites
            .iter()
            .map(|loaded| {
                let cases = loaded.report.suite.cases.iter().enumerate();
                cases.filter(|(_, case)| named(case) && tagged(case)).map(|(index, _)| index).collect()
            })
            .collect();
        if self.is_empty() || chosen.iter().any(|cases| !cases.is_empty()) {
            let all = || suites.iter().flat_map(|loaded| &loaded.report.suite.cases);
            for (text, glob) in &patterns {
                if !all().any(|case| is_named(text, glob.as_ref(), case)) {
                    output::note(&format!("no test matches `--test {text}`"));
                }
            }
            return Ok(chosen);
        }
        // A suite with errors may have tests that cannot be read: it is refused because of these errors.
        let is_refused = suites.iter().any(|loaded| loaded.report.is_refused());
        ensure!(is_refused, "no test matches {}", self.words(suites));
        output::note(&format!("no readable test matches {}; correct the errors below first", self.words(suites)));
        Ok(chosen)
    }

    fn words(&self, suites: &[Loaded]) -> String {
        let options = self
            .tests
            .iter()
            .map(|test| format!("`--test {test}`"))
            .chain(self.tags.iter().map(|tag| format!("`--tag {tag}`")));
        let mut words = options.collect::<Vec<_>>().join(" ");
        let shown = |of: fn(&Case) -> Vec<&String>| -> Vec<String> {
            let masked = |loaded: &Loaded| {
                let secrets = &loaded.report.source.secrets;
                let cases = loaded.report.suite.cases.iter();
                cases.flat_map(|case| of(case)).map(|text| secrets.mask(text)).collect::<Vec<_>>()
            };
            suites.iter().flat_map(masked).collect()
        };
        let near = |wanted: &str, known: Vec<String>| {
            speclens_schema::words::nearest(wanted, known.iter().map(String::as_str)).map(str::to_owned)
        };
        let near = match (self.tests.first(), self.tags.first()) {
            (Some(test), _) => near(test, shown(|case| vec![&case.name])),
            (None, Some(tag)) => near(tag, shown(|case| case.tags.iter().collect())),
            (None, None) => None,
        };
        if let Some(near) = near {
            words.push_str(&format!("; did you mean `{near}`?"));
        }
        words
    }
}

fn is_named(name: &str, glob: Option<&GlobMatcher>, case: &Case) -> bool {
    name == case.name || glob.is_some_and(|glob| glob.is_match(&case.name))
}

pub(super) fn setting(text: &str) -> anyhow::Result<(&str, &str)> {
    text.split_once('=').with_context(|| format!("`--set {text}` has no value; write `--set key=value`"))
}
