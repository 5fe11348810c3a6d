//! Recordings that were not made by a run.

use std::{path::Path, sync::Arc};

use speclens_runner::{
    evidence_store::{AttemptRef, EvidenceStore},
    files::DiskFiles,
    recording::{Recorded, beginning_us},
};
use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{CommandLog, Ended, Evidence},
    json_schema::SpecFile,
    mask::Secrets,
    settings::Settings,
    suite::Suite,
};

const NOW: &str = "2026-05-14T12:00:00Z";

/// Writes a recording for every case of a cli-bench suite in which the agent ended without running a command. Returns
/// the suite and its store.
pub(crate) fn idle_agents(directory: &Path, place: &str) -> (Suite, EvidenceStore) {
    let text = std::fs::read_to_string(directory.join(place)).unwrap();
    let document = Document::read(&text, SpecFile::CLI_BENCH.scalar_rules());
    let (files, settings) = (DiskFiles::new(directory, place), Settings::default());
    let suite = Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files, &settings).suite;
    let store = EvidenceStore::of(&settings, directory, place, || None);
    for case in &suite.cases {
        for subject in case.action.subjects() {
            let attempt_ref = AttemptRef { suite: &suite, case, subject: &subject, repeat: 0 };
            let evidence = Evidence {
                commands: Some(CommandLog::default()),
                ended: Some(Ended::Done),
                duration_ms: Some(5.0),
                ..Evidence::default()
            };
            let recorded = Recorded {
                key: attempt_ref.key(),
                act: case.action.parts(suite.dialect.as_str(), &subject, &suite.inputs(&case.action)),
                began_us: beginning_us(),
                now: NOW.to_owned(),
                evidence: Arc::new(evidence),
                notes: Vec::new(),
            };
            store.add(attempt_ref, recorded, &Arc::new(Secrets::none()), |_| ());
        }
    }
    (suite, store)
}
