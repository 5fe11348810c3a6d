//! Arguments of KindLM that only `-0` equals.

use crate::{
    dialect::kindlm::parts::TestParts,
    finding::{Location, MessageParts, Report, Rule},
    problem::{Code, Fix},
};

/// `-0`.
#[derive(Debug)]
struct NegativeZero;

/// Checks the arguments of expected calls.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    for call in parts.calls().filter(|call| !call.is_forbidden) {
        for (_, arg) in call.call.get("argsMatch").map(|args| args.entries()).unwrap_or_default() {
            let is_negative = arg.node.text().is_some_and(|text| text.starts_with('-'));
            if is_negative && arg.number() == Some(0.0) {
                report.push(arg.finding(NegativeZero));
            }
        }
    }
}

impl Rule for NegativeZero {
    const CODE: Code = Code::AmbiguousScalar;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        MessageParts::new("`-0` matches only an argument that is `-0`")
            .note("KindLM does not count `0` as equal to `-0`")
            .remedy("write `0`", Fix::guess, location.replaced("0"))
    }
}
