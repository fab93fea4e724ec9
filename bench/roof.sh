#!/usr/bin/env bash
# Decode and prefill beside the roof of the same run, as a Markdown table: one `teapot speed` a model, over synthetic weights in real shapes.
#
#   bench/roof.sh [--binary build/teapot] [--models DIR] [--remove] [--threads N] [--only a3b-q4k,4b-q4k] [--flags "--isa avx2"]
#
# Models are made in DIR where they are missing (without it: in a temporary folder, removed at the end) by synth_gguf.py, which SYNTH names and
# $PYTHON with numpy runs. a3b40 (20 GB, all layers), a3b-4k and a3b-32k (long contexts) only run when --only names them.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=build/teapot models='' remove=0 threads=0 only='' flags=''
synth=${SYNTH:-../shared/tools/synth_gguf.py} python=${PYTHON:-python3}
while (($#)); do
  case $1 in
    --binary) binary=$2; shift 2 ;;
    --models) models=$2; shift 2 ;;
    --remove) remove=1; shift ;;
    --threads) threads=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    --flags) flags=$2; shift 2 ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
if [[ -z $models ]]; then
  models=$(mktemp -d) remove=1
fi
mkdir -p "$models"
made=()
clean() {
  if ((remove)); then rm -f "${made[@]}"; rmdir --ignore-fail-on-non-empty "$models"; fi
}
trap clean EXIT

# Name of the line, name of the model, how it is made, how it is run, the least roof % asked of each c.
lines=(
  "a3b-q4k|a3b8-q4k|--preset qwen3.5-35b-a3b --layers 8 --quant q4_k --head q6_k|-c 1,2,4,8|92 90 88 85"
  "a3b-prefill|a3b8-q4k|--preset qwen3.5-35b-a3b --layers 8 --quant q4_k --head q6_k|-c 1,2 --prompt 1024|- -"
  "a3b-4k|a3b8-q4k|--preset qwen3.5-35b-a3b --layers 8 --quant q4_k --head q6_k|-c 1 --prompt 4096|88"
  "a3b-32k|a3b8-q4k|--preset qwen3.5-35b-a3b --layers 8 --quant q4_k --head q6_k|-c 1 --prompt 32768|85"
  "a3b-q8|a3b8-q8|--preset qwen3.5-35b-a3b --layers 8 --quant q8_0|-c 1,4|93 90"
  "a3b-bf16|a3b4-bf16|--preset qwen3.5-35b-a3b --layers 4 --quant bf16|-c 1,4|93 90"
  "4b-q4k|4b-q4k|--preset qwen3.5-4b --quant q4_k|-c 1,8|92 85"
  "8b-q4k|8b-q4k|--preset qwen3-8b --quant q4_k|-c 1,8|92 85"
  "0.8b-q4k|0.8b-q4k|--preset qwen3.5-0.8b --quant q4_k|-c 1|85"
  "a3b40|a3b40-q4k|--preset qwen3.5-35b-a3b --quant q4_k --head q6_k|-c 1|90"
)

wanted() {
  if [[ -n $only ]]; then [[ ,$only, == *,$1,* ]]; else [[ $1 != a3b40 && $1 != a3b-4k && $1 != a3b-32k ]]; fi
}

rows() {  # name, targets; the JSON of teapot speed on stdin
  python3 -c '
import json, sys
name, targets = sys.argv[1], sys.argv[2].split()
run = json.load(sys.stdin)
for line, target in zip(run["decode"], targets):
    floor = line["floor"] + (" (%.0f %% of the parts by arithmetic)" % (100 * line["arithmetic_share"]) if line["arithmetic_share"] > .05 else "")
    print("| %s | %d | %.2f (%.2f to %.2f) | %.2f, %s | %.1f (%.1f to %.1f) | %s | %.1f |" % (
        name, line["c"], line["ms_per_step"], line["ms_min"], line["ms_max"], line["floor_ms"], floor, line["roof_percent"],
        line["roof_percent_min"], line["roof_percent_max"], target, 100 * line["barrier_wait_share"]))
prefill, roof = run["prefill"], run["roof"]
print("| %s | prefill %d | %.0f tok/s (%.0f to %.0f) | peak %.0f GMAC/s | %.1f of the peak, %.1f without tile registers | - | - |" % (
    name, prefill["tokens"], prefill["tok_s"], prefill["tok_s_min"], prefill["tok_s_max"], roof["int8_gmacs"], prefill["peak_percent"],
    prefill["vector_peak_percent"]))
print("%s: %.1f GB/s, %.0f GMAC/s int8, %.0f f32" % (name, roof["read_gbs"], roof["int8_gmacs"], roof["f32_gmacs"]), file=sys.stderr)
' "$1" "$2"
}

echo "| line | c | ms a step | floor ms | roof % | asked | at barriers % |"
echo "|---|---|---|---|---|---|---|"
for line in "${lines[@]}"; do
  IFS='|' read -r name model make run targets <<<"$line"
  wanted "$name" || continue
  path=$models/$model.gguf
  if [[ ! -f $path ]]; then
    # shellcheck disable=SC2086
    "$python" "$synth" $make --out "$path.part" >&2
    mv "$path.part" "$path"
    made+=("$path")
  fi
  # shellcheck disable=SC2086
  "$binary" speed "$path" --json --threads "$threads" $run $flags 2>/dev/null | rows "$name" "$targets"
done
