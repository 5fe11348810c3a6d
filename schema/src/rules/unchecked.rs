pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// A check that never takes place: assertions of a contract that replace what follows from the rest of it, an
    /// expectation about a reply that never comes, a limit that another key switches off.
    "unchecked", Warning
}
