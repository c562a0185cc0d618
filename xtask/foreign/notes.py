"""A FastMCP server as somebody would write it: over stdio, or over HTTP on the port that is given."""

import sys

from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("notes")


class Note(BaseModel):
    title: str
    score: float = Field(default=0.5, ge=0, le=1)


@mcp.tool(annotations={"readOnlyHint": True})
def find_notes(words: list[str], limit: int = 10) -> list[Note]:
    """Finds notes – auch solche mit Umlauten wie »Größe«."""
    return []


@mcp.tool
def write_note(note: Note, folder: str | None = None) -> str:
    """Writes a note."""
    return note.title


if len(sys.argv) > 1:
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    mcp.run(show_banner=False)
