//! What a model thinks of a text.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Value, json};

use crate::{
    dialect::clawspec::claim::{AssertionType, Row, Scope, Seen, mismatch, plain},
    evidence::{Address, Context, Need, ScoreAnswer, ScoreNeed},
    words::{Artifact, RunText},
};

/// The place at the gateway that gives scores.
const JUDGE: &str = "/qa/judge";

/// A model scores a file by an instruction, and the score is good enough.
///
/// ```yaml
/// - type: llm_judge
///   path: memory/drafts/{{today}}-output.md
///   rubric: "Score 1-5: Is this email persuasive and brand-safe?"
///   pass_threshold: 4
/// ```
///
/// ClawSpec only warns when the score is too low. A judge that does not answer skips the assertion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LlmJudge {
    /// The file; the first match where the path has wildcards.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// The instruction for the model. Name the scale: scores usually go from 1 to 5.
    #[schemars(extend("examples" = ["Score 1-5: Is this clear and safe?"]))]
    pub rubric: RunText,
    /// The least score that passes.
    #[serde(default = "pass_threshold")]
    pub pass_threshold: f64,
    /// The heading of the only section that is scored. For ClawSpec the whole file is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "examples" = ["Hook"]))]
    pub section: Option<RunText>,
    /// Whether the model is asked several times.
    ///
    /// `true` asks three times, and each score must be good enough. A mapping says how often, and how many of the scores
    /// must be: one, where it does not say. ClawSpec knows the mapping only.
    ///
    /// ```yaml
    /// consistency: { runs: 5, min_passes: 4 }
    /// ```
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<Consistency>,
    /// Where the model is asked. Not in the reference; ClawSpec reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["http://localhost:18789/qa/judge"]))]
    pub endpoint: Option<RunText>,
}

fn pass_threshold() -> f64 {
    3.0
}

/// Whether a model is asked several times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Consistency {
    /// `true`, `false`.
    Simple(bool),
    /// How often, and how many of the scores must be good enough.
    Runs(ConsistencyRuns),
}

/// How often a model is asked, and how many of its scores must be good enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ConsistencyRuns {
    /// How often the model is asked.
    #[schemars(range(min = 1, max = 100))]
    pub runs: u32,
    /// How many scores must be good enough.
    #[schemars(range(min = 1, max = 100))]
    pub min_passes: u32,
}

impl Default for ConsistencyRuns {
    fn default() -> ConsistencyRuns {
        ConsistencyRuns { runs: 1, min_passes: 1 }
    }
}

impl Consistency {
    fn runs(self) -> ConsistencyRuns {
        match self {
            Consistency::Simple(false) => ConsistencyRuns::default(),
            Consistency::Simple(true) => ConsistencyRuns { runs: 3, min_passes: 3 },
            Consistency::Runs(runs) => runs,
        }
    }
}

impl<'de> Deserialize<'de> for Consistency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Consistency, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(value) => Ok(Consistency::Simple(value)),
            value => ConsistencyRuns::deserialize(value).map(Consistency::Runs).map_err(D::Error::custom),
        }
    }
}

impl Serialize for Consistency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Consistency::Simple(value) => value.serialize(serializer),
            Consistency::Runs(runs) => runs.serialize(serializer),
        }
    }
}

impl JsonSchema for Consistency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Consistency".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let runs = generator.subschema_for::<ConsistencyRuns>();
        let schema = json!({
            "type": ["boolean", "object"],
            "if": { "type": "object" },
            "then": runs,
        });
        schemars::Schema::try_from(schema).unwrap_or_default()
    }
}

impl LlmJudge {
    fn runs(&self) -> ConsistencyRuns {
        self.consistency.map_or_else(ConsistencyRuns::default, Consistency::runs)
    }

    fn need(&self, scope: &Scope, context: &Context) -> Option<ScoreNeed> {
        let expand = |text: &str| scope.expand(text, context).ok();
        let section = match &self.section {
            Some(section) => Some(expand(section)?),
            None => None,
        };
        Some(ScoreNeed {
            endpoint: endpoint(self.endpoint.as_ref(), scope, context)?,
            rubric: expand(&self.rubric)?,
            path: expand(&self.path)?,
            section,
            identity: None,
            moment: scope.moment,
            times: self.runs().runs,
        })
    }
}

fn endpoint(written: Option<&RunText>, scope: &Scope, context: &Context) -> Option<Address> {
    match written {
        None => Some(Address::Gateway(JUDGE.to_owned())),
        Some(endpoint) => scope.expand(endpoint, context).ok().map(Address::Url),
    }
}

/// The scores, as many as were to be given. A judge that fails skips the assertion.
fn scores(answer: &ScoreAnswer, times: u32) -> Result<&[f64], Row> {
    if let Some(scores) = answer.scores.get(..times as usize) {
        return Ok(scores);
    }
    match &answer.error {
        Some(reason) => Err(Row::skip("rubric", reason.clone())),
        None => {
            Err(Row::unknown("rubric", format!("the judge was asked {} times only: run again", answer.scores.len())))
        }
    }
}

