//! Tells cargo that the catalog that ships is part of this build.

fn main() {
    println!("cargo:rerun-if-changed=../../manifests");
}
