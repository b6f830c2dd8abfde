"""A small MCP server, for agents that call one: `python greenhouse.py` speaks on its pipes."""

from mcp.server import MCPServer

server = MCPServer("greenhouse")


@server.tool()
def open_vent(vent: int) -> str:
    """Open a vent."""
    if vent > 9:
        raise ValueError(f"vent {vent} is jammed")
    return f"vent {vent} is open"


if __name__ == "__main__":
    server.run()
