//! The manifest that ships says of this reader what is true.

use gatelatch_xlsx::ACTIONS;
use serde_json::Value;

use crate::{run, sample};

const MANIFEST: &str = include_str!("../../../../manifests/tools/xlsx/tool.yaml");

fn actions() -> Vec<Value> {
    let manifest: Value = serde_saphyr::from_str(MANIFEST).unwrap();
    manifest["actions"].as_array().unwrap().clone()
}

fn names(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().map(|value| value["name"].as_str().unwrap()).collect()
}

#[test]
fn the_manifest_lists_every_action_of_the_reader_in_its_order() {
    assert_eq!(names(&actions().into()), ACTIONS);
}

#[test]
fn every_argument_of_the_manifest_is_understood_and_every_result_fits_its_schema() {
    let place = tempfile::tempdir().unwrap();
    for (name, workbook) in sample::all() {
        std::fs::write(place.path().join(name), workbook).unwrap();
    }
    for action in actions() {
        let name = action["name"].as_str().unwrap();
        let schema = &action["output_schema"];
        assert_eq!(schema["type"], "object", "{name}");
        let schema = jsonschema::validator_for(schema).unwrap();
        for (number, (workbook, _)) in sample::all().iter().enumerate() {
            let to = format!("dump {number}.txt");
            let value = |argument: &str| match argument {
                "path" => (*workbook).to_owned(),
                "to" => to.clone(),
                "text" => "a".to_owned(),
                "sheet" => "one".to_owned(),
                "range" => "A1:F9".to_owned(),
                "max-bytes" => "20000".to_owned(),
                _ => "1".to_owned(),
            };
            // Only what is required, then all there is.
            for all in [false, true] {
                let mut args = Vec::new();
                for argument in action["args"].as_array().unwrap() {
                    let argument_name = argument["name"].as_str().unwrap();
                    if all || argument["required"] == true {
                        args.push(format!("--{argument_name}"));
                        if argument["type"] != "boolean" {
                            args.push(value(argument_name));
                        }
                    }
                }
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let result = run(place.path(), name, &args).unwrap_or_else(|error| panic!("{name} {args:?}: {error}"));
                let faults: Vec<String> = schema.iter_errors(&result).map(|fault| fault.to_string()).collect();
                assert!(faults.is_empty(), "{name} {args:?}: {faults:?}");
                // A result that the schema does not tell of would be a surprise to whoever reads the schema.
                for key in result.as_object().unwrap().keys() {
                    assert!(action["output_schema"]["properties"].get(key).is_some(), "{name} answers `{key}`");
                }
            }
        }
    }
}
