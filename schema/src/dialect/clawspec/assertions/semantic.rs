//! Assertions about the score of a text by a model.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};

use crate::{
    acceptable::{Amount, Limit},
    act::Until,
    check::{
        headings,
        json::number_text,
        score::{self, Score},
        text::shortened,
    },
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::ScopedEvidence,
        words::{Artifact, RunText, WebAddress},
    },
    evidence::{Address, Context, Judge, ModelReply, Need, ScoreNeed},
    files::Files,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    mask::shown,
    problem::Code,
    seen::{Found, Proof},
    verdict::{At, Judged, Mismatch, Row},
    words::plural,
};

/// Path of the gateway's endpoint for scores.
const JUDGE: &str = "/qa/judge";

/// Reason why a judge cannot be asked.
const NO_VALUE: &str = "the assertion contains a template variable without a value in this run";

/// A model scores a file by a rubric, and the score meets a threshold.
///
/// ```yaml
/// - type: llm_judge
///   path: memory/drafts/{{today}}-output.md
///   rubric: "Score 1-5: Is this email persuasive and brand-safe?"
///   pass_threshold: 4
/// ```
///
/// The judge is the gateway's, or the model named by `judge` in `speclens.yaml`. A score below the threshold fails, or
/// warns if `speclens.yaml` has `clawspec: {thresholds: warn}`; ClawSpec always warns. If the judge does not answer,
/// the result is unknown; ClawSpec skips the assertion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmJudge {
    /// Path of the file; with wildcards, the first match.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    #[schemars(extend("x-synonyms" = ["artifact"]))]
    pub path: Artifact,
    /// Instructions for the judge. Name the scale: scores usually range from 1 to 5.
    #[schemars(extend("examples" = ["Score 1-5: Is this clear and safe?"]))]
    #[schemars(extend("x-other-names" = ["prompt", "criteria"]))]
    pub rubric: RunText,
    /// Minimum score.
    #[serde(default = "pass_threshold")]
    #[schemars(extend("x-problems" = no_threshold(), "x-other-names" = ["threshold"]))]
    pub pass_threshold: f64,
    /// Heading of the section to score, including its subsections. ClawSpec always sends the whole file.
    #[schemars(extend("x-null" = "absent", "examples" = ["Hook"]))]
    pub section: Option<RunText>,
    /// Number of times the judge is asked.
    ///
    /// `true` asks three times, and every score must meet the threshold. A mapping sets the number of requests and how
    /// many scores must meet the threshold (by default one). ClawSpec supports only the mapping.
    ///
    /// ```yaml
    /// consistency: { runs: 5, min_passes: 4 }
    /// ```
    #[schemars(extend("x-problems" = [
        {
            "if": { "const": null }, "code": "no-effect", "underline": "key", "instead": true,
            "message": "`consistency` has no value, so the judge is asked once", "help": "remove the key",
        },
        {
            "if": { "const": true }, "code": "upstream-differs",
            "message": "ClawSpec 0.1.0 does not support `consistency: true`",
            "note": "ClawSpec aborts with an error, although its documentation describes the value",
            "help": "write `{ runs: 3, min_passes: 3 }`", "fix": { "write": "{ runs: 3, min_passes: 3 }" },
        },
    ]))]
    #[schemars(schema_with = "consistency_schema")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "consistency")]
    pub consistency: Option<ConsistencyRuns>,
    /// URL of the judge. `judge` in `speclens.yaml` overrides it. ClawSpec does not document this key, but reads it.
    #[schemars(with = "Option<WebAddress>", extend("examples" = ["http://localhost:18789/qa/judge"]))]
    pub endpoint: Option<RunText>,
}

fn pass_threshold() -> f64 {
    3.0
}

/// Number of times the judge is asked, and how many scores must meet the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsistencyRuns {
    /// Number of times the judge is asked.
    #[schemars(range(min = 1, max = 100))]
    #[schemars(extend("x-other-names" = ["k", "n", "samples"]))]
    pub runs: u32,
    /// Number of scores that must meet the threshold.
    #[schemars(range(min = 1, max = 100))]
    #[schemars(extend("x-at-most" = "runs", "x-other-names" = ["passes", "min_pass", "required"]))]
    pub min_passes: u32,
}

