#!/usr/bin/env python3
"""What several users at a time get from `teapot serve`, beside what the engine does without a server: the table of docs/levers.md.

  bench/users.py --teapot build/teapot MODEL.gguf [--only tpot,stretch,turn,shared,poll,host] [--threads N] [--rounds N]
                 [--flags "--mtp off"] [--json FILE]

  tpot     TPOT of 1, 4 and 8 streams against `teapot speed` at the same concurrency, in turns
  stretch  4 streams while a prompt of 4096 tokens comes in: their TPOT, the prompt's TTFT against alone, for each --tpot-stretch
  turn     TTFT of a second turn of a chat (about 1024 tokens of history, 50 new ones) against that of the first
  shared   8 requests at the same moment with one beginning of 2048 tokens: tokens computed
  poll     TPOT of 4 streams while /metrics is read ten times a second, against without, in turns
  host     what the decode thread works between two steps at 8 streams, and how long that takes by the clock, from /metrics

Prompts are token ids drawn at random, different in each request; replies have a fixed length (ignore_eos). Needs nothing but Python.
"""
import argparse
import json
import random
import selectors
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request


WORDS = "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were".split()


def log(text):
    print(text, file=sys.stderr, flush=True)


class Server:
    """A `teapot serve` of its own on a free port."""

    def __init__(self, args, *options):
        command = [args.teapot, "serve", args.model, "--port", "0", "--ctx", "6144", "--threads", str(args.threads),
                   *shlex.split(args.flags), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.port = None
        for line in self.process.stderr:
            if "listening on" in line:
                self.port = int(line.split("http://")[1].split()[0].rsplit(":", 1)[1])
            if "error" in line:
                sys.exit(line)
            if line.rstrip().endswith("ready"):
                break
        # Its log must not fill the pipe.
        threading.Thread(target=lambda: [None for _ in self.process.stderr], daemon=True).start()

    def get(self, path):
        return urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=600).read().decode()

    def reset(self):
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/reset_prefix_cache", b"", method="POST")).read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Stream:
    """One streamed reply to token ids, or to the messages of a chat; `times` has the arrival of each token."""

    def __init__(self, port, prompt, tokens):
        chat = isinstance(prompt[0], dict)
        body = json.dumps({"messages" if chat else "prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True,
                           "stream": True, "stream_options": {"include_usage": True}}).encode()
        path = b"/v1/chat/completions" if chat else b"/v1/completions"
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.sent = time.monotonic()
        self.socket.sendall(b"POST " + path + b" HTTP/1.1\r\nHost: teapot\r\nContent-Type: application/json\r\nContent-Length: "
                            + str(len(body)).encode() + b"\r\nConnection: close\r\n\r\n" + body)
        self.socket.setblocking(False)
        self.data, self.times, self.done = b"", [], False

    def read(self):
        now = time.monotonic()
        piece = self.socket.recv(1 << 16)
        self.data += piece
        # Each event is written at once: what comes together is one step's.
        tokens = self.data.count(b'"finish_reason":null')
        self.times += [now] * (tokens - len(self.times))
        if not piece:
            self.done = True
            self.socket.close()

    @property
    def ttft(self):
        return self.times[0] - self.sent

    @property
    def gaps(self):
        return [b - a for a, b in zip(self.times, self.times[1:])]

    def events(self):
        return [json.loads(line[6:]) for line in self.data.split(b"\n") if line.startswith(b"data: {")]

    def usage(self):
        return next(e["usage"] for e in self.events() if e.get("usage"))

    def text(self):
        return "".join(c["delta"].get("content") or "" for e in self.events() for c in e["choices"])


def drive(streams, while_running=None):
    """Reads all streams to their end; while_running() may return more of them."""
    selector = selectors.DefaultSelector()
    for stream in streams:
        selector.register(stream.socket, selectors.EVENT_READ, stream)
    streams = list(streams)
    while selector.get_map():
        for key, _ in selector.select(0.05):
            stream = key.data
            sock = stream.socket
            stream.read()
            if stream.done:
                selector.unregister(sock)
        if while_running:
            for stream in while_running(streams) or []:
                streams.append(stream)
                selector.register(stream.socket, selectors.EVENT_READ, stream)
    return streams


