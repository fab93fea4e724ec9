#!/usr/bin/env python3
"""A long trace in the Ascend PyTorch profiler's form, for the speed of `teapot profile import`.

    bench/big_trace.py 200000 big.json        about so many events, about 170 bytes each
    bench/big_trace.py 200000 big.json --import build/teapot    reads it too: seconds, peak memory, whether the classes add up
    bench/big_trace.py 12000000 big.json --import build/teapot  2 GB: what does not fit 64 MB a table lies in TMPDIR while it is read
    ... --shuffle                             steps in another order than that of time

Eager decode steps: python ops on one thread, dispatch on another, kernels on one stream, each with its launch and flow.
"""
import argparse, json, os, random, subprocess, tempfile, time as clock

KERNELS = ["aclnnAddRmsNorm_AddRmsNorm_AddRmsNorm", "aclnnMatmul_MatMulV3Common_MatMulV3", "aclnnCast_CastAiCore_Cast",
           "aclnnRecurrentGatedDeltaRule_RecurrentGatedDeltaRule_RecurrentGatedDeltaRule", "aclnnSwiGlu_SwiGlu_SwiGlu"]
OPS = 60
EVENTS_A_STEP = 1 + OPS * 6
STEP_NS = 50_000 + OPS * 10_000 + 10_000
HOST, CANN, HARDWARE = 4210, 430000, 430100


def time(ns):
    return '"%d.%03d"' % (ns // 1000, ns % 1000)


def write(events, path, shuffle):
    launch_id = 0
    with open(path, "w") as out:
        out.write('[{"ph": "M", "name": "process_name", "pid": %d, "tid": 0, "args": {"name": "Python"}}' % HOST)
        for pid, name in ((CANN, "CANN"), (HARDWARE, "Ascend Hardware")):
            out.write(',\n{"ph": "M", "name": "process_name", "pid": %d, "tid": 0, "args": {"name": "%s"}}' % (pid, name))

        def slice_(name, pid, tid, start, length, rest):
            out.write(',\n{"ph": "X", "name": "%s", "pid": %d, "tid": %d, "ts": %s, "dur": %d.%03d, %s}'
                      % (name, pid, tid, time(start), length // 1000, length % 1000, rest))

        steps = list(range(max(2, events // EVENTS_A_STEP)))
        if shuffle:
            random.Random(1).shuffle(steps)
        for step in steps:
            begin = 1764201600000000000 + step * STEP_NS
            now = begin + 50_000
            for op in range(OPS):
                launch_id += 1
                kernel = "aclnnEmbedding_GatherV2AiCore_GatherV2" if op == 0 else KERNELS[op % len(KERNELS)]
                flow = (launch_id << 32) | 0xFFFFFFFF
                slice_("aten::op", HOST, HOST, now, 9_000 + op, '"cat": "cpu_op", "args": {"Sequence number": -1, "Fwd thread id": 0}')
                slice_("Dequeue@aclnnOp", HOST, HOST + 1, now + 2_000, 8_000, '"cat": "dequeue", "args": {"correlation_id": %d}' % launch_id)
                slice_("Node@launch", CANN, HOST + 1, now + 4_000, 3_000,
                       '"args": {"Thread Id": %d, "Mode": "node", "level": "node", "id": "launch", "connection_id": %d}' % (HOST + 1, launch_id))
                out.write(',\n{"ph": "s", "name": "HostToDevice%d", "pid": %d, "tid": %d, "cat": "HostToDevice", "id": "%d", "ts": %s}'
                          % (flow, CANN, HOST + 1, flow, time(now + 4_000)))
                slice_(kernel, HARDWARE, 2, now + 9_000, 4_000 + 13 * op,
                       '"args": {"Model Id": 4294967295, "Task Type": "AI_CORE", "Stream Id": 2, "Task Id": %d, "Batch Id": 0, "connection_id": %d}'
                       % (launch_id, launch_id))
                out.write(',\n{"ph": "f", "bp": "e", "name": "HostToDevice%d", "pid": %d, "tid": 2, "cat": "HostToDevice", "id": "%d", "ts": %s}'
                          % (flow, HARDWARE, flow, time(now + 9_000)))
                now += 10_000
            slice_("ProfilerStep#%d" % step, HOST, HOST, begin, now + 8_000 - begin, '"cat": "cpu_op", "args": {"Sequence number": -1, "Fwd thread id": 0}')
        out.write("]\n")


def read(teapot, path):
    with tempfile.TemporaryFile("w+") as answer:
        started = clock.monotonic()
        process = subprocess.Popen([teapot, "profile", "import", path, "--json"], stdout=answer)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = clock.monotonic() - started
        answer.seek(0)
        found = json.load(answer)
    wrong = sum(sum(step["classes_ns"].values()) != step["end_ns"] - step["start_ns"] for step in found.get("steps", []))
    print(f"{os.path.getsize(path) / 1e6:.0f} MB, {len(found.get('steps', []))} steps: {seconds:.2f} s, at most {usage.ru_maxrss / 1024:.0f} MB of memory; "
          f"exit code {os.waitstatus_to_exitcode(status)}, {wrong} steps whose classes do not add up")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("events", type=int)
    arguments.add_argument("path")
    arguments.add_argument("--shuffle", action="store_true")
    arguments.add_argument("--import", dest="teapot", metavar="TEAPOT")
    arguments = arguments.parse_args()
    write(arguments.events, arguments.path, arguments.shuffle)
    if arguments.teapot:
        read(arguments.teapot, arguments.path)


if __name__ == "__main__":
    main()
