"""Servers of a few lines, run by `python -S -E -c`: they need no package, so that they start anywhere."""

SERVE = """
import json, os, sys
def answer(request, result):
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
    sys.stdout.write(line + "\\n"); sys.stdout.flush()
def serve(tools, call):
    for line in sys.stdin:
        request = json.loads(line)
        match request["method"]:
            case "initialize":
                info = {"name": "s", "version": "1"}
                answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
            case "tools/list":
                answer(request, {"tools": tools})
            case "tools/call":
                answer(request, {"content": [{"type": "text", "text": call(request["params"]["arguments"])}]})
            case _ if "id" in request:
                line = {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}}
                sys.stdout.write(json.dumps(line) + "\\n"); sys.stdout.flush()
"""
WRITER = (
    SERVE
    + """
def write(given):
    try:
        open(given["path"], "w").write("x")
    except OSError as error:
        return f"Failed: {error}"
    return "written"
serve([{"name": "write", "inputSchema": {"type": "object"}}], write)
"""
)
POLITE = (
    SERVE
    + """
import signal, time
def heard(number, frame):
    open(sys.argv[1].removeprefix("--out="), "w").write("TERM")
    os._exit(0)
signal.signal(signal.SIGTERM, heard)
serve([], None)
time.sleep(60)
"""
)
GREEDY = (
    SERVE
    + """
held = [os.urandom(1 << 20) * 200]
serve([], None)
"""
)

# Its children leave its session and its family, hear no signal that can be refused, and wait for nobody.
DETACHED = """
import ctypes, os, signal, time
def detach(twice):
    if os.fork():
        return
    os.setsid()
    if twice and os.fork():
        os._exit(0)
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    for number in range(3):
        os.close(number)
    time.sleep(200)
    os._exit(0)
detach(False)
detach(True)
"""
STUBBORN = (
    DETACHED
    + SERVE
    + """
serve([], None)
"""
)
