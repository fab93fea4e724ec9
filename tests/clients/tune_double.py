#!/usr/bin/env python3
"""A pretend server for tests of `teapot tune`: streams words at a pace that follows from its options. Standard library only.

  tune_double.py --port P [--helper yes] [--pace fast] [--wall yes|hang|crash] [--greedy fold] [--pages 64] [--load die] [--fork yes]

--pace fast is a third faster, --pages does nothing, --lag 2 is slower, --greedy fold writes another text, --wall crash ends before it is
ready, --wall hang never is, --load die ends under load, --lamp on is accepted and not in force. Each start has noise of its own.
--fork yes starts a helper in a session of its own, that only its parent's end would not take along.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = "low water blue stone far light warm bread long road new wheel soft rain old tower".split()


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("pace", "plain"), ("wall", "no"), ("greedy", "plain"), ("pages", "16"), ("load", "live"), ("lamp", "off"),
                          ("lag", "1"), ("fork", "no")):
        parser.add_argument("--" + name, default=default)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--noise", type=float, default=0.01)
    return parser.parse_args()


ARGS = options()
STEP = 0.012 * (0.67 if ARGS.pace == "fast" else 1) * (1.3 if ARGS.lag == "2" else 1) * math.exp(random.gauss(0, ARGS.noise))
served = 0
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        pages = {"/health": {}, "/version": {"version": "double 1"}, "/v1/models": {"data": [{"id": "double"}]},
                 "/info": {**vars(ARGS), "lamp": "off"}}
        self.answer(pages.get(self.path, {}), 200 if self.path in pages else 404)

    def do_POST(self):
        global served
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            served += 1
            if ARGS.load == "die" and served > 5:
                print("no memory left", file=sys.stderr, flush=True)
                os._exit(7)
        prompt, count = request["messages"][-1]["content"], request["max_tokens"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        due = time.monotonic() + 2 * STEP
        for i in range(count):
            time.sleep(max(0, due - time.monotonic()))
            due += STEP
            word = WORDS[zlib.crc32(f"{prompt} {i} {ARGS.greedy if i > 9 else ''}".encode()) % len(WORDS)] + " "
            self.event({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": "length" if i + 1 == count else None}]})
        self.event({"choices": [], "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": count}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, body):
        self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())


if ARGS.wall == "crash":
    sys.exit("cannot map the wall")
if ARGS.fork == "yes":
    subprocess.Popen(["sleep", "3600"], start_new_session=True)
while ARGS.wall == "hang":
    time.sleep(3600)
ThreadingHTTPServer(("127.0.0.1", ARGS.port), Handler).serve_forever()
