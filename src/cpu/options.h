// The switches of the CPU backend as they are asked for, with their defaults: the one place where these stand.
#pragma once

#include <string>

namespace teapot::cpu {

struct Options {
  std::string isa = "auto";             // auto, scalar, avx2, avx512, avx512vnni, amx
  std::string kv_dtype = "f16";         // f32, bf16, f16
  std::string activations = "auto";     // what quantised weights are multiplied with: f32, int8; auto: int8
  std::string pages = "best";           // of the weights: 4k, thp, 2m, 1g, best
  int threads = 0;                      // 0: one a physical core of the allowed cpuset
  std::string bind = "core";            // where a thread may run: off, core, numa (the cores of a memory node)
  std::string wait = "spin-futex";      // how threads wait for each other: futex, spin, spin-futex
  std::string plan = "static";          // when a step's ops are bound: eager, dynamic, static
  std::string sync = "layer";           // barriers of a step: op (each piece of work is a phase), layer (only where data flows)
  std::string shared_expert = "fused";  // serial (phases of its own), fused (with the router and the routed experts)
  std::string alloc = "arena";          // where a step's scratch memory comes from: malloc (each step), arena
  std::string prepack = "on";           // weights in tiles of 16 rows (on), or row after row as in their file (off)
};

}  // namespace teapot::cpu
