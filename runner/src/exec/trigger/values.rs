//! What the templates of a contract stand for, before and after the act.

use std::{collections::BTreeMap, path::Path};

use speclens_schema::{
    dialect::clawspec::template::QA_INBOX,
    evidence::{Context, TemplateValues},
};
use uuid::Uuid;

use super::World;
use crate::{clock::Clock, gateway::Gateway};

/// The circumstances of an attempt that begins now. `run_id` is that of a run which was started elsewhere; without one,
/// `starts` says whether this attempt starts a run, which gets an id then.
pub(crate) fn begun(clock: Clock, directory: &Path, gateway: &Gateway, run_id: Option<&str>, starts: bool) -> Context {
    let run_id = match run_id {
        Some(run_id) => run_id.to_owned(),
        None if starts => Uuid::new_v4().to_string(),
        None => String::new(),
    };
    let now = clock.seconds();
    let before = values(clock, directory, gateway, &run_id, &now);
    let templates = TemplateValues { before, after: BTreeMap::new(), utc_offset_s: Some(clock.utc_offset_s()) };
    Context { started: clock.now(), run_id, templates: Some(templates), ..Context::default() }
}

/// The same when the act has ended. `run_id` is the id of the run, where it is another than it was given.
pub(super) fn ended(mut context: Context, run_id: Option<String>, gateway: &Gateway, world: World<'_>) -> Context {
    if let Some(run_id) = run_id {
        context.run_id = run_id;
    }
    let mut templates = context.templates.take().unwrap_or_default();
    let started = templates.before.get("run_started_at").cloned().unwrap_or_default();
    templates.after = values(world.clock, world.directory, gateway, &context.run_id, &started);
    context.templates = Some(templates);
    context
}

fn values(clock: Clock, directory: &Path, gateway: &Gateway, run_id: &str, started: &str) -> BTreeMap<String, String> {
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let (today, now) = (clock.day(), clock.seconds());
    let mut values = BTreeMap::from([
        ("gateway_log_path", gateway.log_pattern.replace("{date}", &today)),
        ("today", today),
        ("now", now),
        ("repo_root", directory.to_string_lossy().into_owned()),
        ("qa_inbox", QA_INBOX.to_owned()),
        ("run_started_at", started.to_owned()),
    ]);
    if !run_id.is_empty() {
        values.insert("run_id", run_id.to_owned());
    }
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use speclens_schema::dialect::clawspec::config::Config;

    use super::*;

    #[test]
    fn run_gets_an_id_of_its_own_and_one_that_is_not_started_here_has_none_unless_it_is_named() {
        let clock = Clock::fixed("2026-05-14T12:00:00.5Z").expect("a time");
        let gateway = Gateway::of(&Config::default(), |_| None, None);
        let begun = |run_id, starts| begun(clock, Path::new("/ws"), &gateway, run_id, starts);
        let (one, two) = (begun(None, true), begun(None, true));
        assert_ne!(one.run_id, two.run_id);
        let values = one.templates.expect("values").before;
        for (name, value) in [
            ("today", "2026-05-14"),
            ("now", "2026-05-14T12:00:00Z"),
            ("run_started_at", "2026-05-14T12:00:00Z"),
            ("repo_root", "/ws"),
            ("qa_inbox", "lumina.qa@agentmail.to"),
            ("run_id", one.run_id.as_str()),
            ("gateway_log_path", "/tmp/openclaw/openclaw-2026-05-14.log"),
        ] {
            assert_eq!(values.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(begun(None, false).templates.expect("values").before.get("run_id"), None);
        assert_eq!(begun(Some("r1"), false).run_id, "r1");
    }
}
