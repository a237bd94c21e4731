"""A small MCP server over stdio, of the standard library alone; argv[1] says how it behaves."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def tool(name, **fields):
    return {"name": name, "inputSchema": {"type": "object"}, **fields}


# Key order, a null and a field that no SDK knows: all of it must arrive.
ODD = {
    "zulu": 1.0,
    "name": "odd",
    "inputSchema": {"type": "object", "properties": {"b": {"default": None}, "a": {}}},
    "description": "ünïcode — 🙂",
    "annotations": None,
}


LISTS = {
    "huge": {"tools": [tool(f"t{n}", description="x" * 10_000) for n in range(1000)]},
    "bad-schema": {"tools": [tool("good"), {"name": "bad", "inputSchema": "none"}]},
    "no-name": {"tools": [{"inputSchema": {"type": "object"}}]},
    "no-list": {"tools": {"a": 1}},
    "strange-schema": {"tools": [{"name": "odd", "inputSchema": {"type": "object", "items": 1}}]},
    "always": {"tools": [tool("a"), tool("b", _meta={"anthropic/alwaysLoad": True})]},
}


def page(mode, cursor):
    number = int(cursor or 0)
    following = {
        "pages": str(number + 1) if number < 2 else None,
        "same-cursor": "1",
        "endless": str(number + 1),
    }
    if mode in following:
        more = {"nextCursor": following[mode]} if following[mode] else {}
        return {"tools": [tool(f"t{number}")], **more}
    return LISTS.get(mode, {"tools": [ODD, tool("two")], "_meta": {"of": "the page"}})


def answer(mode, request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        capabilities = {"prompts": {}} if mode == "no-tools" else {"tools": {}}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": {"name": "small", "version": "1.2.3"},
            "instructions": "Use me well.",
        }
    if method == "tools/list" and mode != "no-tools":
        return page(mode, params.get("cursor"))
    return None


def misbehave(mode, argument):
    match mode:
        case "crash":
            sys.stderr.write("warming up\nKeyError: 'JIRA_URL'\n")
            sys.exit(3)
        case "silent":
            time.sleep(60)
        case "stubborn":  # does not leave when its stdin closes, and has a child
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            Path(argument).write_text(str(child.pid))
            time.sleep(60)
        case "garbage":
            print("Welcome to my server!", flush=True)
            print("{not json", flush=True)
            time.sleep(60)
        case "meet":  # answers only when another one has come, too
            folder = Path(argument)
            (folder / str(os.getpid())).touch()
            while len(list(folder.iterdir())) < 2:
                time.sleep(0.02)
        case "chatty":
            print("Welcome to my server!", flush=True)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    misbehave(mode, sys.argv[2] if len(sys.argv) > 2 else "")
    initialised = False
    for line in sys.stdin:
        request = json.loads(line)
        if mode == "strict" and not (initialised or request["method"] == "initialize"):
            sys.exit("expected initialize first")
        initialised = True
        if "id" not in request or (mode == "mute" and request["method"] == "server/discover"):
            continue
        result = answer(mode, request)
        body = {"result": result} if result else {"error": {"code": -32601, "message": "no method"}}
        if mode == "refuses" and request["method"] == "tools/list":
            body = {"error": {"code": -32000, "message": "log in first"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)


if __name__ == "__main__":
    main()
