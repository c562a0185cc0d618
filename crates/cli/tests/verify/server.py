"""An MCP server for tests, over stdio or, with `http [CERTIFICATE]`, over HTTP. Variables say what it sends and does."""

import http.server
import json
import os
import ssl
import subprocess
import sys
import time


def tools(modern):
    text = os.environ.get("TEXT", "It adds.") if modern else os.environ.get("LEGACY_TEXT", os.environ.get("TEXT", "It adds."))
    names = os.environ.get("TOOLS", "add find").split()
    schema = {"type": "object", "properties": {"größe": {"type": "number", "maximum": 1.5}}}
    return [{"name": name, "description": text if name == "add" else "It finds.", "inputSchema": schema} for name in names]


def answer(message):
    method = message["method"]
    if method == "server/discover" and "DIGEST" in os.environ:
        meta = {"io.github.gatelatch/toolsDigest": os.environ["DIGEST"]}
        return {"result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "_meta": meta}}
    if method == "initialize":
        info = {"name": "notes", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        if "_meta" in message.get("params", {}):
            return {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools(True)}}
        return {"result": {"tools": tools(False)}}
    return {"error": {"code": -32601, "message": "Method not found"}}


class Http(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = os.environ.get("WANTED")
        if wanted and self.headers["Authorization"] != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Bearer realm="notes"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if os.environ.get("REFUSES") and message["method"] != "server/discover":
            said = f"no {self.path} for {self.headers['X-Tenant']}"
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": said}}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}).encode() if "id" in message else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_http(certificate):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Http)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def serve_stdio():
    if os.environ.get("DIES"):
        sys.exit("no such \x1b[31mfolder")
    if "HANGS" in os.environ:
        child = subprocess.Popen(["sleep", "600"])
        with open(os.environ["HANGS"] + ".part", "w") as file:
            file.write(str(child.pid))
        os.rename(os.environ["HANGS"] + ".part", os.environ["HANGS"])
        time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and message["method"] != os.environ.get("MUTE"):
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True)


if sys.argv[1:2] == ["http"]:
    serve_http(sys.argv[2] if len(sys.argv) > 2 else None)
else:
    serve_stdio()
