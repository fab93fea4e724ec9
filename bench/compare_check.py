#!/usr/bin/env python3
"""Does `teapot bench compare` say the truth over HTTP? Two stub servers whose time per token is known; for a quiet machine.

  compare_check.py TEAPOT [--runs 20] [--slower 0.02] [--noise 0.014] [--tpot-ms 5] [--tokens 16] [--pairs 60] [--parallel 1 4]

Runs the same server twice (expected: called different in at most 1 of 20) and one that is slower by --slower (expected: `worse` within
--pairs pairs, each time). --noise is the relative deviation that each turn keeps for all its requests: a pair's is sqrt(2) times that.
Exit code 1 if either expectation fails. Standard library only.
"""
import argparse
import asyncio
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import threading


class Stub:
    """Streams `tokens` events; the n-th stands at ttft + n * tpot after the request, by the loop's clock, so that late wake-ups don't add up."""

    def __init__(self, tpot_s, noise, tokens, seed):
        self.tpot_s, self.noise, self.tokens = tpot_s, noise, tokens
        self.random = random.Random(seed)
        self.factor = 1.0

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, target = head.split(" ", 2)[:2]
                length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
                await reader.readexactly(length)
                if method == "POST" and target.endswith("/completions"):
                    await self.reply(writer)
                elif method == "POST" and target == "/reset_prefix_cache":
                    self.factor = math.exp(self.random.gauss(0, self.noise))  # a turn begins
                    self.plain(writer, "{}")
                elif target.endswith("/v1/models"):
                    self.plain(writer, json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}))
                else:
                    self.plain(writer, "{}", "404 Not Found")
                await writer.drain()
                if "connection: close" in head.lower():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    def plain(self, writer, body, status="200 OK"):
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    async def reply(self, writer):
        loop = asyncio.get_running_loop()
        begin, tpot = loop.time(), self.tpot_s * self.factor
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for n in range(self.tokens):
            await asyncio.sleep(max(0, begin + 4 * tpot + n * tpot - loop.time()))
            finish = "stop" if n + 1 == self.tokens else None
            self.event(writer, {"choices": [{"index": 0, "delta": {"content": f"w{n} "}, "finish_reason": finish}]})
        self.event(writer, {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": self.tokens}})
        self.chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")

    def event(self, writer, fields):
        self.chunk(writer, b"data: " + json.dumps({"object": "chat.completion.chunk", "model": "stub", **fields}).encode() + b"\n\n")

    @staticmethod
    def chunk(writer, data):
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))


def start(stub):
    """A stub on a thread of its own; its port."""
    ready, port = threading.Event(), []

    async def run():
        server = await asyncio.start_server(stub.serve, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        async with server:
            await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    ready.wait()
    return port[0]


def compare(options, slower, seed, folder):
    ports = [start(Stub(options.tpot_ms / 1000 * factor, options.noise, options.tokens, f"{seed} {factor} {arm}"))
             for arm, factor in enumerate((1, 1 + slower))]
    turn = sum(options.parallel) * 2
    prompts = folder / "prompts.txt"
    prompts.write_text("".join(f"prompt {i}\n" for i in range(turn * (1 + 2 * (options.pairs + options.pairs // 20 + 6 + 5)))))
    command = [options.teapot, "bench", "compare", "--a", f"http://127.0.0.1:{ports[0]}", "--b", f"http://127.0.0.1:{ports[1]}",
               "--parallel", *map(str, options.parallel), "--pairs", str(options.pairs), "--dataset", "custom",
               "--dataset-path", str(prompts), "--max-tokens", str(options.tokens), "--seed", str(seed), "--json",
               "--outputs-dir", str(folder), "--name", f"run{seed}_{slower}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}")
    found = json.loads(done.stdout)
    print(f"slower by {100 * slower:g} %, seed {seed}: {found['text']}", flush=True)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("teapot")
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--slower", type=float, default=0.02)
    p.add_argument("--noise", type=float, default=0.014)
    p.add_argument("--tpot-ms", type=float, default=5)
    p.add_argument("--tokens", type=int, default=16)
    p.add_argument("--pairs", type=int, default=60)
    p.add_argument("--parallel", type=int, nargs="+", default=[1, 4])
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        equal = [compare(options, 0, seed, folder) for seed in range(options.runs)]
        slow = [compare(options, options.slower, 1000 + seed, folder) for seed in range(options.runs)]
    different = sum(f["end"] == "null differs" or f["verdict"] in ("better", "worse") for f in equal)
    found = sum(f["verdict"] == "worse" for f in slow)
    pairs = sorted(f["mean"]["tpot"]["pairs"] for f in slow)
    print(f"equal servers called different: {different} of {options.runs}")
    print(f"slower by {100 * options.slower:g} % found: {found} of {options.runs}, after {pairs[len(pairs) // 2]} pairs in the median, "
          f"{pairs[-1]} at most")
    sys.exit(0 if different <= options.runs / 20 and found == options.runs else 1)


if __name__ == "__main__":
    main()
