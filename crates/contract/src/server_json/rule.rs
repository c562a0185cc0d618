//! The registry's rules that the schema does not hold, and those of the schema that its server forgets.
//!
//! Finds every breach in one go. What only a look at the network could tell is not here. Start at [`breaches`].

use std::fmt;

use semver::Version;
use serde_json::Value;

use super::publisher::{MOST_BYTES, PublisherData, is_digest, quoted};
use super::{Argument, Icon, Package, Remote, Repository, RepositorySource, SCHEMA, ServerJson, Variable};

/// A rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Where: `packages[0].version`.
    pub path: String,
    /// Why, and what to do.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.path, self.what)
    }
}

/// Everything that is wrong with a file.
pub fn breaches(file: &ServerJson) -> Vec<Breach> {
    let mut found = Found(Vec::new());
    if file.schema != SCHEMA {
        found.add("$schema", format!("{} is not the schema in force; help: write `{SCHEMA}`", quoted(&file.schema)));
    }
    name(&file.name, &mut found);
    line("title", file.title.as_deref(), &mut found);
    line("description", Some(&file.description), &mut found);
    version("version", &file.version, &mut found);
    if let Some(url) = &file.website_url {
        https("websiteUrl", url, &mut found);
    }
    if let Some(repository) = &file.repository {
        source(repository, &mut found);
    }
    for (at, icon) in file.icons.iter().enumerate() {
        picture(&format!("icons[{at}]"), icon, &mut found);
    }
    if file.packages.is_empty() && file.remotes.is_empty() {
        found.add("packages", "there is neither a package nor a remote, so nobody could use the server");
    }
    packages(&file.packages, &mut found);
    remotes(&file.remotes, &mut found);
    publisher(file, &mut found);
    found.0
}

struct Found(Vec<Breach>);

impl Found {
    fn add(&mut self, path: &str, what: impl Into<String>) {
        self.0.push(Breach { path: path.to_owned(), what: what.into() });
    }
}

fn name(name: &str, found: &mut Found) {
    let shown = quoted(name);
    if !(3..=200).contains(&name.chars().count()) {
        found.add("name", format!("{shown} has not 3 to 200 characters"));
    }
    let Some((namespace, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        found.add("name", format!("{shown} must have exactly one `/`, as in `io.github.someone/server`"));
        return;
    };
    if !namespace.contains('.') || !namespace.split('.').all(|label| is_word(label, "-", 1)) {
        found.add("name", format!("{} is no reverse domain name, as in `io.github.someone`", quoted(namespace)));
    }
    if !is_word(rest, "._-", 2) {
        found.add(
            "name",
            format!("{} must begin and end with a letter or digit, with `.`, `_` and `-` between", quoted(rest)),
        );
    }
}

/// Letters and digits at both ends, and these others between.
fn is_word(text: &str, between: &str, least: usize) -> bool {
    let is_end = |character: Option<char>| character.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() >= least
        && is_end(text.chars().next())
        && is_end(text.chars().last())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || between.contains(character))
}

fn line(path: &str, text: Option<&str>, found: &mut Found) {
    let Some(text) = text else { return };
    if text.trim().is_empty() {
        found.add(path, "it is empty");
    }
    let length = text.chars().count();
    if length > 100 {
        found.add(path, format!("it has {length} characters, and 100 are allowed"));
    }
    if text.chars().any(char::is_control) {
        found.add(path, "it is not one line of plain text");
    }
}

fn version(path: &str, text: &str, found: &mut Found) {
    let shown = quoted(text);
    if text.len() > 255 {
        found.add(path, "it has more than 255 characters");
    }
    match Version::parse(text) {
        Err(_) if text == "latest" => found.add(path, "`latest` is no version; help: name one, as in `1.4.0`"),
        Err(_) => {
            found.add(path, format!("{shown} is no single semantic version; help: no range and no `v`, as in `1.4.0`"));
        }
        Ok(version) if !version.pre.is_empty() && version.pre.bytes().all(|byte| byte.is_ascii_digit()) => {
            let release = Version::new(version.major, version.minor, version.patch);
            found.add(path, format!("{shown} sorts before `{release}`; help: for what comes after it, raise a number"));
        }
        Ok(version) if !version.build.is_empty() => {
            found.add(path, format!("{shown} sorts as if `+` and what follows were not there; help: raise a number"));
        }
        Ok(_) => {}
    }
}

