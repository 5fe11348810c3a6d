//! The `speclens` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    speclens::main()
}
