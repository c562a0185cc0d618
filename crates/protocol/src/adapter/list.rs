//! Our tools as rmcp puts them on the wire. Knows no era: nothing in a list depends on it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use crate::surface::PublishedTool;

/// The tools as they are serialised, in their order.
pub(crate) fn wire_tools(tools: &[PublishedTool]) -> Vec<Tool> {
    tools.iter().map(wire_tool).collect()
}

fn wire_tool(tool: &PublishedTool) -> Tool {
    let hints = &tool.annotations;
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    let wire = Tool::new(tool.name.clone(), tool.description.clone(), Arc::new(tool.input_schema.clone()))
        .with_title(tool.title.clone())
        .with_annotations(annotations);
    match &tool.output_schema {
        Some(schema) => wire.with_raw_output_schema(Arc::new(schema.clone())),
        None => wire,
    }
}
