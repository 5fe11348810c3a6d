//! Parameters of a scenario that cannot be sent.

use crate::{
    dialect::clawspec::facts::Items,
    finding::{Finding, Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

/// Something else than text where the text for an agent is looked for.
#[derive(Debug)]
struct TaskNotText;

/// Looks at what the scenarios of an agent send.
pub(crate) fn check_params(root: &Spot<'_>, scenarios: Items<'_>, report: &mut Report) {
    if root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent")) {
        for (index, params) in scenarios.all().filter_map(|(index, facts)| Some((index, facts.params.as_ref()?))) {
            if params.is_task {
                let (at, range) = scenarios.place(index, &params.place);
                report.push(Finding::new(TaskNotText, at, range));
            }
        }
    }
}

impl Rule for TaskNotText {
    fn code(&self) -> Code {
        Code::WrongType
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("what is sent to an agent must be text: put it in quotes")
    }
}