impl Default for ConsistencyRuns {
    fn default() -> ConsistencyRuns {
        ConsistencyRuns { runs: 1, min_passes: 1 }
    }
}

/// Reads `true` and `false` as well.
fn consistency<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ConsistencyRuns>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null | Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(ConsistencyRuns { runs: 3, min_passes: 3 })),
        value => ConsistencyRuns::deserialize(value).map(Some).map_err(D::Error::custom),
    }
}

fn consistency_schema(generator: &mut SchemaGenerator) -> Schema {
    let runs = generator.subschema_for::<ConsistencyRuns>();
    json_schema!({ "type": ["boolean", "object"], "if": { "type": "object" }, "then": runs })
}

impl LlmJudge {
    fn need(&self, scope: &Scope, context: &Context) -> Option<ScoreNeed> {
        let expand = |text: &str| scope.expand(text, context).ok();
        let section = match &self.section {
            Some(section) => Some(expand(section)?),
            None => None,
        };
        Some(ScoreNeed {
            judge: judge(self.endpoint.as_ref(), scope, context)?,
            rubric: expand(&self.rubric)?,
            path: expand(&self.path)?,
            section,
            identity: None,
            moment: scope.moment,
            times: self.consistency.unwrap_or_default().runs,
        })
    }
}

/// Returns the problem of a threshold that every score meets.
fn no_threshold() -> Value {
    json!([{
        "if": { "maximum": 0 }, "code": "vacuous-claim", "message": "every score meets this threshold",
        "note": "scores usually range from 1 to 5", "help": "raise it",
    }])
}

/// Checks that the scale of the rubric contains a threshold.
fn lint_scale(node: &LintNode<'_>, usual: Option<(f64, f64)>, report: &mut Report) {
    let threshold = node.get("pass_threshold");
    let Some((threshold, least)) = threshold.and_then(|it| Some((it.clone(), it.number()?))) else { return };
    let scale = node.get("rubric").map_or(usual, |rubric| scale_in(rubric.text()?));
    let Some((low, high)) = scale.filter(|_| least > 0.0) else { return };
    let scale = format!("the scale of the rubric is {low} to {high}");
    if least <= low {
        let words = MessageParts::new(format!("every score meets this threshold: {scale}")).help("raise it");
        report.push(threshold.problem(Code::VacuousClaim, words));
    } else if least > high {
        let words = MessageParts::new(format!("no score meets this threshold: {scale}")).help("lower it");
        report.push(threshold.problem(Code::Contradiction, words));
    }
}

/// Returns the lowest and the highest score in an instruction, such as `1-5`. Of several ranges, the one after a word for scoring counts; a
/// number of sentences is not a scale.
fn scale_in(text: &str) -> Option<(f64, f64)> {
    const SCORING: [&str; 6] = ["score", "scale", "rate", "rating", "grade", "from"];
    let ranges = text.match_indices('-').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let digits = before.len() - before.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let behind = text[at + 1..].trim_start();
        let length = behind.len() - behind.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (before, low) = before.split_at(before.len() - digits);
        let (high, behind) = behind.split_at(length);
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        let is_scored = before.split_whitespace().rev().take(3).any(|word| {
            let word = word.to_lowercase();
            SCORING.iter().any(|scoring| word.starts_with(scoring))
        });
        let next = behind.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let counts = behind.starts_with(' ') && next.len() > 3 && next.ends_with('s') && next != "points";
        (low < high && high <= 100.0).then_some((is_scored, counts, (low, high)))
    });
    let all: Vec<_> = ranges.collect();
    let scored = all.iter().find(|(is_scored, ..)| *is_scored);
    match (scored, all.as_slice()) {
        (Some((.., range)), _) | (None, [(_, false, range)]) => Some(*range),
        (None, _) => None,
    }
}

