"""The simulator's side of cgpo's pipe protocol, version 1 (docs/guide/your-own-simulator.md). Needs nothing but Python 3.

    import cgpo_simulator  # first of all: what others print from then on goes to standard error

    class MyEnvironment:
        def reset(self, seed): ...              # -> observation, a sequence of numbers
        def step(self, action): ...             # -> observation, reward, costs, ended

    cgpo_simulator.serve(MyEnvironment, observations=4, actions=2, horizon=80,
                         costs=[{"name": "energy", "limit": 5.0}])
"""

import json
import os
import struct
import sys

PROTOCOL = "cgpo-simulator"
VERSION = 1
RESET, STEP = 1, 2

# Whatever prints, be it the banner of a library when it is imported, must not end up among the frames: the pipe is kept
# for them, and file 1 becomes standard error.
_answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def serve(make_environment, *, observations, actions, horizon, costs=(), name="", defaults=None,
          reward_stops_at_end=True, dt=0.0):
    """Answers requests until the other side goes. Environments are made when they are first asked for.

    costs: dictionaries with name and limit; also stops_at_end (True), standard (True), meaning.
    defaults: keys of cgpo's configuration that suit this task.
    dt: seconds of a step; 0: there is no clock.
    """
    requests = sys.stdin.buffer
    answers = _answers

    hello = json.loads(requests.readline() or "{}")
    if hello.get("protocol") != PROTOCOL or hello.get("version") != VERSION:
        sys.exit(f"expected {PROTOCOL} version {VERSION}, not {hello}; start me by cgpo's task.command")
    header = {"protocol": PROTOCOL, "version": VERSION, "name": name, "observations": observations,
              "actions": actions, "horizon": horizon, "costs": list(costs),
              "reward_stops_at_end": reward_stops_at_end, "dt": dt, "defaults": defaults or {}}
    answers.write(json.dumps(header).encode() + b"\n")
    answers.flush()

    # After its end an episode goes on only if something still counts.
    goes_on = not reward_stops_at_end or any(not cost.get("stops_at_end", True) for cost in costs)
    slots = {}
    idle = [0.0] * (1 + len(costs)) + [1.0]

    def reset(number, seed):
        if number not in slots:
            slots[number] = {"environment": make_environment()}
        slot = slots[number]
        slot["last"] = [float(x) for x in slot["environment"].reset(seed)]
        slot["ended"] = False
        return slot["last"]

    def step(number, action):
        slot = slots[number]
        if slot["ended"] and not goes_on:
            return slot["last"] + idle
        observation, reward, cost, ended = slot["environment"].step(action)
        slot["last"] = [float(x) for x in observation]
        slot["ended"] = slot["ended"] or bool(ended)
        return slot["last"] + [float(reward)] + [float(x) for x in cost] + [1.0 if ended else 0.0]

    while True:
        head = requests.read(16)
        if len(head) < 16:
            return
        kind, first, count, size = struct.unpack("<4I", head)
        payload = requests.read(size)
        numbers = []
        if kind == RESET:
            for i, seed in enumerate(struct.unpack(f"<{count}Q", payload)):
                numbers += reset(first + i, seed)
        elif kind == STEP:
            values = struct.unpack(f"<{count * actions}f", payload)
            for i in range(count):
                numbers += step(first + i, values[i * actions:(i + 1) * actions])
        else:
            sys.exit(f"unknown request {kind}")
        answer = struct.pack(f"<{len(numbers)}f", *numbers)
        answers.write(struct.pack("<I", len(answer)) + answer)
        answers.flush()
