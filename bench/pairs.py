#!/usr/bin/env python3
"""Two programs in pairs: who goes first is drawn, balanced in blocks of four pairs; ratios with their interval.

Lines on stdin: metric, pair, arm (a or b), value, separated by tabs. Printed: for each metric the geometric mean of b / a over the pairs, its 95 %
interval (Student's t over the logarithms) and how far the pairs depend on the ones before (lag-1 correlation).

  pairs.py order PAIRS SEED      "ab" or "ba" a line
  pairs.py ratios NAME < FILE    a Markdown table
"""
import math
import random
import sys

# Two-sided 95 % quantiles of Student's t by degrees of freedom.
T95 = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
       2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def order(pairs, seed):
    rng = random.Random(seed)
    result = []
    while len(result) < pairs:
        block = ["ab", "ab", "ba", "ba"]
        rng.shuffle(block)
        result += block
    return result[:pairs]


def interval(logs):
    """mean, half width, lag-1 correlation"""
    n = len(logs)
    mean = sum(logs) / n
    if n < 2:
        return mean, math.inf, 0.0
    squares = sum((d - mean) ** 2 for d in logs)
    lag = sum((x - mean) * (y - mean) for x, y in zip(logs, logs[1:])) / squares if squares else 0.0
    return mean, T95[min(n - 1, 30)] * math.sqrt(squares / (n - 1) / n), lag


def ratios(lines, name):
    values = {}
    for line in lines:
        metric, pair, arm, value = line.rstrip("\n").split("\t")
        values.setdefault(metric, {}).setdefault(int(pair), {})[arm] = float(value)
    print("| %s | a | b | b / a | 95 %% interval | pairs | lag-1 |" % name)
    print("|---|---|---|---|---|---|---|")
    for metric, pairs in values.items():
        whole = [p for _, p in sorted(pairs.items()) if len(p) == 2]
        if not whole:
            continue
        mean, half, lag = interval([math.log(p["b"] / p["a"]) for p in whole])
        middle = lambda arm: sorted(p[arm] for p in whole)[len(whole) // 2]
        print("| %s | %.2f | %.2f | %.3f | %.3f to %.3f | %d | %.2f |" % (
            metric, middle("a"), middle("b"), math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(whole), lag))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "order":
        print("\n".join(order(int(sys.argv[2]), int(sys.argv[3]))))
    elif len(sys.argv) == 3 and sys.argv[1] == "ratios":
        ratios(sys.stdin, sys.argv[2])
    else:
        sys.exit(__doc__)
