//! What all ways of starting a target share, and the values of its templates before and after the act.

use std::{collections::BTreeMap, path::Path, time::Duration};

use speclens_schema::{
    evidence::{Context, Evidence, RunError, RunErrorKind, TemplateValues},
    gateway::trigger::Filled,
    suite::TriggerAction,
    template::KnownValue,
    template_syntax,
};
use uuid::Uuid;

use crate::{
    clock::{Clock, SuspendAwareTimer},
    exec::ActionContext,
    gateway::Gateway,
    observe::View,
};

#[derive(Clone, Copy)]
pub(super) struct TriggerContext<'a> {
    pub(super) action: &'a TriggerAction,
    pub(super) filled: &'a Filled,
    pub(super) gateway: &'a Gateway,
    pub(super) action_context: ActionContext<'a>,
    pub(super) view: &'a View,
    pub(super) timer: SuspendAwareTimer,
}

impl TriggerContext<'_> {
    pub(super) fn limit(&self) -> Duration {
        Duration::from_millis(self.action.timeout_ms)
    }

    pub(super) fn left(&self) -> Duration {
        self.limit().saturating_sub(self.timer.elapsed())
    }

    /// Returns the context after the act. `run_id` is the id of the run, if it is not the one that was sent.
    pub(super) fn ended(&self, context: Context, run_id: Option<String>) -> Context {
        ended(context, run_id, self.gateway, self.action_context.job.clock, &self.action_context.job.directory)
    }
}

/// The evidence that is known once a target was started.
pub(super) struct Triggered {
    pub(super) evidence: Evidence,
    pub(super) run_id: Option<String>,
    pub(super) notes: Vec<String>,
}

pub(super) fn cancelled() -> RunError {
    let message = "cancelled before the run ended: the gateway may continue it".to_owned();
    RunError { kind: RunErrorKind::Cancelled, message }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownRun {
    pub(crate) run_id: Option<String>,
    pub(crate) started: Option<String>,
}

/// Returns the context of an attempt that begins now: it starts a run, unless a run that was started elsewhere is
/// given.
pub(crate) fn begun(clock: Clock, directory: &Path, gateway: &Gateway, known: Option<&KnownRun>) -> Context {
    let (run_id, started) = match known {
        Some(known) => (known.run_id.clone().unwrap_or_default(), known.started.clone()),
        None => (Uuid::new_v4().to_string(), Some(clock.seconds())),
    };
    let before = values(clock, directory, gateway, &run_id, started);
    let templates = TemplateValues { before, after: BTreeMap::new(), utc_offset_s: Some(clock.utc_offset_s()) };
    Context { started: clock.now(), run_id, templates: Some(templates), ..Context::default() }
}

/// Returns the context after the act. `run_id` is the id of the run, if it is not the one that was sent.
pub(super) fn ended(
    mut context: Context,
    run_id: Option<String>,
    gateway: &Gateway,
    clock: Clock,
    directory: &Path,
) -> Context {
    if let Some(run_id) = run_id {
        context.run_id = run_id;
    }
    let mut templates = context.templates.take().unwrap_or_default();
    let started = templates.before.get("run_started_at").cloned();
    templates.after = values(clock, directory, gateway, &context.run_id, started);
    context.templates = Some(templates);
    context
}

fn values(
    clock: Clock,
    directory: &Path,
    gateway: &Gateway,
    run_id: &str,
    started: Option<String>,
) -> BTreeMap<String, String> {
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let (today, now) = (clock.day(), clock.seconds());
    let mut values = BTreeMap::from([
        ("gateway_log_path", gateway.log_pattern.replace("{date}", &today)),
        ("today", today),
        ("now", now),
        ("repo_root", directory.to_string_lossy().into_owned()),
    ]);
    values.extend(template_syntax::known_values().filter_map(|(name, value)| match value {
        KnownValue::Text(text) => Some((name, text.to_owned())),
        KnownValue::Date | KnownValue::Time | KnownValue::Root => None,
    }));
    values.extend(started.map(|started| ("run_started_at", started)));
    if !run_id.is_empty() {
        values.insert("run_id", run_id.to_owned());
    }
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use speclens_schema::gateway::config::Config;

    use super::*;

    #[test]
    fn run_gets_an_id_of_its_own_and_one_that_is_not_started_here_has_none_unless_it_is_named() {
        let clock = Clock::fixed("2026-05-14T12:00:00.5Z").expect("a time");
        let gateway = Gateway::of(&Config::default(), |_| None, None);
        let begun = |known| begun(clock, Path::new("/ws"), &gateway, known);
        let (one, two) = (begun(None), begun(None));
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
        let nothing = KnownRun::default();
        let unknown = begun(Some(&nothing)).templates.expect("values").before;
        assert_eq!((unknown.get("run_id"), unknown.get("run_started_at")), (None, None));
        let known = KnownRun { run_id: Some("r1".to_owned()), started: None };
        assert_eq!(begun(Some(&known)).run_id, "r1");
    }

    #[test]
    fn day_of_a_run_over_midnight_is_that_of_its_end_under_then_and_its_beginning_stays() {
        let at = |text| Clock::fixed(text).expect("a time");
        let gateway = Gateway::of(&Config::default(), |_| None, None);
        let before = begun(at("2026-05-14T23:59:59Z"), Path::new("/ws"), &gateway, None);
        let run_id = Some("run-1".to_owned());
        let after = ended(before, run_id, &gateway, at("2026-05-15T00:00:01Z"), Path::new("/ws"));
        let TemplateValues { before, after: values, .. } = after.templates.expect("values");
        let of = |values: &BTreeMap<String, String>, name: &str| values.get(name).cloned().unwrap_or_default();
        for (name, earlier, later) in [
            ("today", "2026-05-14", "2026-05-15"),
            ("now", "2026-05-14T23:59:59Z", "2026-05-15T00:00:01Z"),
            ("run_started_at", "2026-05-14T23:59:59Z", "2026-05-14T23:59:59Z"),
        ] {
            assert_eq!((of(&before, name).as_str(), of(&values, name).as_str()), (earlier, later), "{name}");
        }
        assert_ne!(of(&before, "run_id"), "run-1");
        assert_eq!((of(&values, "run_id").as_str(), after.run_id.as_str()), ("run-1", "run-1"));
    }
}
