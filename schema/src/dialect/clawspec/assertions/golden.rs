//! Assertion that a file resembles a golden file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    act::Until,
    check::passages::{Passage, passages, similarity},
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::{ScopedEvidence, StoredFile, Wait},
        statements::{Statement, Subject},
        words::{Artifact, Moment, is_zero, lenient_number},
    },
    evidence::{Context, FilesNeed, Need},
    files::Files,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    verdict::{At, FilePlace, Judged, Mismatch, Row},
};

/// A file resembles a golden file.
///
/// ```yaml
/// - type: artifact_matches_golden
///   path: memory/drafts/{{today}}-output.md
///   golden: tests/golden/email-output.md
///   rouge_threshold: 0.8
/// ```
///
/// The score is ROUGE-L: twice the length of the longest common subsequence of words, divided by the number of words in
/// both files. Words are separated by white space and compared case-sensitively. In ClawSpec the default threshold is
/// 0.5, and a lower score is only a warning. speclens also warns if `speclens.yaml` has `clawspec: {thresholds: warn}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactMatchesGolden {
    /// Path of the file; if several match, the most recently written one.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Path of the golden file.
    #[schemars(extend("x-exists" = "golden", "examples" = ["tests/golden/email-output.md"]))]
    #[schemars(extend("x-synonyms" = ["golden_path"]))]
    pub golden: Artifact,
    /// Minimum score, from 0 to 1.
    #[serde(default = "rouge_threshold", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0.0, max = 1.0), extend("type" = ["number", "string"], "x-in-quotes" = true))]
    #[schemars(extend("x-synonyms" = ["threshold"], "x-problems" = [{
        "if": { "enum": [0, "0"] }, "code": "vacuous-claim", "help": "raise it",
        "message": "a score is never below 0, so this assertion always passes",
    }]))]
    pub rouge_threshold: f64,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "x-in-quotes" = true, "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    pub updated_after: Option<Moment>,
    /// Content of `golden`.
    #[serde(skip)]
    #[schemars(skip)]
    pub stored: Option<StoredFile>,
}

fn rouge_threshold() -> f64 {
    0.7
}

impl ArtifactMatchesGolden {
    fn golden_need(&self, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        if self.stored.is_some() {
            return None;
        }
        scope.first_file(&self.golden, context)
    }
}

impl AssertionType for ArtifactMatchesGolden {
    const NAME: &'static str = "artifact_matches_golden";
    const SUBJECT: &'static str = "path";

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "path", Subject::File, true).collect()
    }

    fn lint(node: &LintNode<'_>, _: &dyn Files, report: &mut Report) {
        if node.text_at("path").is_some_and(|path| node.text_at("golden") == Some(path)) {
            let words = MessageParts::new("`path` and `golden` are the same file, so this assertion always passes")
                .help("name two different files in `path` and `golden`");
            report.extend(node.get("golden").map(|golden| golden.absence(Code::VacuousClaim, words)));
        }
    }

    const WAITS: bool = true;

    fn read(&mut self, files: &dyn Files) {
        self.stored = StoredFile::read(&self.golden, files);
    }

    fn threshold(&self) -> Option<f64> {
        Some(self.rouge_threshold)
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs = Wait::of(self.timeout, &self.updated_after).needs(&self.path, true, scope, context);
        needs.extend(self.golden_need(scope, context).map(Need::Files));
        needs
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (_, fresh, _) = seen.appeared(&self.path, Wait::of(self.timeout, &self.updated_after), true, "Artifact")?;
        let newest = seen.newest(&fresh)?;
        let text = seen.text("path", newest, Until::TimeLimit)?;
        let (golden_path, golden) = seen.stored("golden", &self.golden, self.stored.as_ref(), |path, proof| {
            let message = format!("Golden file not found: {path}");
            Row::fail("golden", proof, Mismatch::new(message, format!("{path} exists"), "nothing"))
        })?;
        let (text, proof) = text.complete().at("path")?;
        let (golden, _) = golden.complete().at("golden")?;
        let Some(score) = similarity(text, golden) else {
            return Err(Row::unknown("path", "the files are too long to be compared word by word"));
        };
        let least = self.rouge_threshold;
        if score >= least {
            return Ok(Row::pass("rouge_threshold", proof).rated(None, Some(score)));
        }
        let message = format!("ROUGE-L {score:.3} below threshold {least:.3}");
        let mismatch = Mismatch::new(message, format!("at least {least:.3}"), format!("{score:.3}"));
        let row = seen.scope.short("rouge_threshold", proof, mismatch).rated(None, Some(score));
        let passages = passages(text, golden).into_iter().take(MAX_PASSAGES);
        let places = passages.flat_map(|Passage { lines, other_lines, words }| {
            let count = if words == 1 { "1 word".to_owned() } else { format!("{words} words") };
            let (here, there) = match (lines.is_empty(), other_lines.is_empty()) {
                (true, _) => (format!("{count} of the golden file missing here"), "the golden file has this"),
                (false, true) => (format!("{count} here that the golden file lacks"), "the golden file lacks it here"),
                (false, false) => (format!("{count} different here"), "the golden file has this instead"),
            };
            let place = FilePlace::line(&newest.path, text, lines.start);
            [(here, place), (there.to_owned(), FilePlace::line(golden_path, golden, other_lines.start))]
        });
        Ok(row.with_places(places))
    }
}

/// Maximum number of passages to show.
const MAX_PASSAGES: usize = 3;
