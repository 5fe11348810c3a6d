pub(crate) mod kindlm;

page! {
    /// Something is defined but never used, or an `allow(…)` comment does not silence any problem.
    "unused", Hint
}
