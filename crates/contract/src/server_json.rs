//! `server.json` for the MCP Registry, schema 2025-12-11: what of it we publish, as types.
//!
//! Owns the file's form; a key that the types do not know is an error, since the registry lets a typo pass. The rules
//! that go beyond the form are in [`rule`], what the file says about the tools in [`publisher`]. Start at
//! [`ServerJson::parse`] and [`ServerJson::check`].

pub mod publisher;
pub mod release;
pub mod rule;

use gatelatch_protocol::json::{self, JsonError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::list::ToolList;
use crate::version::SurfaceVersion;
use crate::{listing, shown};
use publisher::PublisherData;
use rule::Breach;

/// The one schema that is written.
pub const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// A whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerJson {
    /// Always [`SCHEMA`].
    #[serde(rename = "$schema")]
    pub schema: String,
    /// `io.github.someone/server`.
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// One line, at most 100 characters.
    pub description: String,
    /// The server's version.
    pub version: String,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// Its pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// How to get and start it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// Where it already runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// What else the publisher says.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// `_meta`: the registry keeps one key of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The publisher's own data.
    #[serde(rename = "io.modelcontextprotocol.registry/publisher-provided", default)]
    pub publisher: Map<String, Value>,
}

/// Where the source is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    /// Its page.
    pub url: String,
    /// Who hosts it.
    pub source: RepositorySource,
    /// The host's own number for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The server's folder in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subfolder: Option<String>,
}

/// The hosts that the registry knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepositorySource {
    /// github.com
    Github,
    /// gitlab.com
    Gitlab,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Icon {
    /// Where it is.
    pub src: String,
    /// Its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
}

/// A way to get the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "registryType", rename_all = "lowercase")]
pub enum Package {
    /// A crate of crates.io.
    Cargo(CargoPackage),
    /// A bundle for one platform.
    Mcpb(McpbPackage),
}

/// A crate of crates.io. Its README must show the server's name, see [`release::readme_shows_name`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CargoPackage {
    /// The crate's name.
    pub identifier: String,
    /// Its version.
    pub version: String,
    /// How it is talked to.
    pub transport: PackageTransport,
    /// Arguments for the binary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub package_arguments: Vec<Argument>,
    /// Variables that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_variables: Vec<Variable>,
}

/// A bundle for one platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpbPackage {
    /// Where the bundle is.
    pub identifier: String,
    /// Its version.
    pub version: String,
    /// The sha256 of the bundle, which clients hold it against.
    pub file_sha256: String,
    /// How it is talked to.
    pub transport: PackageTransport,
    /// Arguments for the binary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub package_arguments: Vec<Argument>,
    /// Variables that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_variables: Vec<Variable>,
}

/// How a package is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum PackageTransport {
    /// Over its standard input and output.
    Stdio {},
}

/// An argument for a package's binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Argument {
    /// One by its place.
    Positional {
        /// What is passed as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// What the user is asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value_hint: Option<String>,
        /// For people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// A flag.
    Named {
        /// With its dashes.
        name: String,
        /// What is passed as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// For people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
}

/// A variable of the environment or a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether nothing works without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    /// Whether it is a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_secret: bool,
}

/// A server that already runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Remote {
    /// Over Streamable HTTP.
    #[serde(rename = "streamable-http")]
    StreamableHttp {
        /// Its address.
        url: String,
        /// Headers that it wants.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<Variable>,
    },
}

/// Why a text is no `server.json` of ours.
#[derive(Debug, thiserror::Error)]
pub enum ServerJsonError {
    /// It is no JSON, or ambiguous.
    #[error("this is no `server.json`")]
    Json(#[source] JsonError),
    /// It has other keys or values.
    #[error("this `server.json` does not have the form that is published: {0}")]
    Shape(String),
}

impl ServerJson {
    /// A file that names a server and says nothing else yet.
    pub fn new(name: &str, description: &str, version: &str) -> ServerJson {
        ServerJson {
            schema: SCHEMA.to_owned(),
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            version: version.to_owned(),
            website_url: None,
            repository: None,
            icons: Vec::new(),
            packages: Vec::new(),
            remotes: Vec::new(),
            meta: Meta::default(),
        }
    }

    /// The same file with what it must say about this list.
    #[must_use]
    pub fn with_contract(mut self, surface_version: &SurfaceVersion, tools: &ToolList) -> ServerJson {
        let data = PublisherData::of(surface_version, tools).to_value();
        self.meta.publisher.retain(|key, _| !key.starts_with("io.github.gatelatch/"));
        self.meta.publisher.extend(data);
        self
    }

    /// Reads a file of this form.
    ///
    /// # Errors
    ///
    /// When it has another form, be it one key that is spelled wrong.
    pub fn parse(text: &str) -> Result<ServerJson, ServerJsonError> {
        let value = json::parse(text).map_err(ServerJsonError::Json)?;
        serde_json::from_value(value).map_err(|error| ServerJsonError::Shape(shown::text(&error.to_string())))
    }

    /// Every rule of the registry that it breaks.
    pub fn check(&self) -> Vec<Breach> {
        rule::breaches(self)
    }

    /// The file's text, the same for the same content.
    pub fn to_text(&self) -> String {
        listing::text(self)
    }
}

impl Meta {
    fn is_empty(&self) -> bool {
        self.publisher.is_empty()
    }
}
