use crate::{
    dialect::kindlm::parts::TestParts,
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// A test of KindLM whose `expect` is empty.
#[derive(Debug)]
struct NoClaims;

/// Checks that a test or one of its turns has an expectation.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    let expect = parts.test.get("expect");
    let Some(expect) = expect.filter(|expect| expect.is_mapping() && expect.is_empty()) else { return };
    if !parts.turns.iter().any(|turn| turn.get("expect").is_some_and(|expect| !expect.is_empty())) {
        report.push(expect.head_finding(NoClaims));
    }
}

impl Rule for NoClaims {
    const CODE: Code = Code::NoClaims;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("`expect` has no expectations, so this test always passes")
            .help("add an expectation, such as `output: { contains: [...] }`")
    }
}
