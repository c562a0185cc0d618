//! Checks and generated files. Owns what must hold of the repository as a whole; nothing depends on it.
//!
//! `cargo xtask ci` is what CI runs. Start at [`ci`]; the checks of habits are this package's own tests, in [`tidy`].

mod bench;
mod bundle;
mod ci;
mod clients;
mod codegen;
mod foreign;
mod python;
mod server_json;
mod step;
#[cfg(test)]
mod tidy;
mod verify_surface;
mod workbooks;
mod workflows;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  ci [--full]   everything that CI checks; --full adds every client and the long runs
  bench         speed and size, side by side with a floor; JSON on standard output
  bench xlsx    the workbook reader beside openpyxl, python-calamine and bare calamine
  bench retrieval [--tools FILE… --queries FILE [--out RUN.jsonl]]
                how well the search finds what is asked for, on the sets beside the repository or on these files
  bundle [--platform NAME] [--binary FILE] [--out DIR]
                the bundle of one platform for clients that install servers, into target/bundles
  codegen [--check]
                write the reference pages; --check only compares them
  export-server-json [--check] [--bundles DIR]
                write server.json; with bundles, as it is published; --check only compares it, and the version with
                the newest tag before it
  verify-surface
                declaration, catalog, lock file and server.json against what the release binary sends
  workbooks [--seed NUMBER]
                workbooks that openpyxl writes, read through the release binary
  workflows     the workflows against actionlint and the rules of the house
  foreign-servers
                `pin` and `verify` of the release binary against servers that others wrote, over stdio and HTTP
  clients NAME… the third-party MCP clients against the release binary (all without a name)
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["ci"] => ci::run(false),
        ["ci", "--full"] => ci::run(true),
        ["codegen"] => codegen::run(false),
        ["codegen", "--check"] => codegen::run(true),
        ["bench"] => bench::run(),
        ["bench", "xlsx"] => bench::xlsx::run(),
        ["bench", "retrieval", words @ ..] => bench::retrieval(words),
        ["bench-retrieval", words @ ..] => bench::measure_retrieval(words),
        ["bench-measure"] => bench::measure(),
        ["bench-floor", bytes] => bench::floor(bytes),
        ["bundle", words @ ..] => bundle::run(words),
        ["export-server-json", words @ ..] => server_json::run(words),
        ["verify-surface"] => verify_surface::run(),
        ["workbooks", words @ ..] => workbooks::run(words),
        ["workflows"] => workflows::run(),
        ["foreign-servers"] => foreign::run(),
        ["clients", names @ ..] => clients::run(names),
        _ => {
            step::say(USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            step::say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
