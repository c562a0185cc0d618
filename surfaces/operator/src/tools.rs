//! The six tools as clients see them. Exposure is this list and nothing else: a new verb or entry never appears by
//! itself.

use gatelatch_protocol::surface::{Annotations, PublishedTool};
use serde_json::{Map, Value, json};

/// One of the six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorTool {
    Capabilities,
    RunTool,
    RunAgent,
    RunToolConfirmed,
    RunAgentConfirmed,
    GetSkill,
}

impl OperatorTool {
    /// In the order in which the list shows them.
    pub(crate) const ALL: [OperatorTool; 6] = [
        OperatorTool::Capabilities,
        OperatorTool::RunTool,
        OperatorTool::RunAgent,
        OperatorTool::RunToolConfirmed,
        OperatorTool::RunAgentConfirmed,
        OperatorTool::GetSkill,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            OperatorTool::Capabilities => "capabilities",
            OperatorTool::RunTool => "run_tool",
            OperatorTool::RunAgent => "run_agent",
            OperatorTool::RunToolConfirmed => "run_tool_confirmed",
            OperatorTool::RunAgentConfirmed => "run_agent_confirmed",
            OperatorTool::GetSkill => "get_skill",
        }
    }

    /// The arguments that the tool takes, in order: (name, JSON type, description, required).
    pub(crate) fn arguments(self) -> &'static [(&'static str, &'static str, &'static str, bool)] {
        const TOOL: (&str, &str, &str, bool) = ("tool", "string", "Tool name", true);
        const AGENT: (&str, &str, &str, bool) = ("agent", "string", "Agent name", true);
        const ACTION: (&str, &str, &str, bool) = ("action", "string", "Action name, if it has several", false);
        const ARGS: (&str, &str, &str, bool) = ("args", "object", "The action's arguments, by name", false);
        match self {
            OperatorTool::Capabilities => &[
                ("kind", "string", "tool, agent, skill or toolset", false),
                ("name", "string", "One entry: its schema, or an index of its actions", false),
                ("action", "string", "With name: one action's arguments and the call to make", false),
                ("search", "string", "Words to find actions by, everywhere or in name", false),
            ],
            OperatorTool::RunTool | OperatorTool::RunToolConfirmed => &[TOOL, ACTION, ARGS],
            OperatorTool::RunAgent | OperatorTool::RunAgentConfirmed => &[AGENT, ACTION, ARGS],
            OperatorTool::GetSkill => {
                &[("name", "string", "Skill name, or name/file for a file of it; none lists all", false)]
            }
        }
    }

    fn title(self) -> &'static str {
        match self {
            OperatorTool::Capabilities => "What can be run",
            OperatorTool::RunTool => "Run a tool",
            OperatorTool::RunAgent => "Run an agent",
            OperatorTool::RunToolConfirmed => "Run a tool that a human has confirmed",
            OperatorTool::RunAgentConfirmed => "Run an agent that a human has confirmed",
            OperatorTool::GetSkill => "Read a skill",
        }
    }

    fn description(self) -> &'static str {
        match self {
            OperatorTool::Capabilities => {
                "Find out what can be run and with which arguments; never guess them. No arguments: a list of everything. \
                 search: matching actions. name and action: the arguments and the literal call. name: the whole schema."
            }
            OperatorTool::RunTool => {
                "Run an action of a tool. What can be undone runs; what cannot (send, delete, pay, publish) is refused \
                 with approval_required. A wrong call answers with the right arguments."
            }
            OperatorTool::RunAgent => {
                "Run an agent, a program that drives tools. What cannot be undone is refused with approval_required."
            }
            OperatorTool::RunToolConfirmed => {
                "Run an action of a tool that cannot be undone. Only after run_tool answered approval_required, with the \
                 same arguments, and once the human has agreed to exactly this call."
            }
            OperatorTool::RunAgentConfirmed => {
                "Run an agent whose work cannot be undone. Only after run_agent answered approval_required, with the same \
                 arguments, and once the human has agreed to exactly this call."
            }
            OperatorTool::GetSkill => "Read a skill: know-how in Markdown on how to do a task well with these tools.",
        }
    }

    fn annotations(self) -> Annotations {
        match self {
            OperatorTool::Capabilities | OperatorTool::GetSkill => {
                Annotations { read_only: true, destructive: false, idempotent: true, open_world: false }
            }
            OperatorTool::RunTool | OperatorTool::RunAgent => {
                Annotations { read_only: false, destructive: false, idempotent: false, open_world: true }
            }
            OperatorTool::RunToolConfirmed | OperatorTool::RunAgentConfirmed => {
                Annotations { read_only: false, destructive: true, idempotent: false, open_world: true }
            }
        }
    }

    fn input_schema(self) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, kind, description, needed) in self.arguments() {
            properties.insert((*name).to_owned(), json!({ "type": kind, "description": description }));
            if *needed {
                required.push(Value::from(*name));
            }
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }

    pub(crate) fn published(self) -> PublishedTool {
        PublishedTool {
            name: self.name().to_owned(),
            title: self.title().to_owned(),
            description: self.description().to_owned(),
            input_schema: self.input_schema(),
            output_schema: None,
            annotations: self.annotations(),
        }
    }
}
