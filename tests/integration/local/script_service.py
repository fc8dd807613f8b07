"""Stands in for every service where the local stack itself is tested.

A folder with a module of each service's name, put on `PYTHONPATH`, hides the real ones.
"""

from pathlib import Path

from contactmesh.local.settings import SERVICE_NAMES

_SERVICE = """
import http.server, json, os, pathlib, signal, sys, threading

def say(event, **fields):
    print(json.dumps({"timestamp": "2026-01-02T03:04:05.678Z", "level": "info", "event": event,
                      "service": __spec__.parent or "script", **fields}), flush=True)

class Probe(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if "UNREADY" in os.environ else 200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(os.environ)).encode())
    def log_message(self, *_):
        pass

if "DIE" in os.environ:
    sys.exit("cannot go on: " + os.environ["DIE"])
port = int(os.environ["CONTACTMESH_HTTP_PORT"])
server = http.server.ThreadingHTTPServer((os.environ["CONTACTMESH_HTTP_HOST"], port), Probe)
def stop(*_):
    if "DEAF" not in os.environ:
        threading.Thread(target=server.shutdown).start()
signal.signal(signal.SIGTERM, stop)
say("serving", name="王小明")
print("not JSON", flush=True)
server.serve_forever()
say("stopped cleanly")
"""


def script_services(folder: Path) -> dict[str, dict[str, str]]:
    """Write the modules into `folder` and give what makes the stack run them, by service."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SERVICE_NAMES:
        (folder / f"{name}.py").write_text(_SERVICE, encoding="utf-8")
    return {name: {"PYTHONPATH": str(folder)} for name in SERVICE_NAMES}
