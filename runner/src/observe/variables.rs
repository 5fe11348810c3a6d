//! Reads which environment variables are set.

use speclens_schema::evidence::{Answer, Presence, VariablesNeed};

use super::View;

pub(super) fn observe(need: &VariablesNeed, view: &View) -> Answer {
    let presence = |name: &String| match view.environment.get(name) {
        None => Presence::Absent,
        Some(value) if value.is_empty() => Presence::Empty,
        Some(_) => Presence::Set,
    };
    Answer::Variables(need.names.iter().map(|name| (name.clone(), presence(name))).collect())
}