/// Returns the judge: the one in the settings, or else the one in the assertion.
fn judge(written: Option<&RunText>, scope: &Scope, context: &Context) -> Option<Judge> {
    match (&scope.scoring.judge, written) {
        (Some(peer), _) => Some(Judge::Model(peer.clone())),
        (None, None) => Some(Judge::Endpoint(Address::Gateway(JUDGE.to_owned()))),
        (None, Some(endpoint)) => scope.expand(endpoint, context).ok().map(Address::Url).map(Judge::Endpoint),
    }
}

struct ScoreThreshold {
    /// Field that the result refers to.
    field: &'static str,
    name: &'static str,
    least: f64,
    /// The end of the scale, if it is known.
    most: Option<f64>,
    runs: ConsistencyRuns,
}

impl ScoreThreshold {
    /// Judges the replies of a judge. Missing replies matter only if they could change the result.
    fn judge(&self, (replies, proof): (&[ModelReply], Proof), seen: &ScopedEvidence<'_>) -> Row {
        let (scores, trouble) = score::scores(replies, self.runs.runs, |answer| read(answer, self.most));
        let wanted = self.runs.min_passes as usize;
        let good = scores.iter().filter(|score| score.value >= self.least).count();
        let missing = self.runs.runs as usize - scores.len();
        if scores.is_empty() || good < wanted && good + missing >= wanted {
            return Row::unknown("rubric", why_unscored(trouble));
        }
        let mean = scores.iter().map(|score| score.value).sum::<f64>() / scores.len() as f64;
        if good >= wanted {
            return Row::pass(self.field, proof).rated(None, Some(mean));
        }
        let threshold = format!("threshold {:.2}", self.least);
        let counted = format!("{good} of {}", plural(scores.len(), "score"));
        let meets = if scores.len() == 1 { "meets" } else { "meet" };
        // The mean may meet the threshold although too few scores do.
        let message = match (mean < self.least, scores.len().max(wanted)) {
            (true, 1) => format!("{} score {mean:.2} below {threshold}", self.name),
            (true, _) => {
                format!("{} score {mean:.2} below {threshold}: {counted} {meets} it, but {wanted} must", self.name)
            }
            (false, _) => format!("{counted} {meets} the {threshold}, but {wanted} must"),
        };
        let least = match wanted {
            0 | 1 => format!("at least {}", number_text(self.least)),
            wanted => format!("{wanted} scores of at least {}", number_text(self.least)),
        };
        let given: Vec<String> = scores.iter().map(|score| number_text(score.value)).collect();
        let explained = scores.iter().filter_map(|score| explained(score, scores.len() > 1));
        let mismatch = Mismatch::new(message, least, given.join(", ")).notes(explained);
        // As many scores as are needed meet it.
        let mut best: Vec<f64> = scores.iter().map(|score| score.value).collect();
        best.sort_by(|one, other| other.total_cmp(one));
        let mismatch = match wanted.checked_sub(1).and_then(|last| best.get(last)) {
            Some(reached) => mismatch.accepting_limit(Limit::Least, *reached, Amount::Scored),
            None => mismatch,
        };
        seen.scope.short(self.field, proof, mismatch).rated(None, Some(mean))
    }
}

/// Reason of an unknown result if the recording has fewer replies than the assertion now requires.
const UNASKED_AGAIN: &str = "the judge was asked fewer times than now required; to ask it without starting the target, press \
                             `Ask judge` above the scenario, or run `speclens run --recorded --ask`";

/// Maximum number of characters to show of a judge's reasoning.
const MAX_REASONING: usize = 600;

fn explained(score: &Score, of_several: bool) -> Option<String> {
    let reasoning = score.reasoning.as_deref()?;
    let reasoning = shortened(&shown(reasoning), MAX_REASONING);
    let who = if of_several { format!("score {}", number_text(score.value)) } else { "the judge".to_owned() };
    Some(format!("{who}: {reasoning}"))
}

/// The end of the scale that a judge uses if the rubric names none.
const USUAL_MOST: f64 = 5.0;

