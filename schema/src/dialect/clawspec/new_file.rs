//! New files of a ClawSpec workspace, in place of missing ones that contracts name.

use super::rules::contract;
use crate::{
    gateway::config::Config,
    new_file::{Template, filled},
    quoting::scalar,
};

pub(crate) const GOLDEN: Template = Template::File(|_| include_str!("new_file/golden.md.txt").to_owned());

pub(crate) const SKILL: Template =
    Template::File(|path| filled(include_str!("new_file/SKILL.md.txt"), &[("%name%", &scalar(name_of(path)))]));

/// The definition of an agent.
pub(crate) const SOUL: Template =
    Template::File(|path| filled(include_str!("new_file/SOUL.md.txt"), &[("%name%", name_of(path))]));

pub(crate) const SCENARIOS: Template = Template::File(|path| scenarios(target_of(path), name_of(path)));

pub(crate) const PIPELINE: Template = Template::File(|path| {
    let name = name_of(path);
    let (shown, target, trigger) = (scalar(name), scalar(target_of(path)), scalar(&format!("/{name}")));
    let values = [("%name%", &*shown), ("%path%", &*target), ("%trigger%", &*trigger)];
    filled(include_str!("new_file/pipeline.yaml.txt"), &values)
});

pub(crate) const HANDOFF: Template = Template::File(handoff);

fn name_of(path: &str) -> &str {
    let target = target_of(path);
    target.rsplit('/').next().unwrap_or(target)
}

/// Returns the tested directory: `skills/demo` for `skills/demo/tests/scenarios.yaml`.
fn target_of(path: &str) -> &str {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let target = directory.split_once("/tests").map_or(directory, |(target, _)| target);
    if target.is_empty() { "skills/demo" } else { target }
}

fn scenarios(target: &str, name: &str) -> String {
    let (kind, trigger) = match target.split('/').next() {
        Some("agents") => ("agent", scalar(name)),
        Some(_) | None => ("skill", scalar(&format!("/{name}"))),
    };
    let values = [("%kind%", kind), ("%path%", &scalar(target)), ("%trigger%", &trigger)];
    let mut text = filled(include_str!("new_file/scenarios.yaml.txt"), &values);
    let log_path = Config::default().log_path();
    text.extend(contract::negative_scenario(&log_path).map(|line| format!("  {line}\n")));
    text
}

fn handoff(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let (from, to) = stem.split_once("-to-").unwrap_or(("lead", stem));
    let values = [("%from%", &*scalar(from)), ("%to%", &*scalar(to))];
    filled(include_str!("new_file/handoff.yaml.txt"), &values)
}
