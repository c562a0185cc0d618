//! Tells where the catalog that ships is, and that it is part of this build.
//!
//! In the repository that is the root's `manifests/`. A published package holds it beside its own files, through the link
//! of that name in this folder, which not every system checks out as a link.

use std::path::Path;

fn main() {
    #[expect(clippy::disallowed_methods, reason = "cargo tells a build script by the environment where it is")]
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let repository = Path::new(&package).join("../../manifests");
    let folder = if repository.is_dir() { repository } else { Path::new(&package).join("manifests") };
    println!("cargo:rerun-if-changed={}", folder.display());
    // No name of ours: `cargo run` hands it on to the program, which takes no setting that it does not know.
    println!("cargo:rustc-env=SHIPPED_MANIFESTS={}", folder.display());
}
