#!/usr/bin/env python3
"""What speculation brings, as a Markdown table: `teapot speed --mtp`, with and without drafts in turn in one process.

    bench/drafts.py [--binary build/teapot] [--models DIR] [--only paid,unpaid,switch,dense,demo] [--gen 256] [--repeat 8] [--flags "--threads 2"]

Random weights accept nothing: with them acceptance is forced (the table says to what), all work is done. The demo model's is its own.
Models are made in DIR where they are missing, by synth_gguf.py, which $SYNTH names (it needs numpy).
"""
import argparse, json, os, pathlib, shlex, subprocess, sys

RATES = "0.85,0.75,0.65,0.55"
A3B = ("a3b8-mtp", "--preset qwen3.5-35b-a3b --layers 8 --quant q4_k --head q6_k")
D27 = ("d27b8-mtp", "--preset qwen3.5-27b --layers 8 --quant q4_k --head q6_k")
LINES = {
    "paid": (A3B, f"--mtp 1,2,3,4,auto --accept-rate {RATES} -c 1,4,8"),
    "unpaid": (A3B, "--mtp auto --accept-rate 0 -c 1,4,8"),
    "switch": (A3B, "--mtp 1,2,3,4,auto --accept-rate 0.9;0.1 -c 1"),
    "dense": (D27, f"--mtp 2,3,4,auto --accept-rate {RATES} -c 1"),
    "demo": (None, "--mtp 1,2,3,4,auto --prompts bench/prompts.txt -c 1,4,8"),
}


def model_path(model, folder):
    if model is None:
        return "models/demo"
    path = folder / f"{model[0]}.gguf"
    if not path.exists():
        synth = os.environ.get("SYNTH", "../shared/tools/synth_gguf.py")
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, synth, *shlex.split(model[1]), "--mtp", "--out", str(part)], check=True, stdout=sys.stderr)
        part.rename(path)
    return str(path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", default="build/teapot")
    arguments.add_argument("--models", type=pathlib.Path, default=pathlib.Path("build/models"))
    arguments.add_argument("--only", default=",".join(LINES))
    arguments.add_argument("--gen", type=int, default=256)
    arguments.add_argument("--repeat", type=int, default=8)
    arguments.add_argument("--flags", default="")
    arguments = arguments.parse_args()
    arguments.models.mkdir(parents=True, exist_ok=True)
    print("| work | c | mtp | TPOT ms (off) | gain: median (least – most) | tokens a round | draft / model ms a step | replies |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.only.split(","):
        model, run = LINES[name]
        command = [arguments.binary, "speed", model_path(model, arguments.models), *shlex.split(run), "--gen", str(arguments.gen),
                   "--repeat", str(arguments.repeat), *shlex.split(arguments.flags), "--json"]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        off = {s["c"]: s["tpot_ms"]["median"] for s in report["speeds"] if s["mtp"] == "off"}
        for s in report["speeds"]:
            if s["mtp"] == "off":
                continue
            gain, tpot = s["gain"], s["tpot_ms"]["median"]
            print(f"| {name}: {report['drafts']} | {s['c']} | {s['mtp']} | {tpot:.2f} ({off[s['c']]:.2f}) "
                  f"| **{gain['median']:.3f}** ({gain['min']:.3f} – {gain['max']:.3f}) | {s['tokens_a_round']:.2f} "
                  f"| {s['draft_ms'] + s['catch_up_ms']:.2f} / {s['model_ms']:.2f} | {'equal' if s['replies_equal'] else 'DIFFER'} |", flush=True)


if __name__ == "__main__":
    main()
