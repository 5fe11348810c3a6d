#[expect(clippy::print_stderr, reason = "the long run tells how slow the slowest reading was")]
mod properties;
