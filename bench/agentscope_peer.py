"""Measures AgentScope's local workspace: `echo hi` beside a bare `bash -c`, and a tool of a nested MCP server beside the same
server spoken to by lines. `agentscope_peer.py NODE SERVER SECONDS` prints a JSON line of times in ms for each of the two. After so
many seconds it says where it hangs, and ends."""
import asyncio
import contextlib
import faulthandler
import json
import subprocess
import sys
import tempfile
import time

ROUNDS = 55
WARM_UP = 5


async def main() -> None:
    from agentscope.workspace import LocalWorkspace

    with tempfile.TemporaryDirectory() as workdir:
        workspace = LocalWorkspace(workdir=workdir)
        await workspace.initialize()
        tell(await measure_echo(workspace))
        tell(await measure_nested(workspace, sys.argv[1:3]))
        await workspace.close()


def tell(times: dict) -> None:
    # What it logs goes to the same stream.
    print("\n" + json.dumps({name: values[WARM_UP:] for name, values in times.items()}), flush=True)


async def measure_echo(workspace) -> dict:
    bash = next(tool for tool in await workspace.list_tools() if tool.name == "Bash")
    bare, echo = [], []
    for _ in range(ROUNDS):
        with timed(bare):
            subprocess.run(["bash", "-c", "echo hi"], capture_output=True, check=True)
        with timed(echo):
            await called(bash, command="echo hi")
    return {"bare": bare, "echo": echo}


async def measure_nested(workspace, command: list) -> dict:
    from agentscope.mcp import MCPClient, StdioMCPConfig

    config = StdioMCPConfig(command=command[0], args=command[1:])
    added = await workspace.add_mcp(MCPClient(name="noop", is_stateful=True, mcp_config=config))
    noop = next(tool for tool in await (added or (await workspace.list_mcps())[0]).list_tools() if "noop" in tool.name)
    direct, nested = [], []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        for number in range(ROUNDS):
            with timed(direct):
                ask = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "noop", "arguments": {}}}
                server.stdin.write(json.dumps(ask).encode() + b"\n")
                server.stdin.flush()
                server.stdout.readline()
            with timed(nested):
                await called(noop)
    return {"direct": direct, "nested": nested}


async def called(tool, **arguments) -> None:
    answer = tool(**arguments)
    if hasattr(answer, "__await__"):
        answer = await answer
    if hasattr(answer, "__aiter__"):
        async for _part in answer:
            pass


@contextlib.contextmanager
def timed(times: list):
    begin = time.perf_counter()
    yield
    times.append((time.perf_counter() - begin) * 1000)


faulthandler.dump_traceback_later(int(sys.argv[3]), exit=True)
asyncio.run(main())