/// Returns the end of the scale of a rubric: its largest number, but at least 5. `None` if the threshold is beyond it.
fn end_of_scale(rubric: &str, least: f64) -> Option<f64> {
    let numbers = rubric.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let numbers = numbers.filter_map(|number| number.trim_matches('.').parse::<f64>().ok());
    let percent = rubric.contains('%').then_some(100.0);
    let most = numbers.chain(percent).fold(USUAL_MOST, f64::max);
    (least <= most).then_some(most)
}

/// Why there is no score; for a gateway without a judge of its own, with how to get one.
fn why_unscored(reason: Option<String>) -> String {
    let reason = reason.unwrap_or_else(|| UNASKED_AGAIN.to_owned());
    let help = "; name a model as `judge` in `speclens.yaml`, such as `judge: anthropic/claude-haiku-4-5`";
    if reason.ends_with("status 404") { reason + help } else { reason }
}

fn read(answer: &str, most: Option<f64>) -> Result<Score, String> {
    let score = score::read(answer)?;
    match most.filter(|most| score.value > *most) {
        Some(most) => Err(format!("{} is outside of the scale, which ends at {most}", number_text(score.value))),
        None => Ok(score),
    }
}

impl AssertionType for LlmJudge {
    const NAME: &'static str = "llm_judge";
    const SUBJECT: &'static str = "path";

    fn lint(node: &LintNode<'_>, _: &dyn Files, report: &mut Report) {
        lint_scale(node, None, report);
    }

    fn threshold(&self) -> Option<f64> {
        Some(self.pass_threshold)
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs: Vec<Need> = scope.first_file(&self.path, context).map(Need::Files).into_iter().collect();
        needs.extend(self.need(scope, context).filter(|need| need.times > 0).map(Need::Scores));
        needs
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (_, file) = seen.existing("path", &self.path, "Artifact", Until::TimeLimit)?;
        if let Some(section) = &self.section {
            let section = seen.expand("section", section)?;
            let text = seen.text("path", file, Until::TimeLimit)?;
            let found = text.search(|text| headings::section(text, &section).map(|_| ())).at("section")?;
            if let Found::No(proof) = found {
                let text = text.so_far();
                let message = format!("`{}` has no section `{section}`", file.path);
                let (note, place) = seen.note_on_heading(&section, &file.path, text);
                let mismatch = Mismatch::new(message, section, "no such heading").notes([note]);
                return Ok(Row::fail("section", proof, mismatch).with_places(place));
            }
        }
        let runs = self.consistency.unwrap_or_default();
        if runs.runs == 0 {
            return Err(Row::skipped("consistency", "consistency.runs is 0; no scores collected"));
        }
        let Some(want) = self.need(seen.scope, seen.act.context()) else {
            return Err(Row::unknown("rubric", NO_VALUE));
        };
        let most = end_of_scale(&want.rubric, self.pass_threshold);
        let bar = ScoreThreshold { field: "pass_threshold", name: "Judge", least: self.pass_threshold, most, runs };
        Ok(bar.judge(seen.replies(&want)?, seen))
    }
}

/// A file that an agent wrote matches the agent's identity, as described in `SOUL.md`.
///
/// ```yaml
/// - type: agent_identity_consistent
///   output_path: memory/drafts/{{today}}-output.md
///   soul_path: agents/marketing/brand/SOUL.md
/// ```
///
/// A judge scores the match, as for `llm_judge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-advice" = [{
    "names": ["section_id"], "note": "ClawSpec compares whole files", "explains": ["output_path", "soul_path"],
    "help": "remove it, and set `output_path` and `soul_path`",
}]))]
pub struct AgentIdentityConsistent {
    /// File that the agent wrote; with wildcards, the first match.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    #[schemars(extend("x-other-names" = ["path"]))]
    pub output_path: Artifact,
    /// `SOUL.md` of the agent.
    #[schemars(extend("x-file" = "markdown", "x-exists" = "soul", "examples" = ["agents/marketing/brand/SOUL.md"]))]
    #[schemars(extend("x-synonyms" = ["soul"]))]
    pub soul_path: Artifact,
    /// Instructions for the judge. ClawSpec does not document this key, but reads it.
    #[serde(default = "identity_rubric")]
    pub rubric: RunText,
    /// Minimum score. ClawSpec does not document this key, but reads it.
    #[serde(default = "pass_threshold")]
    #[schemars(extend("x-problems" = no_threshold()))]
    pub pass_threshold: f64,
    /// URL of the judge. `judge` in `speclens.yaml` overrides it. ClawSpec does not document this key, but reads it.
    #[schemars(with = "Option<WebAddress>", extend("examples" = ["http://localhost:18789/qa/judge"]))]
    pub endpoint: Option<RunText>,
}

