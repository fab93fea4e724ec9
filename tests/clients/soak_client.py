"""Clients that come and go for a long time: python soak_client.py TEAPOT MODEL [--minutes 30] [--clients 8] [--no-rss] [serve options]

Conversations of mixed lengths, a fifth of the requests left before their end, the prefix cache at its budget. Every reply equals the one
that its request got alone before; memory stays where it is after the first fifth of the time (within 2 % of its mean); in the end nothing
runs."""
import argparse, random, sys, threading, time
from load_client import QUESTIONS, chat_body, idle, leave, streamed, whole
from teapot_server import serving

LEAVING = 0.2
CONVERSATIONS = 24
TURNS = 4


def conversations(server, seed):
    """Requests, each with its reply alone: talks that go on, on the beginnings that some of them share."""
    pick = random.Random(seed)
    requests = []
    for number in range(CONVERSATIONS):
        body = chat_body(number + 100 * seed)
        body["max_tokens"] = pick.randrange(1, 120)
        if number % 3 == 0:
            body["messages"].insert(0, {"role": "system", "content": " ".join(QUESTIONS * (1 + number % 9))})
        for turn in range(TURNS):
            reply, _ = whole(server, body)
            requests.append((body, reply))
            body = {**body, "messages": body["messages"] + [{"role": "assistant", "content": reply[0][0]},
                                                           {"role": "user", "content": pick.choice(QUESTIONS) * pick.randrange(1, 6)}]}
    return requests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-rss", action="store_true", help="for sanitizers, whose memory grows by itself")
    arguments, options = parser.parse_known_args()
    failures, done, left, memory = [], [0], [0], []

    with serving(arguments.binary, arguments.model, "--max-seqs", "8", "--cache-bytes", "24MiB", *options) as server:
        requests = conversations(server, arguments.seed)
        server.post("/reset_prefix_cache", {})
        end = time.monotonic() + 60 * arguments.minutes

        def client(number):
            pick = random.Random(1000 * arguments.seed + number)
            while time.monotonic() < end and len(failures) < 10:
                body, alone = pick.choice(requests)
                try:
                    if pick.random() < LEAVING:
                        leave(server, {**body, "max_tokens": 400}, pick, 0.2)
                        left[0] += 1
                        continue
                    got = (streamed if pick.random() < 0.7 else whole)(server, body)[0]
                    assert got == alone, f"{body}\nalone {alone}\n  now {got}"
                    done[0] += 1
                except Exception as error:
                    failures.append(f"{type(error).__name__} {error}")

        threads = [threading.Thread(target=client, args=(number,)) for number in range(arguments.clients)]
        for thread in threads:
            thread.start()
        warm = time.monotonic() + 60 * arguments.minutes / 5
        while any(thread.is_alive() for thread in threads):
            time.sleep(min(2, arguments.minutes))
            if time.monotonic() > warm:
                memory.append(server.memory_kib())
        idle(server)
        status = server.get("/v1/status")[1]
    mean = sum(memory) / len(memory)
    spread = max(max(memory) - mean, mean - min(memory)) / mean
    print(f"soak: {done[0]} replies, {left[0]} left, {len(failures)} failed; memory {min(memory)} to {max(memory)} KiB, {100 * spread:.1f} % around "
          f"its mean; prefix cache {status['prefix_cache']}")
    for failure in failures:
        print(f"FAILED {failure}")
    if spread > 0.02 and not arguments.no_rss:
        print("FAILED memory is not flat")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
