//! What we write as `server.json` against the registry's own schema, where that is at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

use std::path::{Path, PathBuf};

use gatelatch_contract::list::ToolList;
use gatelatch_contract::server_json::{
    Argument, CargoPackage, Icon, McpbPackage, Package, PackageTransport, Remote, Repository, RepositorySource,
    ServerJson, Variable,
};
use gatelatch_contract::version::SurfaceVersion;
use serde_json::{Value, json};

fn schema() -> Option<Value> {
    let place = |folder: &Path| -> PathBuf { folder.join("shared/data/registry/server.schema.json") };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(place).find(|path| path.exists())?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn full() -> ServerJson {
    let variable = Variable {
        name: "GATELATCH_CATALOG".to_owned(),
        description: Some("Folders.".to_owned()),
        is_required: true,
        is_secret: true,
    };
    let arguments = vec![
        Argument::Positional { value: Some("chat".to_owned()), value_hint: None, description: Some("x".to_owned()) },
        Argument::Positional { value: None, value_hint: Some("file".to_owned()), description: None },
        Argument::Named { name: "--catalog".to_owned(), value: Some(".".to_owned()), description: None },
    ];
    let mut file = ServerJson::new("io.github.gatelatch/gatelatch", "Named tools over workbooks.", "0.1.0");
    file.title = Some("Gatelatch".to_owned());
    file.website_url = Some("https://gatelatch.github.io".to_owned());
    file.repository = Some(Repository {
        url: "https://github.com/gatelatch/gatelatch".to_owned(),
        source: RepositorySource::Github,
        id: Some("1".to_owned()),
        subfolder: Some("crates/cli".to_owned()),
    });
    file.icons = vec![Icon {
        src: "https://gatelatch.github.io/icon.png".to_owned(),
        mime_type: Some("image/png".to_owned()),
        sizes: vec!["48x48".to_owned()],
    }];
    file.packages = vec![
        Package::Cargo(CargoPackage {
            identifier: "gatelatch-cli".to_owned(),
            version: "0.1.0".to_owned(),
            transport: PackageTransport::Stdio {},
            package_arguments: arguments.clone(),
            environment_variables: vec![variable.clone()],
        }),
        Package::Mcpb(McpbPackage {
            identifier: "https://github.com/gatelatch/gatelatch/releases/download/v0.1.0/linux.mcpb".to_owned(),
            version: "0.1.0".to_owned(),
            file_sha256: "0".repeat(64),
            transport: PackageTransport::Stdio {},
            package_arguments: arguments,
            environment_variables: vec![variable.clone()],
        }),
    ];
    file.remotes =
        vec![Remote::StreamableHttp { url: "https://chat.example.com/mcp".to_owned(), headers: vec![variable] }];
    let tools = ToolList::of_array(&json!([{"name": "xlsx_read_sheet", "inputSchema": {"type": "object"}}])).unwrap();
    file.with_contract(&SurfaceVersion::parse("1.0.0").unwrap(), &tools)
}

#[test]
fn a_file_that_breaks_none_of_our_rules_satisfies_the_schema() {
    assert_eq!(full().check(), []);
    let Some(schema) = schema() else {
        println!("skipped: the registry's schema is not at hand");
        return;
    };
    let validator = jsonschema::validator_for(&schema).unwrap();
    let file: Value = serde_json::from_str(&full().to_text()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&file).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let mut bare = ServerJson::new("io.github.gatelatch/gatelatch", "Named tools.", "0.1.0");
    bare.remotes = full().remotes;
    assert!(validator.is_valid(&serde_json::from_str(&bare.to_text()).unwrap()));
    let mut wrong = file.clone();
    wrong["packages"][1]["fileSha256"] = json!("x");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn the_contract_is_written_anew_and_other_data_of_ours_does_not_stay() {
    let tools = ToolList::of_array(&json!([])).unwrap();
    let file = full().with_contract(&SurfaceVersion::parse("2.0.0").unwrap(), &tools);
    assert_eq!(file.meta.publisher["io.github.gatelatch/toolCount"], json!(0));
    assert!(!file.meta.publisher.contains_key("io.github.gatelatch/toolDigests"));
    assert_eq!(ServerJson::parse(&file.to_text()).unwrap(), file);
}
