use crate::{
    dialect::cli_bench::facts::{About, SuiteFacts, tasks},
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::Code,
    relations::Items,
};

/// An intent without a specific request.
#[derive(Debug)]
struct VagueIntent;

/// Request of an intent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum IntentRequest {
    /// No intent, or a blank one.
    #[default]
    Absent,
    /// No specific request.
    Idle,
    /// No specific request, if this is the name of the program.
    About(String),
    /// A specific request.
    Clear,
}

/// Checks the intents of all tasks.
pub(crate) fn check_relations(items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    for (index, task) in tasks(items, About::IntentRequest) {
        if let Some(intent) = task.intent.as_ref().filter(|_| task.request.is_vague(suite.cli.as_deref())) {
            let (at, range) = items.place(index, intent);
            report.push(Finding::new(VagueIntent, at, range));
        }
    }
}

/// Words that do not state a request.
const IDLE: [&str; 60] = [
    "a", "an", "and", "any", "anything", "app", "application", "as", "basic", "binary", "check", "cli", "command",
    "commands", "do", "execute", "explore", "feature", "features", "for", "how", "in", "invoke", "is", "it", "its",
    "just", "line", "make", "of", "out", "perform", "play", "please", "program", "run", "see", "some", "something",
    "stuff", "task", "test", "that", "the", "this", "thing", "things", "to", "tool", "try", "use", "using", "utility",
    "with", "work", "works", "you", "your", "around", "correctly",
];

impl IntentRequest {
    /// Returns the request of an intent.
    pub(crate) fn of(intent: &str) -> IntentRequest {
        let lower = intent.to_lowercase();
        if lower.trim().is_empty() {
            return IntentRequest::Absent;
        }
        let words = lower.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
        let mut wanted = words.filter(|word| !word.is_empty() && !IDLE.contains(word));
        let Some(first) = wanted.next() else { return IntentRequest::Idle };
        if wanted.all(|word| word.eq_ignore_ascii_case(first)) {
            IntentRequest::About(first.to_owned())
        } else {
            IntentRequest::Clear
        }
    }

    /// Whether the intent may be vague depending on the name of the program.
    pub(crate) fn may_be_vague(&self) -> bool {
        match self {
            IntentRequest::Idle | IntentRequest::About(_) => true,
            IntentRequest::Absent | IntentRequest::Clear => false,
        }
    }

    /// Whether the intent has no specific request: apart from the program, it contains no word that states one.
    fn is_vague(&self, cli: Option<&str>) -> bool {
        match self {
            IntentRequest::Idle => true,
            IntentRequest::About(word) => cli.is_some_and(|cli| cli.eq_ignore_ascii_case(word)),
            IntentRequest::Absent | IntentRequest::Clear => false,
        }
    }
}

impl Rule for VagueIntent {
    const CODE: Code = Code::VagueIntent;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("the intent states no outcome").help("describe what the model must achieve or find out")
    }
}

#[cfg(test)]
mod tests {
    use super::IntentRequest;

    #[test]
    fn an_intent_without_an_outcome_is_vague() {
        for vague in ["use the tool", "Use git", "Run the git command", "Try it out, please.", "Do something with git"]
        {
            assert!(IntentRequest::of(vague).is_vague(Some("git")), "{vague}");
        }
        for clear in
            ["Show the history", "Use git to find who wrote line 3", "", "Liste alle Zweige auf", "Run the tests"]
        {
            assert!(!IntentRequest::of(clear).is_vague(Some("git")), "{clear}");
        }
    }
}
