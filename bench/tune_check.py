#!/usr/bin/env python3
"""Does `teapot tune` find the best profile of a server whose truth is known? For a quiet machine.

  tune_check.py TEAPOT --double fake_server.py --catalogue fake.yaml --out DIR [--seeds 5] [--speed 2] [--budget 200] [--jobs 1] [--show]
  tune_check.py ... --nothing 10        sessions over knobs that do nothing, a pair's sd 2 %

The double tells the exact TPOT of any profile (`--truth`). Printed for each seed: the winner's truth against the best that is known, the
claim against the truth, moves that are truly worse, the traps' verdicts. --show: of the sessions that DIR has, finished or not. Exit code 1
if fewer than 4 of 5 seeds come within 1 % of the best, or fewer than 9 of 10 sessions over nothing adopt nothing. Standard library only.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys

BEST = {"threads": "8", "bind": "core", "graph": "full", "static_kernel": "on", "spec_k": "3", "graph_sizes": "@exact_step_tokens",
        "comm": "aiv", "alloc": "pool", "prefetch": "shared"}
FLAGS = {"threads": "--threads", "bind": "--bind", "graph": "--graph", "static_kernel": "--static-kernel", "spec_k": "--spec-k",
         "graph_sizes": "--graph-sizes", "prefetch": "--prefetch", "page_size": "--page-size", "prefix_cache": "--prefix-cache",
         "min_tokens_mask": "--min-tokens-mask", "mem": "--mem", "kv_type": "--kv-type"}
VARIABLES = {"comm": "FAKE_COMM", "alloc": "FAKE_ALLOC", "queue": "FAKE_QUEUE", "deterministic": "FAKE_DETERMINISTIC"}
TRAPS = {("page_size", "64"): {"null, not confirmed in force"}, ("prefetch", "all"): {"broken (hang)"}, ("mem", "0.97"): {"broken (crash)"},
         ("queue", "2"): {"broken (start)", "refused"}, ("kv_type", "q8"): {"refused", "broken (text)"}}
USERS = (1, 4, 8)


def truth(double, profile):
    """Geometric mean of TPOT over the numbers of users, ms."""
    flags, env = [], dict(os.environ)
    for knob, value in profile.items():
        if value == "@exact_step_tokens":
            value = ",".join(str(c * (int(profile.get("spec_k", 0)) + 1)) for c in USERS)
        if knob in FLAGS:
            flags += [FLAGS[knob], value]
        elif value is not None:
            env[VARIABLES[knob]] = value
    told = subprocess.run([sys.executable, double, "--truth", ",".join(map(str, USERS)), *flags], env=env, capture_output=True, text=True, check=True)
    return math.exp(sum(math.log(load["tpot_ms"]) for load in json.loads(told.stdout)["c"].values()) / len(USERS))


def run(args, seed, more, noise):
    folder = pathlib.Path(args.out) / f"seed{seed}{'-nothing' if more else ''}"
    if args.show:
        command = [args.teapot, "tune", "show", folder, "--json"]
    elif (folder / "ledger.jsonl").exists():
        command = [args.teapot, "tune", "resume", folder, "--json"]
    else:
        start = (f"{sys.executable} {args.double} --model {{model}} --port {{port}} --state {{state}} --noise-run {noise} --noise-req 0.01 "
                 f"--drift {args.drift} --startup-ms 100 --seed {{seed}} --speed {args.speed}")
        command = [args.teapot, "tune", "--catalogue", args.catalogue, "--start", start, "--model", "fake-1b", "--budget", f"{args.budget}pairs",
                   "--load", args.load, "--seed", str(seed), "--out", folder, "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout.strip():
        sys.exit(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def describe(args, seed, result, least, base):
    profile = result.get("unconfirmed", result["profile"])
    found = truth(args.double, profile)
    verdicts = {}
    for verdict in result["verdicts"]:
        verdicts[verdict["knob"], verdict["value"]] = verdict["verdict"]
    worse = []
    for knob in profile:
        without = {name: value for name, value in profile.items() if name != knob and not (knob == "spec_k" and name == "graph_sizes")}
        if "spec_k" in without or knob != "graph_sizes":
            if found > 1.0005 * truth(args.double, without):
                worse.append(knob)
    traps = {f"{knob}={value}": verdicts.get((knob, value), "not tried") for (knob, value) in TRAPS}
    wrong = [trap for trap, good in zip(traps.items(), TRAPS.values()) if trap[1] not in good]
    claim = result["confirmed"]["change_percent"]
    real = 100 * (found / base - 1)
    print(f"seed {seed}: {result['end']}, {result['pairs']} pairs in {result['elapsed_s'] / 60:.0f} min, sd of a pair "
          f"{result['a_against_a']['sd_percent']:.2f} %; the winner takes {100 * (found / least - 1):+.2f} % over the best; "
          f"claimed {'nothing' if claim is None else f'{claim:+.2f} %'}, truth {real:+.2f} %; truly worse: {worse or 'nothing'}; "
          f"wrong verdicts: {wrong or 'none'}", flush=True)
    return found <= 1.01 * least and not worse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teapot")
    parser.add_argument("--double", required=True)
    parser.add_argument("--catalogue", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--speed", type=float, default=2)
    parser.add_argument("--drift", type=float, default=0.0005)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--load", default="1024/64")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--nothing", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    args.teapot, args.double = pathlib.Path(args.teapot).resolve(), pathlib.Path(args.double).resolve()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if args.nothing:
            knobs = ["--knobs", "page_size,queue,prefix_cache,min_tokens_mask"]
            found = list(pool.map(lambda seed: run(args, 100 + seed, knobs, 0.0134), range(args.nothing)))
            adopted = sum(bool(result["profile"]) for result in found)
            print(f"{adopted} of {args.nothing} sessions over knobs that do nothing adopted something")
            sys.exit(0 if adopted <= args.nothing / 10 else 1)
        least, base = truth(args.double, BEST), truth(args.double, {})
        print(f"best possible {least:.3f} ms, the defaults {base:.3f} ms: {100 * (least / base - 1):+.2f} %")
        seeds = range(1, args.seeds + 1)
        good = sum(describe(args, seed, result, least, base) for seed, result in zip(seeds, pool.map(lambda s: run(args, s, [], 0.01), seeds)))
    print(f"{good} of {args.seeds} within 1 % of the best, with nothing in it that is truly worse")
    sys.exit(0 if good >= 0.8 * args.seeds else 1)


main()