class Prompts:
    def __init__(self, seed, vocab=150000):
        self.random, self.vocab = random.Random(seed), vocab

    def __call__(self, tokens):
        return [self.random.randrange(1000, self.vocab) for _ in range(tokens)]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def speed(args, c, gen):
    out = subprocess.run([args.teapot, "speed", args.model, "-c", str(c), "--prompt", "64", "--gen", str(gen), "--repeat", "3", "--threads",
                          str(args.threads), "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(out)["decode"][0]["ms_per_step"]


def measure_tpot(args):
    rows = []
    with Server(args) as server:
        prompts = Prompts(1)
        for c in (1, 4, 8):
            ratios, ours, alone = [], [], []
            for _ in range(args.rounds):
                def through_server():
                    streams = drive([Stream(server.port, prompts(64), 97) for _ in range(c)])
                    return 1000 * statistics.median(g for s in streams for g in s.gaps[8:88])

                server_first = random.random() < 0.5
                a = through_server() if server_first else None
                b = speed(args, c, 24)
                a = a if server_first else through_server()
                ours.append(a)
                alone.append(b)
                ratios.append(a / b)
            rows.append({"c": c, "server_ms": statistics.median(ours), "speed_ms": statistics.median(alone),
                         "ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios)})
            log(f"tpot c={c}: {rows[-1]}")
    return rows


def measure_stretch(args):
    rows = []
    for stretch in args.stretches:
        with Server(args, "--tpot-stretch", stretch, "--prefix-cache", "off") as server:
            prompts = Prompts(2)
            alone = drive([Stream(server.port, prompts(4096), 2)])[0].ttft
            state = {}

            def more(streams):
                if "long" in state or min(len(s.times) for s in streams) < 12:
                    return []
                state["long"] = Stream(server.port, prompts(4096), 2)
                return [state["long"]]

            # The streams must outlive the prompt: the smaller its pieces, the longer it takes.
            tokens = args.stretch_tokens * (4 if float(stretch) < 2 else 1)
            streams = drive([Stream(server.port, prompts(64), tokens) for _ in range(4)], more)
            long = state["long"]
            begin, end = long.sent, long.times[0]
            gaps = [(a, b - a) for s in streams if s is not long for a, b in zip(s.times, s.times[1:])]
            plain = [g for at, g in gaps if at + g < begin or at > end][8:]
            within = [g for at, g in gaps if at >= begin and at + g <= end]
            rows.append({"stretch": stretch, "plain_ms": 1000 * statistics.median(plain), "within_ms": 1000 * statistics.median(within),
                         "tpot_ratio": statistics.median(within) / statistics.median(plain),
                         "tpot_ratio_p99": percentile(within, 0.99) / statistics.median(plain),
                         "plain_ratio_p99": percentile(plain, 0.99) / statistics.median(plain),
                         "ttft_s": long.ttft, "ttft_alone_s": alone, "ttft_ratio": long.ttft / alone,
                         "streams_outlived": min(s.times[-1] for s in streams if s is not long) > end})
            log(f"stretch {stretch}: {rows[-1]}")
    return rows


def measure_turn(args):
    ratios = []
    with Server(args) as server:
        chosen = random.Random(3)
        say = lambda count: " ".join(chosen.choice(WORDS) for _ in range(count))
        for _ in range(max(3, args.rounds)):
            talk = [{"role": "user", "content": say(1010)}]
            first = drive([Stream(server.port, talk, 16)])[0]
            talk += [{"role": "assistant", "content": first.text()}, {"role": "user", "content": say(50)}]
            second = drive([Stream(server.port, talk, 2)])[0]
            ratios.append({"first_s": first.ttft, "second_s": second.ttft, "ratio": second.ttft / first.ttft,
                           "first_tokens": first.usage()["prompt_tokens"], "second_tokens": second.usage()["prompt_tokens"],
                           "cached": second.usage()["prompt_tokens_details"]["cached_tokens"]})
            log(f"turn: {ratios[-1]}")
    return ratios


def measure_shared(args):
    with Server(args) as server:
        prompts = Prompts(4)
        system = prompts(2048)
        before = json.loads(server.get("/v1/status"))
        streams = drive([Stream(server.port, system + prompts(60 + i), 8) for i in range(8)])
        after = json.loads(server.get("/v1/status"))
        computed = after["counters"]["prefilled_tokens"] - before["counters"]["prefilled_tokens"]
        rest = sum(60 + i for i in range(8))
        row = {"computed": computed, "limit": 2048 + rest, "ttft_s": [round(s.ttft, 3) for s in streams]}
        log(f"shared: {row}")
        return row


def measure_poll(args):
    with Server(args) as server:
        prompts, order, ratios = Prompts(6), random.Random(6), []

        def tpot(polled):
            stop = threading.Event()

            def poll():
                while not stop.wait(0.1):
                    server.get("/metrics")

            thread = threading.Thread(target=poll)
            if polled:
                thread.start()
            streams = drive([Stream(server.port, prompts(64), 130) for _ in range(4)])
            stop.set()
            if polled:
                thread.join()
            return statistics.mean(g for s in streams for g in s.gaps[8:120])

        for _ in range(2 * args.rounds):
            first = order.random() < 0.5
            values = {polled: tpot(polled) for polled in (first, not first)}
            ratios.append(values[True] / values[False])
        row = {"ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios), "pairs": len(ratios)}
        log(f"poll: {row}")
        return row


def measure_host(args):
    with Server(args) as server:
        prompts = Prompts(5)
        drive([Stream(server.port, prompts(64), 200) for _ in range(8)])
        figures = {}
        for line in server.get("/metrics").splitlines():
            if line.startswith(("teapot_step_host_seconds", "teapot_step_gap_seconds")):
                name, value = line.rsplit(" ", 1)
                figures[name] = float(value)
        total = sum(v for k, v in figures.items() if k.startswith("teapot_step_host_seconds_sum"))
        count = sum(v for k, v in figures.items() if k.startswith("teapot_step_host_seconds_count"))
        gap = sum(v for k, v in figures.items() if k.startswith("teapot_step_gap_seconds_sum"))
        row = {"mean_us": 1e6 * total / count, "gap_us": 1e6 * gap / count, "steps": count,
               "buckets": {k: v for k, v in figures.items() if k.startswith("teapot_step_host_seconds_bucket")}}
        log(f"host: {row['mean_us']:.1f} us of work, {row['gap_us']:.1f} us by the clock a step, over {count:.0f} steps")
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--teapot", default="build/teapot")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="tpot,stretch,turn,shared,poll,host")
    parser.add_argument("--stretches", type=lambda text: text.split(","), default="1.25,1.5,2,2.5,3,4,inf".split(","))
    parser.add_argument("--stretch-tokens", type=int, default=600)
    parser.add_argument("--flags", default="", help="of the server: '--mtp off' for a model whose drafts never hold")
    parser.add_argument("--json")
    args = parser.parse_args()
    measures = {"tpot": measure_tpot, "stretch": measure_stretch, "turn": measure_turn, "shared": measure_shared, "poll": measure_poll,
                "host": measure_host}
    result = {name: measures[name](args) for name in args.only.split(",")}
    text = json.dumps(result, indent=1)
    if args.json:
        with open(args.json, "w") as file:
            file.write(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
