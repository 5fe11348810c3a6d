//! Tests of the whole program: the real binary, real directories, real processes.

mod cases;
mod cli;
mod replay;
mod runs;
mod support;
