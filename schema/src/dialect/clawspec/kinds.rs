//! The kinds of files of the format.

use super::{
    ClawSpec,
    baselines::Baselines,
    contracts::{HandoffContract, PipelineContract, ScenarioContract},
    coverage::{self, CoverageLedger},
    signs,
};
use crate::{
    document::NodeRef,
    format::Dialect,
    gateway::config::Config,
    json_schema::generate,
    problem::Code,
    spec_file::{Cases, DiscoveryRule, Empty, FileOwner, FilePatterns, Kind, SpecFile, SymbolName, SymbolSource},
};

impl Dialect {
    /// ClawSpec: scenarios, handoffs, pipelines, and related files.
    pub const CLAWSPEC: Dialect = Dialect::of(&ClawSpec);
}

const FILE: Kind = Kind {
    owner: FileOwner::Of(Dialect::CLAWSPEC),
    empty: Empty::Incomplete("begin it with `version: \"1.0\"`"),
    ..Kind::PLAIN
};

impl SpecFile {
    /// A scenario contract: `tests/scenarios.yaml`.
    pub const CLAWSPEC_SCENARIOS: SpecFile = SpecFile::of(&Kind {
        name: "clawspec-scenarios",
        title: "ClawSpec scenarios",
        singular: "ClawSpec scenario file",
        names: FilePatterns::Perhaps(&["**/tests/scenarios.yaml"]),
        signs: &signs::Scenarios,
        cases: Cases::List("scenarios"),
        discovery: DiscoveryRule::Matched,
        symbols: SymbolSource::Cases,
        schema: generate::<ScenarioContract>,
        committed: || Some(include_str!("../../../json/clawspec-scenarios.schema.json")),
        ..FILE
    });

    /// A handoff contract: `tests/handoffs/*.yaml`.
    pub const CLAWSPEC_HANDOFF: SpecFile = SpecFile::of(&Kind {
        name: "clawspec-handoff",
        title: "ClawSpec handoff",
        singular: "ClawSpec handoff",
        names: FilePatterns::Perhaps(&["**/tests/handoffs/*.yaml", "**/tests/handoffs/*.yml"]),
        signs: &signs::Handoff,
        cases: Cases::Whole(|root| {
            let handoff = root.get("handoff")?;
            Some(format!("{} to {}", handoff.get("from")?.as_str()?, handoff.get("to")?.as_str()?))
        }),
        // The result of an agent exists after its pipeline has run, which judges the handoffs of its stages.
        discovery: DiscoveryRule::Declared,
        symbols: SymbolSource::At(handoff),
        schema: generate::<HandoffContract>,
        committed: || Some(include_str!("../../../json/clawspec-handoff.schema.json")),
        ..FILE
    });

    /// A pipeline contract: `tests/pipeline.yaml`.
    pub const CLAWSPEC_PIPELINE: SpecFile = SpecFile::of(&Kind {
        name: "clawspec-pipeline",
        title: "ClawSpec pipeline",
        singular: "ClawSpec pipeline",
        names: FilePatterns::Perhaps(&[
            "**/tests/pipeline.yaml", "**/tests/pipelines/*.yaml", "**/tests/pipelines/*.yml",
        ]),
        signs: &signs::Pipeline,
        cases: Cases::Whole(|root| Some(root.get("pipeline")?.get("name")?.as_str()?.to_owned())),
        symbols: SymbolSource::At(pipeline),
        schema: generate::<PipelineContract>,
        committed: || Some(include_str!("../../../json/clawspec-pipeline.schema.json")),
        ..FILE
    });

    /// The settings of a ClawSpec workspace: `clawspec.yaml`.
    pub const CLAWSPEC: SpecFile = SpecFile::of(&Kind {
        name: "clawspec",
        title: "ClawSpec settings",
        singular: "ClawSpec settings file",
        heading: Some("clawspec.yaml"),
        names: FilePatterns::Surely(&["**/clawspec.yaml", "**/clawspec.yml"]),
        owner: FileOwner::SettingsOf(Dialect::CLAWSPEC),
        empty: Empty::Defaults(Code::NoEffect),
        schema: generate::<Config>,
        committed: || Some(include_str!("../../../json/clawspec.schema.json")),
        ..FILE
    });

    /// A coverage ledger: `coverage-ledger.yaml`.
    pub const CLAWSPEC_LEDGER: SpecFile = SpecFile::of(&Kind {
        name: "clawspec-ledger",
        title: "ClawSpec coverage ledger",
        singular: "ClawSpec coverage ledger",
        names: FilePatterns::Perhaps(&["**/coverage-ledger.yaml"]),
        signs: &signs::Ledger,
        empty: Empty::Incomplete("begin it with `waves:`"),
        symbols: SymbolSource::At(ledger),
        contract: |place, mut around| {
            let entry = Iterator::find(&mut around, |node| node.get("contracts").is_some())?;
            coverage::contract_of(entry, place)
        },
        schema: generate::<CoverageLedger>,
        committed: || Some(include_str!("../../../json/clawspec-ledger.schema.json")),
        ..FILE
    });

    /// Baselines of earlier runs: `tests/baselines.yaml`.
    pub const CLAWSPEC_BASELINES: SpecFile = SpecFile::of(&Kind {
        name: "clawspec-baselines",
        title: "ClawSpec baselines",
        singular: "ClawSpec baseline file",
        names: FilePatterns::Perhaps(&["**/tests/baselines.yaml"]),
        signs: &signs::Baselines,
        keys_are_names: true,
        symbols: SymbolSource::At(|_| Vec::new()),
        contract: |place, _| {
            Some(match place.rsplit_once('/') {
                Some((directory, _)) => format!("{directory}/scenarios.yaml"),
                None => "scenarios.yaml".to_owned(),
            })
        },
        schema: generate::<Baselines>,
        committed: || Some(include_str!("../../../json/clawspec-baselines.schema.json")),
        ..FILE
    });
}

fn handoff(root: NodeRef<'_>) -> Vec<SymbolName<'_>> {
    let Some(handoff) = root.get("handoff") else { return Vec::new() };
    let text = |key: &str| handoff.get(key).and_then(NodeRef::text).unwrap_or("?");
    let name = format!("{} → {}", text("from"), text("to"));
    let node = handoff.get("from").or(handoff.get("to"));
    node.map(|node| SymbolName { name, below: "handoff".to_owned(), node }).into_iter().collect()
}

fn pipeline(root: NodeRef<'_>) -> Vec<SymbolName<'_>> {
    let own = root.get("pipeline").and_then(|pipeline| SymbolName::of(pipeline.get("name")?, "pipeline"));
    let stages = root.get("stages").into_iter().flat_map(NodeRef::items);
    own.into_iter().chain(stages.filter_map(|stage| SymbolName::of(stage.get("name")?, "stages"))).collect()
}

fn ledger(root: NodeRef<'_>) -> Vec<SymbolName<'_>> {
    let waves = root.get("waves").into_iter().flat_map(NodeRef::entries);
    let entries = waves.flat_map(|wave| {
        let items = wave.value.get("items").into_iter().flat_map(NodeRef::items);
        items.filter_map(move |item| SymbolName::of(item.get("id")?, &wave.key.key_text()))
    });
    entries.collect()
}
