use crate::{
    document::NodeRef,
    edit,
    finding::{Location, MessageParts, Report, Rule},
    problem::{Code, Fix},
    walk::Value,
};

/// A lower bound that is greater than the upper one.
#[derive(Debug)]
struct EmptyRange {
    /// Key of the lower bound.
    low: String,
    /// Key of the upper bound.
    high: &'static str,
}

/// Checks a number that another key bounds.
pub(crate) fn check_bounds(value: &Value<'_, '_>, report: &mut Report) {
    let Some((low, high)) = value.own_key().zip(value.shape().and_then(|shape| shape.at_most())) else { return };
    let Some(upper) = value.sibling(high) else { return check_default(value, low, high, report) };
    if number(value.node).zip(number(upper.node)).is_some_and(|(least, most)| least > most) {
        let rule = EmptyRange { low: low.to_owned(), high };
        report.push(value.lint_node().finding(rule).with("the maximum", &upper));
    }
}

/// Checks a number that the default of another key bounds.
fn check_default(value: &Value<'_, '_>, low: &str, high: &'static str, report: &mut Report) {
    let default = || value.holder()?.shape()?.step(high, None)?.default()?.as_f64();
    if let Some((least, most)) = number(value.node).zip(default()).filter(|(least, most)| least > most) {
        let words =
            MessageParts::new(format!("`{low}` ({least}) is greater than `{high}`, which is {most} by default"))
                .help(format!("lower it, or add `{high}`"));
        report.push(value.lint_node().problem(Code::Contradiction, words));
    }
}

/// Returns a number, which may be written as a string.
fn number(node: NodeRef<'_>) -> Option<f64> {
    node.text()?.trim().parse().ok()
}

impl Rule for EmptyRange {
    const CODE: Code = Code::Contradiction;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let EmptyRange { low, high } = self;
        let bounds = location.node().zip(location.parent().and_then(|holder| holder.get(high)));
        let text = |node: NodeRef<'_>| node.text().unwrap_or_default().to_owned();
        let (least, most) = bounds.map(|(least, most)| (text(least), text(most))).unwrap_or_default();
        MessageParts::new(format!("`{low}` ({least}) is greater than `{high}` ({most})")).remedy(
            format!("swap `{low}` and `{high}`"),
            Fix::guess,
            bounds.and_then(|(least, most)| edit::swap(least, most)),
        )
    }
}
