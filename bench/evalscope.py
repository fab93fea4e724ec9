#!/usr/bin/env python3
"""`teapot bench` and evalscope's perf in turns on one server, each beside what the server's own /metrics say of the same requests.

  bench/evalscope.py MODEL --tokenizer-path DIR [--teapot build/teapot] [--evalscope evalscope] [--parallel 1 4 8] [--turns BEEB]
                     [--tokens 64] [--serve-args "--mtp off"]

B: a turn of bench, E: one of evalscope. The server's figures take the host out: it may be another one from turn to turn. evalscope is
PyPI's evalscope[perf]; DIR is a tokenizer of Hugging Face's kind, with its chat template.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import urllib.request

PER_USER = 6  # requests, and four more
FIGURES = {"TTFT": "teapot_time_to_first_token_seconds", "TPOT": "teapot_time_per_output_token_seconds"}


class Server:
    def __init__(self, args):
        command = [args.teapot, "serve", args.model, "--port", "0", *shlex.split(args.serve_args)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.address = None
        for line in self.process.stderr:
            if "listening on" in line:
                self.address = "http://" + line.split("http://")[1].split()[0]
            if "error" in line:
                sys.exit(line)
            if line.rstrip().endswith("ready"):
                break
        self.log = tempfile.TemporaryFile("w+")
        self.reader = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=self.log)

    def sums(self):
        text = urllib.request.urlopen(self.address + "/metrics").read().decode()
        sums = {}
        for line in text.splitlines():
            name, _, value = line.rpartition(" ")
            sums[name.split("{")[0]] = value
        return {f"{figure} {part}": float(sums[f"{name}_{part}"]) for figure, name in FIGURES.items() for part in ("sum", "count")}

    def reset(self):
        urllib.request.urlopen(urllib.request.Request(self.address + "/reset_prefix_cache", b"", method="POST")).read()


def run_client(args, server, who, users, turn, out):
    """The client's mean TTFT and TPOT, ms."""
    tokens = str(args.tokens)
    options = ["--url", server.address + "/v1/chat/completions", "--model", pathlib.Path(args.model).name, "--parallel", str(users),
               "--number", str(4 + PER_USER * users), "--dataset", "random", "--min-prompt-length", tokens, "--max-prompt-length", tokens,
               "--min-tokens", tokens, "--max-tokens", tokens, "--prefix-length", "0", "--tokenizer-path", args.tokenizer_path, "--stream",
               "--seed", str(turn), "--outputs-dir", str(out)]
    if who == "B":
        command, file = [args.teapot, "bench", *options], "summary.json"
    else:
        command = [args.evalscope, "perf", *options, "--api", "openai", "--extra-args", '{"ignore_eos": true}', "--no-timestamp"]
        file = "benchmark_summary.json"
    done = subprocess.run(command, capture_output=True, text=True)
    found = list(out.rglob(file))
    if not found:
        sys.exit(f"{shlex.join(command)}\nexit code {done.returncode}\n{done.stderr[-2000:]}")
    summary = json.loads(found[0].read_text())
    load = summary["loads"][0] if who == "B" else summary
    return {"TTFT": load["Avg TTFT (ms)"], "TPOT": load["Avg TPOT (ms)"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--tokenizer-path", required=True)
    parser.add_argument("--teapot", default="build/teapot")
    parser.add_argument("--evalscope", default="evalscope")
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--turns", default="BEEB")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--serve-args", default="--mtp off")
    args = parser.parse_args()
    server = Server(args)
    try:
        with tempfile.TemporaryDirectory() as folder:
            print("| users | client | TTFT ms: client, server | TPOT ms: client, server |\n|---|---|---|---|")
            for users in args.parallel:
                for turn, who in enumerate(args.turns):
                    server.reset()
                    before = server.sums()
                    client = run_client(args, server, who, users, 100 * turn + users, pathlib.Path(folder) / f"{users}_{turn}")
                    after = server.sums()
                    cells = []
                    for figure in FIGURES:
                        count = after[f"{figure} count"] - before[f"{figure} count"]
                        own = 1000 * (after[f"{figure} sum"] - before[f"{figure} sum"]) / count
                        cells.append(f"{client[figure]:.2f}, {own:.2f} ({100 * (client[figure] / own - 1):+.1f} %)")
                    print(f"| {users} | {'teapot bench' if who == 'B' else 'evalscope'} | {' | '.join(cells)} |", flush=True)
    finally:
        server.process.terminate()
        server.process.wait()


main()
