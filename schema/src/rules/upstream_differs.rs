pub(crate) mod cli_bench;

page! {
    /// The version of ClawSpec, KindLM or cli-bench that speclens knows rejects the file, or reads it differently. Reported
    /// once for a file: as a warning where only that program can run it, as a hint where speclens runs it. `compat` in
    /// `speclens.yaml` names the programs that have to read the files: for these it is an error.
    "upstream-differs", Warning
}
