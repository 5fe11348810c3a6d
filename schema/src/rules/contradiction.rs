//! Lower bounds above their upper bounds.

use crate::{
    document::NodeRef,
    edit,
    finding::{MessageParts, Report},
    problem::{Code, Fix},
    walk::Value,
};

/// Checks a number that another key bounds.
pub(crate) fn check_bounds(value: &Value<'_, '_>, report: &mut Report) {
    let Some((low, high)) = value.own_key().zip(value.shape().and_then(|shape| shape.at_most())) else { return };
    let Some(upper) = value.sibling(high) else { return check_default(value, low, high, report) };
    if number(value.node).zip(number(upper.node)).is_some_and(|(least, most)| least > most) {
        let (least, most) = (value.node.text().unwrap_or_default(), upper.node.text().unwrap_or_default());
        let words = MessageParts::new(format!("`{low}` ({least}) is greater than `{high}` ({most})"));
        let words = words.remedy(format!("swap `{low}` and `{high}`"), Fix::guess, edit::swap(value.node, upper.node));
        report.push(value.lint_node().problem(Code::Contradiction, words).with("the maximum", &upper));
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

fn number(node: NodeRef<'_>) -> Option<f64> {
    node.text()?.trim().parse().ok()
}
