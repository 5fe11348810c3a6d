pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// The version of ClawSpec, KindLM or cli-bench that speclens knows rejects the file, or reads it differently. Reported
    /// once for a file. `compat` in `speclens.yaml` names the programs that have to read the files: for these it is an error.
    "upstream-differs", Hint
}