fn identity_rubric() -> RunText {
    RunText::from("Score 1-5 for identity fidelity.")
}

impl AgentIdentityConsistent {
    fn need(&self, scope: &Scope, context: &Context) -> Option<ScoreNeed> {
        let expand = |text: &str| scope.expand(text, context).ok();
        Some(ScoreNeed {
            judge: judge(self.endpoint.as_ref(), scope, context)?,
            rubric: expand(&self.rubric)?,
            path: expand(&self.output_path)?,
            section: None,
            identity: Some(expand(&self.soul_path)?),
            moment: scope.moment,
            times: 1,
        })
    }
}

impl AssertionType for AgentIdentityConsistent {
    const NAME: &'static str = "agent_identity_consistent";
    const SUBJECT: &'static str = "output_path";

    fn lint(node: &LintNode<'_>, _: &dyn Files, report: &mut Report) {
        lint_scale(node, Some((1.0, 5.0)), report);
    }

    fn threshold(&self) -> Option<f64> {
        Some(self.pass_threshold)
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let files = [&self.output_path, &self.soul_path].into_iter().filter_map(|path| scope.first_file(path, context));
        files.map(Need::Files).chain(self.need(scope, context).map(Need::Scores)).collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        for (field, path) in [("output_path", &self.output_path), ("soul_path", &self.soul_path)] {
            let (path, found) = seen.first_file(field, path, Until::TimeLimit)?;
            if let Found::No(proof) = found {
                return Err(seen.missing(field, &path, proof, format!("Missing output or SOUL file: {path}")));
            }
        }
        let Some(want) = self.need(seen.scope, seen.act.context()) else {
            return Err(Row::unknown("rubric", NO_VALUE));
        };
        let bar = ScoreThreshold {
            field: "soul_path",
            name: "Identity",
            least: self.pass_threshold,
            most: end_of_scale(&want.rubric, self.pass_threshold),
            runs: ConsistencyRuns::default(),
        };
        Ok(bar.judge(seen.replies(&want)?, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::{end_of_scale, read, why_unscored};

    #[test]
    fn gateway_without_a_judge_is_told_how_to_get_one() {
        let reason = |error: &str| why_unscored(Some(format!("the judge did not answer: {error}")));
        assert!(reason("http://g/qa/judge responded with status 404").contains("`judge: anthropic/"));
        assert!(!reason("http://g/qa/judge responded with status 500").contains("`judge`"));
    }

    #[test]
    fn score_beyond_the_scale_of_the_rubric_is_none() {
        let score = |rubric: &str, least: f64, value: &str| {
            read(&format!("{{\"score\": {value}}}"), end_of_scale(rubric, least)).map(|score| score.value)
        };
        for (rubric, least, value, is_valid) in [
            ("Score 1-5 for clarity.", 3.0, "5", true),
            ("Score 1-5 for clarity.", 3.0, "100", false),
            ("Is it polite?", 3.0, "5.5", false),
            ("Score 1 to 10.", 7.0, "9", true),
            ("Score 1 to 10.", 7.0, "90", false),
            ("Give the percentage (0-100%).", 80.0, "93", true),
            ("How many % are correct?", 80.0, "93", true),
            ("Is it polite?", 80.0, "93", true),
        ] {
            assert_eq!(score(rubric, least, value).is_ok(), is_valid, "{rubric} {value}");
        }
    }
}
