#!/usr/bin/env python3
"""llama.cpp's own HTTP server out of PyPI's xllamacpp, under the names of llama-server's options: a foreign server to tune or to compare
with, without a build.

  pip install xllamacpp
  teapot tune --catalogue llama.cpp --model m.gguf --knobs threads,repack,flash_attn,... \\
              --start "bench/llama_server.py --model {model} --port {port} --parallel 8 --ctx-size 8192"

An option that stands here in no line is an error. The log, with system_info and the context's lines, goes to standard error.
"""
import argparse
import importlib.metadata
import signal
import sys

import xllamacpp as llama

FLASH = {"auto": llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_AUTO, "on": llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED,
         "off": llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED}
LOAD = {"auto": llama.llama_load_mode.LLAMA_LOAD_MODE_AUTO, "none": llama.llama_load_mode.LLAMA_LOAD_MODE_NONE,
        "mlock": llama.llama_load_mode.LLAMA_LOAD_MODE_MLOCK, "mmap+mlock": llama.llama_load_mode.LLAMA_LOAD_MODE_MMAP_MLOCK}
CACHE = {"f32": llama.ggml_type.GGML_TYPE_F32, "f16": llama.ggml_type.GGML_TYPE_F16, "bf16": llama.ggml_type.GGML_TYPE_BF16,
         "q8_0": llama.ggml_type.GGML_TYPE_Q8_0}
PRIORITY = {0: llama.ggml_sched_priority.GGML_SCHED_PRIO_NORMAL, 1: llama.ggml_sched_priority.GGML_SCHED_PRIO_MEDIUM,
            2: llama.ggml_sched_priority.GGML_SCHED_PRIO_HIGH, 3: llama.ggml_sched_priority.GGML_SCHED_PRIO_REALTIME}


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--version", action="version", version="xllamacpp " + importlib.metadata.version("xllamacpp"))
    parser.add_argument("--model", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--ctx-size", type=int, default=0)
    parser.add_argument("--threads", type=int, default=-1)
    parser.add_argument("--threads-batch", type=int, default=-1)
    parser.add_argument("--poll", type=int, default=50)
    parser.add_argument("--prio", type=int, choices=PRIORITY, default=0)
    parser.add_argument("--batch-size", type=int, default=2048)
    parser.add_argument("--ubatch-size", type=int, default=512)
    parser.add_argument("--flash-attn", choices=FLASH, default="auto")
    parser.add_argument("--load-mode", choices=LOAD, default="auto")
    parser.add_argument("--cache-type-k", choices=CACHE, default="f16")
    parser.add_argument("--cache-type-v", choices=CACHE, default="f16")
    for name in ("repack", "cont-batching", "kv-unified", "warmup"):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=name != "kv-unified")
    return parser.parse_args()


def main():
    args = arguments()
    params = llama.CommonParams()
    params.model.path = args.model
    params.hostnames, params.port = [args.host], args.port
    params.n_parallel, params.n_ctx = args.parallel, args.ctx_size
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = args.threads, args.threads_batch
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.poll, cpu.priority = args.poll, PRIORITY[args.prio]
    params.n_batch, params.n_ubatch = args.batch_size, args.ubatch_size
    params.flash_attn_type, params.load_mode = FLASH[args.flash_attn], LOAD[args.load_mode]
    params.cache_type_k, params.cache_type_v = CACHE[args.cache_type_k], CACHE[args.cache_type_v]
    params.no_extra_bufts = not args.repack
    params.cont_batching, params.kv_unified, params.warmup = args.cont_batching, args.kv_unified, args.warmup
    params.endpoint_metrics = True
    params.verbosity = 4  # with what the catalogue looks for
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = llama.Server(params)
    print(f"listening on {server.listening_address}", file=sys.stderr, flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