impl AssertionType for LlmJudge {
    const NAME: &'static str = "llm_judge";

    fn subject(&self) -> String {
        self.path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs: Vec<Need> = scope.first_file(&self.path, context).map(Need::Files).into_iter().collect();
        needs.extend(self.need(scope, context).filter(|need| need.times > 0).map(Need::Scores));
        needs
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let (path, file) = seen.first_file("path", &self.path)?;
        let Some(file) = file else {
            let mut mismatch = mismatch(format!("Artifact not found: {path}"), format!("{path} is there"), "nothing");
            mismatch.help = seen.help_for_missing(&path);
            return Ok(Row::fail("path", mismatch));
        };
        if let Some(section) = &self.section {
            let section = seen.expand("section", section)?;
            let text = seen.text("path", file)?;
            if crate::check::headings::section(text.text, &section).is_none() {
                let message = format!("`{}` has no section `{section}`", file.path);
                return Ok(Row::fail("section", mismatch(message, section, "no such heading")).unless(text.doubt));
            }
        }
        let runs = self.runs();
        if runs.runs == 0 {
            return Err(Row::skip("consistency", "consistency.runs is 0; no scores collected"));
        }
        let Some(want) = self.need(seen.scope, &seen.evidence.context) else {
            return Err(Row::unknown("rubric", "a template has no value in this run"));
        };
        let scores = scores(seen.scores(&want)?, runs.runs)?;
        let least = self.pass_threshold;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let good = scores.iter().filter(|score| **score >= least).count();
        if good >= runs.min_passes as usize {
            return Ok(Row::pass("pass_threshold").with_score(mean));
        }
        let mut message = format!("Judge score {mean:.2} below threshold {least:.2}");
        if scores.len() > 1 {
            message.push_str(&format!(
                ": {good} of {} scores are good enough, {} are needed",
                scores.len(),
                runs.min_passes
            ));
        }
        let given: Vec<String> = scores.iter().map(|score| plain(*score)).collect();
        let mismatch = mismatch(message, format!("at least {}", plain(least)), given.join(", "));
        Ok(Row::short("pass_threshold", mismatch, seen.scope).with_score(mean))
    }
}

/// A text fits the agent that wrote it, as its `SOUL.md` describes it.
///
/// ```yaml
/// - type: agent_identity_consistent
///   output_path: memory/drafts/{{today}}-output.md
///   soul_path: agents/marketing/brand/SOUL.md
/// ```
///
/// A model scores how well. ClawSpec only warns when the score is too low. A judge that does not answer makes
/// the claim skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AgentIdentityConsistent {
    /// The file that the agent wrote; the first match where the path has wildcards.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub output_path: Artifact,
    /// The agent's `SOUL.md`.
    #[schemars(extend("x-file" = "markdown", "examples" = ["agents/marketing/brand/SOUL.md"]))]
    pub soul_path: Artifact,
    /// The instruction for the model. Not in the reference; ClawSpec reads it.
    #[serde(default = "identity_rubric")]
    pub rubric: RunText,
    /// The least score that passes. Not in the reference; ClawSpec reads it.
    #[serde(default = "pass_threshold")]
    pub pass_threshold: f64,
    /// Where the model is asked. Not in the reference; ClawSpec reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["http://localhost:18789/qa/judge"]))]
    pub endpoint: Option<RunText>,
}

fn identity_rubric() -> RunText {
    RunText::from("Score 1-5 for identity fidelity.")
}

impl AgentIdentityConsistent {
    fn need(&self, scope: &Scope, context: &Context) -> Option<ScoreNeed> {
        let expand = |text: &str| scope.expand(text, context).ok();
        Some(ScoreNeed {
            endpoint: endpoint(self.endpoint.as_ref(), scope, context)?,
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

    fn subject(&self) -> String {
        self.output_path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let files = [&self.output_path, &self.soul_path].into_iter().filter_map(|path| scope.first_file(path, context));
        files.map(Need::Files).chain(self.need(scope, context).map(Need::Scores)).collect()
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        for (field, path) in [("output_path", &self.output_path), ("soul_path", &self.soul_path)] {
            let (path, file) = seen.first_file(field, path)?;
            if file.is_none() {
                let message = format!("Missing output or SOUL file: {path}");
                let mut mismatch = mismatch(message, format!("{path} is there"), "nothing");
                mismatch.help = seen.help_for_missing(&path);
                return Ok(Row::fail(field, mismatch));
            }
        }
        let Some(want) = self.need(seen.scope, &seen.evidence.context) else {
            return Err(Row::unknown("rubric", "a template has no value in this run"));
        };
        let score = scores(seen.scores(&want)?, 1)?[0];
        let least = self.pass_threshold;
        if score >= least {
            return Ok(Row::pass("soul_path").with_score(score));
        }
        let message = format!("Identity score {score:.2} below threshold {least:.2}");
        let mismatch = mismatch(message, format!("at least {}", plain(least)), plain(score));
        Ok(Row::short("soul_path", mismatch, seen.scope).with_score(score))
    }
}
