"""An agent's long conversation with tools, once with drafts and the prefix cache and once with neither: python agent_client.py TEAPOT MODEL [--turns 200]

Every reply must be the same, and the fast server must have drafted and found its prefixes."""
import argparse, json, sys
from teapot_server import serving

TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city",
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}},
         {"type": "function", "function": {"name": "add", "description": "The sum of two numbers",
          "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}}]
SAID = ["Hello! How are you?", "What is the weather in Paris?", "What is 17 plus 25?", "Tell me a joke.", "What is the weather in Oslo?",
        "A baker has 12 loaves and sells 5. How many are left?", "Thank you!", "Add 3 and 4, please."]


def answer(call):
    arguments = json.loads(call["function"]["arguments"])
    if call["function"]["name"] == "add":
        try:
            return str(float(arguments["a"]) + float(arguments["b"]))
        except (KeyError, TypeError, ValueError) as error:
            return f"error: {error}"
    return json.dumps({"city": arguments.get("city"), "weather": "sunny", "degrees": len(str(arguments)) % 30})


def request(turn, messages):
    sampling = {"temperature": 0} if turn % 3 else {"temperature": 0.8, "top_p": 0.95, "seed": turn}
    if turn % 7 == 3:
        sampling["presence_penalty"] = 0.5
    return {"messages": messages, "tools": TOOLS, "max_tokens": 48 + turn % 5 * 16, "logprobs": turn % 4 == 0, **sampling}


def reply(server, body):
    status, got = server.post("/v1/chat/completions", body)
    if status == 400 and got["error"]["code"] == "context_length_exceeded":
        return None
    assert status == 200, got
    choice = got["choices"][0]
    for call in choice["message"].get("tool_calls") or []:
        call["id"] = "call"  # a random one
    return choice


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("model")
    arguments.add_argument("--turns", type=int, default=200)
    arguments = arguments.parse_args()
    calls = restarts = 0
    with serving(arguments.binary, arguments.model, "--require-plan") as fast, \
         serving(arguments.binary, arguments.model, "--mtp", "off", "--prefix-cache", "off") as plain:
        messages = []
        for turn in range(arguments.turns):
            if not messages or messages[-1]["role"] == "assistant":
                messages.append({"role": "user", "content": SAID[turn % len(SAID)]})
            body = request(turn, messages)
            one, other = reply(fast, body), reply(plain, body)
            assert one == other, f"turn {turn}:\n{json.dumps(one)}\n{json.dumps(other)}"
            if one is None:
                messages, restarts = messages[len(messages) // 2:], restarts + 1
                while messages and messages[0]["role"] != "user":
                    messages.pop(0)
                continue
            messages.append({key: value for key, value in one["message"].items() if value is not None and key != "reasoning_content"})
            for call in one["message"].get("tool_calls") or []:
                calls += 1
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer(call)})
        counters = fast.get("/v1/status")[1]
        _, _, metrics = fast.request("GET", "/metrics")
        rounds = sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("teapot_draft_rounds_total"))
        hits = counters["prefix_cache"]["hit_tokens"]
        assert hits > 0 and rounds > 0 and counters["counters"]["plan_misses"] == 0, (hits, rounds, counters)
        print(f"agent: {arguments.turns} turns equal, {calls} tool calls, {restarts} times shortened, {hits} prompt tokens from the cache, "
              f"{rounds:.0f} rounds of drafts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