fn https(path: &str, url: &str, found: &mut Found) {
    let shown = quoted(url);
    let Some(rest) = url.strip_prefix("https://") else {
        return found.add(path, format!("{shown} does not begin with `https://`"));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if url.chars().any(|character| character.is_whitespace() || character.is_control()) {
        found.add(path, format!("{shown} has a space"));
    }
    if authority.contains('@') {
        found.add(path, "it carries a user name");
    }
    if host.is_empty() {
        found.add(path, format!("{shown} names no host"));
    }
    if host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host.starts_with('[') {
        found.add(path, format!("{shown} is an address of one machine"));
    }
}

fn source(repository: &Repository, found: &mut Found) {
    https("repository.url", &repository.url, found);
    let (host, most) = match repository.source {
        RepositorySource::Github => ("github.com", 2),
        RepositorySource::Gitlab => ("gitlab.com", 20),
    };
    let path = repository.url.strip_prefix("https://").and_then(|rest| rest.strip_prefix(host)?.strip_prefix('/'));
    let segments = path.map(|path| path.strip_suffix('/').unwrap_or(path).split('/').collect::<Vec<_>>());
    let is_plain =
        |segment: &&str| !segment.is_empty() && segment.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if !segments.is_some_and(|all| (2..=most).contains(&all.len()) && all.iter().all(is_plain)) {
        found.add("repository.url", format!("{} is no repository of {host}", quoted(&repository.url)));
    }
    let is_clean = |segment: &str| is_plain(&segment) && segment != "." && segment != "..";
    if let Some(folder) = repository.subfolder.as_ref().filter(|folder| !folder.split('/').all(is_clean)) {
        found.add("repository.subfolder", format!("{} is no clean relative path", quoted(folder)));
    }
}

fn picture(path: &str, icon: &Icon, found: &mut Found) {
    const KINDS: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"];
    https(&format!("{path}.src"), &icon.src, found);
    if icon.src.chars().count() > 255 {
        found.add(&format!("{path}.src"), "it has more than 255 characters");
    }
    if let Some(kind) = icon.mime_type.as_ref().filter(|kind| !KINDS.contains(&kind.as_str())) {
        found.add(&format!("{path}.mimeType"), format!("{} is none of {}", quoted(kind), KINDS.join(", ")));
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_size = |size: &str| size == "any" || size.split_once('x').is_some_and(|(w, h)| is_number(w) && is_number(h));
    if let Some(size) = icon.sizes.iter().find(|size| !is_size(size)) {
        found.add(&format!("{path}.sizes"), format!("{} is no size, as in `48x48` or `any`", quoted(size)));
    }
}

fn packages(packages: &[Package], found: &mut Found) {
    for (at, package) in packages.iter().enumerate() {
        let path = format!("packages[{at}]");
        let (arguments, variables) = match package {
            Package::Cargo(package) => {
                version(&format!("{path}.version"), &package.version, found);
                let is_crate = package.identifier.starts_with(|first: char| first.is_ascii_alphabetic())
                    && package.identifier.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
                if !is_crate {
                    let what = format!("{} is no name of a crate", quoted(&package.identifier));
                    found.add(&format!("{path}.identifier"), what);
                }
                (&package.package_arguments, &package.environment_variables)
            }
            Package::Mcpb(package) => {
                version(&format!("{path}.version"), &package.version, found);
                https(&format!("{path}.identifier"), &package.identifier, found);
                if !package.identifier.to_ascii_lowercase().contains("mcp") {
                    found
                        .add(&format!("{path}.identifier"), "the registry wants `mcp` somewhere in a bundle's address");
                }
                if !is_digest(&package.file_sha256) {
                    let what = format!("{} is no sha256 in lower-case hex", quoted(&package.file_sha256));
                    found.add(&format!("{path}.fileSha256"), what);
                }
                (&package.package_arguments, &package.environment_variables)
            }
        };
        for (at, argument) in arguments.iter().enumerate() {
            check_argument(&format!("{path}.packageArguments[{at}]"), argument, found);
        }
        names(&format!("{path}.environmentVariables"), variables, found);
        if packages.iter().take(at).any(|other| other == package) {
            found.add(&path, "it is there twice");
        }
    }
}

fn check_argument(path: &str, argument: &Argument, found: &mut Found) {
    match argument {
        Argument::Positional { value: None, value_hint: None, .. } => {
            found.add(path, "a positional argument needs `value` or `valueHint`");
        }
        Argument::Positional { .. } => {}
        Argument::Named { name, value, .. } => {
            if name.is_empty() || name.contains(['<', '>', ' ', '$']) {
                found.add(&format!("{path}.name"), format!("{} is no name of a flag alone", quoted(name)));
            }
            if value.as_ref().is_some_and(|value| !name.is_empty() && value.starts_with(name.as_str())) {
                found.add(&format!("{path}.value"), "it begins with the flag's name again");
            }
        }
    }
}

fn names(path: &str, variables: &[Variable], found: &mut Found) {
    for (at, variable) in variables.iter().enumerate() {
        if variable.name.is_empty() || variable.name.contains(|c: char| c.is_whitespace() || c == '=') {
            found.add(&format!("{path}[{at}].name"), format!("{} is no name", quoted(&variable.name)));
        }
    }
}

fn remotes(remotes: &[Remote], found: &mut Found) {
    for (at, Remote::StreamableHttp { url, headers }) in remotes.iter().enumerate() {
        https(&format!("remotes[{at}].url"), url, found);
        if url.contains(['{', '}']) {
            found.add(&format!("remotes[{at}].url"), "it has a variable that nothing declares");
        }
        names(&format!("remotes[{at}].headers"), headers, found);
        if remotes.iter().take(at).any(|Remote::StreamableHttp { url: other, .. }| other == url) {
            found.add(&format!("remotes[{at}].url"), "it is there twice");
        }
    }
}

fn publisher(file: &ServerJson, found: &mut Found) {
    const PATH: &str = "_meta.io.modelcontextprotocol.registry/publisher-provided";
    let data = Value::Object(file.meta.publisher.clone());
    let bytes = data.to_string().len();
    if bytes > MOST_BYTES {
        found.add(PATH, format!("it has {bytes} bytes, and {MOST_BYTES} are allowed"));
    }
    for key in file.meta.publisher.keys().filter(|key| !key.starts_with("io.github.gatelatch/")) {
        found.add(PATH, format!("the key {} does not begin with `io.github.gatelatch/`", quoted(key)));
    }
    if let Err(error) = PublisherData::read(&data) {
        found.add(PATH, error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "$schema": SCHEMA,
            "name": "io.github.gatelatch/gatelatch",
            "title": "Gatelatch",
            "description": "Named tools over local workbooks and files.",
            "version": "0.1.0",
            "websiteUrl": "https://gatelatch.github.io",
            "repository": {"url": "https://github.com/gatelatch/gatelatch", "source": "github", "subfolder": "crates/cli"},
            "icons": [{"src": "https://gatelatch.github.io/icon.png", "mimeType": "image/png", "sizes": ["48x48", "any"]}],
            "packages": [
                {
                    "registryType": "cargo", "identifier": "gatelatch-cli", "version": "0.1.0",
                    "transport": {"type": "stdio"},
                    "packageArguments": [
                        {"type": "positional", "value": "chat"},
                        {"type": "named", "name": "--catalog", "value": "."}
                    ],
                    "environmentVariables": [{"name": "GATELATCH_CATALOG", "description": "Folders.", "isSecret": true}]
                },
                {
                    "registryType": "mcpb",
                    "identifier": "https://github.com/gatelatch/gatelatch/releases/download/v0.1.0/linux.mcpb",
                    "version": "0.1.0", "fileSha256": "0".repeat(64), "transport": {"type": "stdio"}
                }
            ],
            "remotes": [{"type": "streamable-http", "url": "https://chat.example.com/mcp"}],
            "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {
                "io.github.gatelatch/toolsDigest": "a".repeat(64),
                "io.github.gatelatch/surfaceVersion": "1.0.0",
                "io.github.gatelatch/toolCount": 2
            }}
        })
    }

    fn breaches_of(file: &Value) -> Vec<String> {
        ServerJson::parse(&file.to_string()).unwrap().check().iter().map(ToString::to_string).collect()
    }

    /// Sets one value of the good file and expects one breach at that place that says this.
    fn refused(pointer: &str, value: Value, path: &str, word: &str) {
        let mut file = good();
        *file.pointer_mut(pointer).unwrap() = value.clone();
        let found = breaches_of(&file);
        let expected = |breach: &String| breach.starts_with(&format!("`{path}`: ")) && breach.contains(word);
        assert!(!found.is_empty() && found.iter().all(|b| b.starts_with(&format!("`{path}"))), "{value}: {found:?}");
        assert!(found.iter().any(expected), "{value}: {found:?}");
    }

    /// Sets one value of the good file that the form itself refuses.
    fn unreadable(change: impl Fn(&mut Value), word: &str) {
        let mut file = good();
        change(&mut file);
        let error = ServerJson::parse(&file.to_string()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn the_good_file_breaks_no_rule_and_survives_a_round_trip() {
        assert_eq!(breaches_of(&good()), Vec::<String>::new());
        let file = ServerJson::parse(&good().to_string()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&file.to_text()).unwrap(), good());
    }

    #[test]
    fn a_name_has_3_to_200_characters_a_reverse_domain_and_one_slash() {
        for (name, word) in [
            ("ab", "3 to 200"),
            ("gatelatch", "exactly one `/`"),
            ("io.github.gatelatch/a/b", "exactly one `/`"),
            ("gatelatch/gatelatch", "reverse domain"),
            ("io..github/gatelatch", "reverse domain"),
            ("io.github.-x/gatelatch", "reverse domain"),
            ("io.git hub/gatelatch", "reverse domain"),
            ("io.github.gatelatch/x", "begin and end"),
            ("io.github.gatelatch/gate_", "begin and end"),
            ("io.github.gatelatch/gäte", "begin and end"),
        ] {
            refused("/name", json!(name), "name", word);
        }
        refused("/name", json!(format!("io.github.gatelatch/{}", "x".repeat(181))), "name", "3 to 200");
    }

    #[test]
    fn texts_have_at_most_100_characters_and_are_not_blank() {
        for key in ["title", "description"] {
            refused(&format!("/{key}"), json!("é".repeat(101)), key, "101 characters");
            refused(&format!("/{key}"), json!("  "), key, "empty");
            refused(&format!("/{key}"), json!("a\nb"), key, "one line");
        }
        let mut file = good();
        file["description"] = json!("é".repeat(100));
        assert_eq!(breaches_of(&file), Vec::<String>::new());
    }

    #[test]
    fn a_version_is_one_version_and_neither_latest_nor_a_range() {
        for place in [
            ("/version", "version"),
            ("/packages/0/version", "packages[0].version"),
            ("/packages/1/version", "packages[1].version"),
        ] {
            refused(place.0, json!("latest"), place.1, "`latest` is no version");
            for range in ["^1.2.3", "~1.2", ">=1.0.0", "1.x", "1.2.*", "1 - 2", "1.2 || 1.3", "v1.2.3", "", "1.2"] {
                refused(place.0, json!(range), place.1, "no single semantic version");
            }
            refused(place.0, json!("1.2.3-1"), place.1, "sorts before `1.2.3`");
            refused(place.0, json!("1.2.3+4"), place.1, "raise a number");
        }
        let mut file = good();
        file["version"] = json!("1.2.3-rc.1");
        assert_eq!(breaches_of(&file), Vec::<String>::new());
    }

    #[test]
    fn every_address_is_https_and_reachable_by_others() {
        for (pointer, path) in [
            ("/websiteUrl", "websiteUrl"),
            ("/repository/url", "repository.url"),
            ("/icons/0/src", "icons[0].src"),
            ("/packages/1/identifier", "packages[1].identifier"),
            ("/remotes/0/url", "remotes[0].url"),
        ] {
            refused(pointer, json!("http://mcp.example.com/x"), path, "does not begin with `https://`");
            refused(pointer, json!("https://user@mcp.example.com/x"), path, "user name");
            refused(pointer, json!("https://localhost:80/mcp"), path, "one machine");
            refused(pointer, json!("https:///mcp"), path, "no host");
            refused(pointer, json!("https://mcp.example.com/a b"), path, "a space");
        }
    }

    #[test]
    fn a_repository_is_one_of_its_host_and_its_folder_a_clean_path() {
        for url in [
            "https://github.com/gatelatch",
            "https://gitlab.com/a/b",
            "https://github.com/a/b/c",
            "https://github.com//b",
        ] {
            refused("/repository/url", json!(url), "repository.url", "no repository of github.com");
        }
        for folder in ["/a", "a/", "a//b", "../a", "a/./b", "a b"] {
            refused("/repository/subfolder", json!(folder), "repository.subfolder", "clean relative path");
        }
    }

    #[test]
    fn an_icon_has_a_known_kind_and_size() {
        refused("/icons/0/mimeType", json!("image/gif"), "icons[0].mimeType", "is none of");
        refused("/icons/0/sizes", json!(["48"]), "icons[0].sizes", "no size");
        let long = format!("https://example.com/{}", "x".repeat(250));
        refused("/icons/0/src", json!(long), "icons[0].src", "255");
    }

    #[test]
    fn a_bundle_has_its_sha256_and_mcp_in_its_address() {
        for digest in ["abc".to_owned(), "A".repeat(64), "0".repeat(63)] {
            refused("/packages/1/fileSha256", json!(digest), "packages[1].fileSha256", "sha256");
        }
        refused("/packages/1/identifier", json!("https://example.com/x.zip"), "packages[1].identifier", "`mcp`");
        unreadable(|file| drop(file["packages"][1].as_object_mut().unwrap().remove("fileSha256")), "fileSha256");
    }

    #[test]
    fn a_crate_has_a_crate_name_and_no_sha256() {
        for name in ["gate latch", "@gate/latch", "", "1gate"] {
            refused("/packages/0/identifier", json!(name), "packages[0].identifier", "name of a crate");
        }
        unreadable(|file| file["packages"][0]["fileSha256"] = json!("0".repeat(64)), "fileSha256");
    }

    #[test]
    fn an_argument_says_what_it_is() {
        let path = "packages[0].packageArguments[0]";
        refused("/packages/0/packageArguments/0", json!({"type": "positional"}), path, "`value` or `valueHint`");
        for name in ["", "--port 80", "--dir <d>", "$HOME"] {
            let argument = json!({"type": "named", "name": name});
            refused("/packages/0/packageArguments/0", argument, &format!("{path}.name"), "flag alone");
        }
        let argument = json!({"type": "named", "name": "--port", "value": "--port=80"});
        refused("/packages/0/packageArguments/0", argument, &format!("{path}.value"), "again");
        refused(
            "/packages/0/environmentVariables/0/name",
            json!("A=B"),
            "packages[0].environmentVariables[0].name",
            "no name",
        );
    }

    #[test]
    fn nothing_is_published_twice_and_something_is_published() {
        let mut file = good();
        let again = file["packages"][0].clone();
        file["packages"].as_array_mut().unwrap().push(again);
        assert_eq!(breaches_of(&file), ["`packages[2]`: it is there twice"]);
        file["packages"] = json!([]);
        assert_eq!(breaches_of(&file), Vec::<String>::new());
        file["remotes"] = json!([]);
        assert!(breaches_of(&file)[0].contains("neither a package nor a remote"));
    }

    #[test]
    fn a_remote_has_no_variable_that_nothing_declares() {
        refused("/remotes/0/url", json!("https://{host}/mcp"), "remotes[0].url", "variable");
    }

    #[test]
    fn publisher_data_is_small_ours_and_whole() {
        let path = "_meta.io.modelcontextprotocol.registry/publisher-provided";
        let pointer = "/_meta/io.modelcontextprotocol.registry~1publisher-provided";
        let with = |key: &str, value: Value| {
            let mut data = good().pointer(pointer).unwrap().clone();
            data[key] = value;
            data
        };
        refused(pointer, with("io.github.gatelatch/more", json!("x".repeat(4_000))), path, "4096 are allowed");
        refused(pointer, with("more", json!(1)), path, "does not begin with");
        refused(pointer, with("io.github.gatelatch/toolsDigest", json!("x")), path, "no sha256");
        refused(pointer, json!({}), path, "there is no");
    }

    #[test]
    fn the_schema_is_the_one_in_force() {
        refused(
            "/$schema",
            json!("https://static.modelcontextprotocol.io/schemas/2025-07-09/server.schema.json"),
            "$schema",
            "in force",
        );
    }

    #[test]
    fn a_key_that_is_spelled_wrong_is_refused_wherever_it_stands() {
        unreadable(|file| file["websiteURL"] = json!("https://x.org"), "websiteURL");
        unreadable(|file| file["repository"]["subFolder"] = json!("x"), "subFolder");
        unreadable(|file| file["packages"][0]["enviromentVariables"] = json!([]), "enviromentVariables");
        unreadable(|file| file["packages"][0]["transport"]["url"] = json!("https://x.org"), "url");
        unreadable(|file| file["packages"][0]["packageArguments"][0]["valuehint"] = json!("x"), "valuehint");
        unreadable(|file| file["remotes"][0]["header"] = json!([]), "header");
        unreadable(|file| file["_meta"]["io.github.gatelatch/x"] = json!({}), "io.github.gatelatch/x");
        unreadable(|file| file["packages"][0]["registryType"] = json!("crates"), "crates");
        unreadable(|file| file["repository"]["source"] = json!("sourcehut"), "sourcehut");
    }
}
