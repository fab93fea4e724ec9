#!/usr/bin/env bash
# A peer's llama-bench or llama-batched-bench against `teapot speed` in the same hour: pairs of starts, who goes first is drawn, balanced in blocks
# of four pairs; ratios peer / teapot with their interval (above 1: teapot is faster).
#
#   bench/peer.sh --model FILE.gguf [--binary build/teapot] [--pairs 8] [--seed 1] [--threads 2] [-c 1,4,8] [--prompt 256] [--gen 32]
#                 [--peer-flags "-rtr -thp"] [--flags "--isa avx2"] BINARY...
#
# --peer-flags are the peer's own (ik_llama.cpp: "-rtr -thp" for llama-batched-bench, "-rtr 1 -thp 1" for llama-bench; give "" for its defaults).
# llama-bench decodes one sequence: its lines are c=1 and prefill. llama-batched-bench gives all sequences token 0, so that they choose the same
# experts: beyond c=1 the peer reads fewer weights than teapot, whose sequences differ. ik_llama.cpp reads the prompts of several sequences of
# a hybrid model token by token: with -pps it reads one for all, and decodes the same.
# A BINARY called teapot is run as teapot with the peer's flags: that is how a lever's pair is measured (--flags "" --peer-flags "--plan eager"
# build/teapot).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

binary=$here/../build/teapot model='' pairs=8 seed=1 threads=2 c=1,4,8 prompt=256 gen=32 peer_flags='' flags=''
peers=()
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while (($#)); do
  case $1 in
    --binary) binary=$2; shift 2 ;;
    --model) model=$2; shift 2 ;;
    --pairs) pairs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --threads) threads=$2; shift 2 ;;
    -c) c=$2; shift 2 ;;
    --prompt) prompt=$2; shift 2 ;;
    --gen) gen=$2; shift 2 ;;
    --peer-flags) peer_flags=$2; shift 2 ;;
    --flags) flags=$2; shift 2 ;;
    -*) usage ;;
    *) peers+=("$1"); shift ;;
  esac
done
[[ -n $model && ${#peers[@]} -gt 0 ]] || usage
# Peers leave logs where they run.
model=$(realpath "$model") binary=$(realpath "$binary") work=$(mktemp -d)
for i in "${!peers[@]}"; do peers[i]=$(realpath "${peers[i]}"); done
trap 'rm -rf "$work"' EXIT
cd "$work"

# Lines "metric TAB value": ms of a decode step by c, s of a prompt.
teapot() {  # binary, flags
  # shellcheck disable=SC2086
  "$1" speed "$model" --json --threads "$threads" -c "$sequences" --prompt "$prompt" --gen $(((gen + 3) / 4)) --repeat 4 $2 2>/dev/null |
    python3 -c '
import json, sys
run = json.load(sys.stdin)
for line in run["decode"]: print("decode c=%d, ms\t%f" % (line["c"], line["ms_per_step"]))
print("prefill %d, s\t%f" % (run["prefill"]["tokens"], run["prefill"]["tokens"] / run["prefill"]["tok_s"]))'
}

batched_bench() {  # binary, flags
  local most=${c##*,}
  # shellcheck disable=SC2086
  "$1" -m "$model" -c $(((prompt + gen) * most)) -b 2048 -ub 512 -npp "$prompt" -ntg "$gen" -npl "$c" -t "$threads" -tb "$threads" $2 2>&1 |
    python3 -c '
import sys
for line in sys.stdin:  # among the log: | PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | ...
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) < 8 or not cells[0].isdigit(): continue
    print("decode c=%s, ms\t%f" % (cells[2], 1000 * float(cells[6]) / int(cells[1])))
    if cells[2] == "1": print("prefill %s, s\t%s" % (cells[0], cells[4]))'
}

llama_bench() {  # binary, flags
  # shellcheck disable=SC2086
  "$1" -m "$model" -p "$prompt" -n "$gen" -t "$threads" -r 1 -o json $2 2>/dev/null |
    python3 -c '
import json, sys
for test in json.load(sys.stdin):
    seconds = test["avg_ns"] / 1e9
    if test["n_gen"]: print("decode c=1, ms\t%f" % (1000 * seconds / test["n_gen"]))
    else: print("prefill %d, s\t%f" % (test["n_prompt"], seconds))'
}

for peer in "${peers[@]}"; do
  case $(basename "$peer") in
    *batched-bench*) run=batched_bench sequences=$c ;;
    *llama-bench*) run=llama_bench sequences=1 ;;
    teapot) run=teapot sequences=$c ;;
    *) usage ;;
  esac
  rows=$(mktemp)
  pair=0
  while read -r order; do
    pair=$((pair + 1))
    for arm in "${order:0:1}" "${order:1:1}"; do
      if [[ $arm == a ]]; then lines=$(teapot "$binary" "$flags"); else lines=$($run "$peer" "$peer_flags"); fi
      [[ -n $lines ]] || { echo "no figures from $([[ $arm == a ]] && echo "$binary" || echo "$peer")" >&2; exit 1; }
      while IFS=$'\t' read -r metric value; do printf '%s\t%d\t%s\t%s\n' "$metric" "$pair" "$arm" "$value"; done <<<"$lines" >>"$rows"
    done
    echo "pair $pair of $pairs" >&2
  done < <(python3 "$here/pairs.py" order "$pairs" "$seed")
  python3 "$here/pairs.py" ratios "teapot (a), $(basename "$peer") $peer_flags (b)" <"$rows"
  rm -f "$rows"
done
