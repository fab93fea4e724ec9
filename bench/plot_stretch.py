#!/usr/bin/env python3
"""Draws what bench/users.py --only stretch --json measured: the TTFT of a 4,096-token prompt beside 4 streams, over --tpot-stretch.

  bench/plot_stretch.py FILE.json --speed SPEED.json --out docs/stretch.svg

SPEED.json is `teapot speed MODEL -c 4 --json` on the same file: from its bytes comes the floor. A step of 4 + r rows reads what does not
depend on rows, and of a layer's 256 experts about 256 (1 - (1 - 8/256)^(4 + r)); the largest r within the stretch gives the number of steps
that a prompt needs at least. Needs nothing but Python.
"""
import argparse
import json
import math

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 70, 30, 20, 60
EXPERTS, CHOSEN, STREAMS, PROMPT = 256, 8, 4, 4096


def floor_of(stretch, fixed, experts, plain_s, alone_s):
    """TTFT over the TTFT alone, if a step took what its bytes take."""
    share = lambda rows: 1 - (1 - CHOSEN / EXPERTS) ** rows
    all_experts = experts / share(STREAMS)
    limit = stretch * (fixed + experts)
    if limit >= fixed + all_experts:
        return None  # every expert is read: arithmetic decides
    rows = math.log(1 - (limit - fixed) / all_experts) / math.log(1 - CHOSEN / EXPERTS) - STREAMS
    return max(1, PROMPT / rows * stretch * plain_s / alone_s)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--speed", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.file) as file:
        rows = json.load(file)["stretch"]
    with open(args.speed) as file:
        parts = {name: part["weight_bytes"] + part["state_bytes"] + part["kv_bytes"]
                 for name, part in json.load(file)["decode"][0]["parts"].items()}
    experts = parts["experts"]
    fixed = sum(parts.values()) - experts
    plain = sorted(row["plain_ms"] for row in rows)[len(rows) // 2] / 1000
    alone = sorted(row["ttft_alone_s"] for row in rows)[len(rows) // 2]

    finite = [row for row in rows if row["stretch"] != "inf"]
    places = {row["stretch"]: float(row["stretch"]) for row in finite}
    places["inf"] = max(places.values()) + 0.5
    low, high = 1, places["inf"] + 0.25
    top = max(max(row["ttft_ratio"] for row in rows), 3) * 1.1
    x = lambda stretch: LEFT + (stretch - low) / (high - low) * (WIDTH - LEFT - RIGHT)
    y = lambda ratio: HEIGHT - BOTTOM - ratio / top * (HEIGHT - TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for tick in range(0, int(top) + 1):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}x</text>')
    for name, at in places.items():
        out.append(f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{name}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 14}" text-anchor="middle">--tpot-stretch</text>')

    def line(points, colour, dash=""):
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')

    floor = []
    for step in range(1, 200):
        stretch = 1 + step / 20
        if stretch > max(places[row["stretch"]] for row in finite):
            break
        value = floor_of(stretch, fixed, experts, plain, alone)
        if value is not None and value <= top:
            floor.append((stretch, value))
    line(floor, "#999", 'stroke-dasharray="6 4"')
    line([(places[r["stretch"]], r["ttft_ratio"]) for r in finite], "#c33")
    line([(places[r["stretch"]], min(top, r["tpot_ratio"])) for r in finite], "#36c")
    for row in rows:
        for figure, colour in (("ttft_ratio", "#c33"), ("tpot_ratio", "#36c")):
            if row[figure] > top:
                out.append(f'<text x="{x(places[row["stretch"]]):.1f}" y="{TOP + 10}" text-anchor="middle" fill="{colour}">{row[figure]:.0f}x</text>')
                continue
            out.append(f'<circle cx="{x(places[row["stretch"]]):.1f}" cy="{y(row[figure]):.1f}" r="4" fill="{colour}"/>')
    for i, (text, colour) in enumerate((("TTFT of the prompt, over alone", "#c33"), ("TPOT of the 4 streams (median), over plain", "#36c"),
                                        ("floor of the TTFT: bytes that a step reads", "#999"))):
        out.append(f'<rect x="{WIDTH - 330}" y="{TOP + 24 + 20 * i}" width="14" height="4" fill="{colour}"/>'
                   f'<text x="{WIDTH - 310}" y="{TOP + 30 + 20 * i}">{text}</text>')
    out.append("</svg>")
    with open(args.out, "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
