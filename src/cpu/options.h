// The switches of the CPU backend as they are asked for, with their defaults: the one place where these stand.
#pragma once

#include <string>

namespace teapot::cpu {

struct Options {
  std::string isa = "auto";          // auto, scalar, avx2, avx512, avx512vnni, amx
  std::string kv_dtype = "f16";      // f32, bf16, f16
  std::string activations = "auto";  // what quantised weights are multiplied with: f32, int8; auto: int8
  std::string pages = "best";        // of the weights: 4k, thp, 2m, 1g, best
  int threads = 0;                   // 0: one a physical core of the allowed cpuset
  std::string bind = "core";         // where a thread may run: off, core, numa (the cores of a memory node)
  std::string wait = "spin-futex";   // how threads wait for each other: futex, spin, spin-futex
  std::string plan = "static";       // when a step's ops are bound: eager, dynamic, static
  std::string sync = "flags";  // waiting within a step: op (after each piece of work), layer (only where data flows), flags (for pieces)
  std::string shared_expert = "fused";  // serial (phases of its own), fused (with the router and the routed experts)
  std::string gdn = "fused";            // split (phases with buffers between them), fused (a value head at once)
  std::string attn = "auto";            // head (a KV head of a row at once), split (in pieces of positions), auto
  std::string lmhead = "argmax";        // full (all logits, then the largest), argmax (with the products)
  std::string prefetch = "all";         // of weights that a worker reads next: off, shared, routed, all (both experts)
  std::string state_dtype = "f32";      // of the recurrent state: f32, bf16 (rounds after each step: not exact)
  std::string alloc = "arena";          // where a step's scratch memory comes from: malloc (each step), arena
  std::string prepack = "on";           // weights in tiles of 16 rows (on), or row after row as in their file (off)
};

}  // namespace teapot::cpu
