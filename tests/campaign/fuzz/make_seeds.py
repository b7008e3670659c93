#!/usr/bin/env python3
"""Writes the seed corpora: a few small inputs a target, from which the fuzzer goes on. What it finds stays out of the tree.

    tests/campaign/fuzz/make_seeds.py"""
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def write(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def tensors(header, data=b""):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def entry(kind, shape, begin, end):
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def log_line(iteration, **more):
    return json.dumps({"iteration": iteration, "steps": 1600, "return": -3.5, "return_se": 0.1, "return_paper": -3.5, "costs": [1.25],
                       "costs_se": [0.5], "limits": [None], "costs_low": [0.5], "costs_high": [2.0], "violation_rates": [0.0],
                       "episode_length": 100.0, "diverged": 0, "seconds": 0.25, **more}) + "\n"


def blocks(text, count):
    """The first blocks of the defaults."""
    return "[[defaults]]" + "[[defaults]]".join(text.split("[[defaults]]")[1:count + 1])


write("tensors", "all_types", tensors({"__metadata__": {"version": "0.2.0"}, "a": entry("F32", [2], 0, 8), "b": entry("F64", [1, 2], 8, 24),
                                       "c": entry("I64", [1], 24, 32)}, struct.pack("<2f2dq", 1, 2, 3, 4, 5)))
write("tensors", "nothing", tensors({}))
write("tensors", "truncated", tensors({"a": entry("F32", [4], 0, 16)}, b"1234"))
write("tensors", "empty_tensor", tensors({"a": entry("F64", [0], 0, 0)}))

for number, text in enumerate(['iterations=50', 'radius.test = "fixed"', 'costs=["speed", "energy"]', 'limits=[inf, -1.5e3, 0x10]', 'a=true',
                               'task.command="\\u00e9\\t\\"x\\""', "b='''raw'''", 'c=[[1, 2], [3.5]]', 'd=1979-05-27T07:32:00Z', 'e={a = 1}',
                               'f=1_000', 'g=nan', 'h=ant', 'i=']):
    write("value", f"{number:02}", text)

write("configuration", "small", 'algorithm = "cgpo"\nseed = 3\niterations = 5\n[radius]\ninitial = 0.1\n[task]\nname = "function"\n')
write("configuration", "lists", 'environments = 16\ncosts = ["cost"]\nlimits = [inf]\npolicy.hidden = [8, 8]\ncritic = { steps = 4 }\n')
write("configuration", "wrong", 'preset = "paper"\nseed = -1\nwindow = "x"\n[[a]]\nb.c."d e" = """\nlong"""\n')
write("configuration", "retired", "iterations = 5\n[radius]\nmargin_se = 1.0\n")

STATES = 'horizon = 5\nactions = 2\nperiod = 0.1\nobservation = ["x", "v[1:]"]\n'
write("taskfile", "states", STATES + """reward = "1 / (1 + 10 * sum_squares(v)) - before(x)^2"
end = "not 0 <= x < 1 or max(abs(v)) > 3"
[options]
drag = { value = 0.5, low = 0, high = 10, help = "h" }
[define]
twice = "x + x"
[states]
x = "uniform(-1, 1)"
v = "[normal(0, 1, 2), 3]"
[step]
x = "x + period * next(v)[0]"
v = "where(action[0] > 0, v, -drag * v)"
[[costs]]
name = "c"
expression = "norm(v) * twice + dot(action, previous_action) + time * step"
limit = 5
[defaults]
iterations = 3
radius.margin = 0.05
""")
write("taskfile", "expressions", STATES + """reward = "clamp(sin(x) + cos(pi) / atan2(1, 2), -1, 1.5e-3) + cross(v, v).z + mean([v, x][-2:])"
states = {x = 1, v = "[1, 2, 3]"}
""")
write("taskfile", "locals", STATES + """reward = '''
a = x + before(x);
b = a * [a, 1];
sum(b) == a'''
[draws]
d = "uniform(0, 1, 2)"
e = "normal(d[0], 1)"
[states]
x = "c = d[1] + e; c"
v = "[1, 2, 3]"
""")
write("taskfile", "wrong", STATES + 'reward = "1 + (x"\n[states]\nx = "y"\n[[costs]]\n')
write("taskfile", "robot", """horizon = 5
period = 0.1
observation = "qpos"
reward = "body('b').position.x"
[simulator]
command = "true"
timeout = 1
[robot]
mjcf = "<mujoco/>"
[[robot.actuators]]
kind = "motor"
joint = "*"
gear = 3
range = [-1, 1]
[reset]
qpos = "qpos0 + uniform(-1, 1)"
lift = true
""")

defaults = (ROOT / "src/config/defaults.toml").read_text()
write("defaults", "two_blocks", blocks(defaults, 2)[:1500])
write("defaults", "small", '[[defaults]]\ntasks = ["ant"]\nwhy = "x"\n[defaults.set]\niterations = 40\nradius.initial = 0.5\n')
write("defaults", "wrong", '[[defaults]]\nalgorithms = "ppo"\nwhy = 1\n')

write("log", "three", log_line(0) + log_line(1, radius=0.1, case="free", nu=[0.0]) + log_line(2, warning="w", kl=0.01))
write("log", "world", log_line(0, world={"state_error": 0.1, "signal_errors": [0.1], "window_error": 0.2, "spread": 0.0,
                                         "training_loss": 0.1, "minibatches": 3, "transitions": 100, "model_share": 0.5,
                                         "return_windows": 1.0, "costs_windows": [1.0], "return_episodes": 1.0, "costs_episodes": [2.0]}))
write("log", "torn", log_line(0) + log_line(1)[:40])
write("log", "wrong_types", log_line(0, diverged="x") + log_line("0"))

write("external", "header", json.dumps({"protocol": "cgpo-simulator", "version": 1, "observations": 3, "actions": 1, "horizon": 100, "dt": 0.05,
                                        "name": "n", "costs": [{"name": "c", "limit": None, "stops_at_end": False}],
                                        "defaults": {"iterations": 5, "radius.test": "fixed"}}))
write("external", "no_header", "{}")
write("external", "answers", b"a\x02\x01\x00\x01\x01" + struct.pack("<20f", *range(20)))
write("external", "not_finite", b"a\x01\x01\x01\x01\x00" + struct.pack("<8f", 0, float("nan"), 1, 1, 2, float("inf"), 0, 1))

write("numbers", "body", '<mujoco><worldbody><geom type="sphere" mass="nan" fromto = \'0 0 0 1 1 1\'/><!-- mass="nan" --></worldbody></mujoco>')
write("numbers", "plain", '<geom mass="1" euler="0 90 0" xyaxes="1 0 0\n0 1 0" zaxis=""/>')

write("base64", "padded", "aGVsbG8=")
write("base64", "letters", "+/AZaz09")
write("text", "words", bytes(range(1, 120)))
write("text", "duration", b"\xff" + struct.pack("<d", 4000.5) + b"\xff" + struct.pack("<d", 2e6) + b"\x05iters\x0aiterations")

for number, words in enumerate([["settings"], ["settings", "function", "--algo", "ppo-lag", "--json"], ["settings", "--set", "iterations=5", "a=[1]"],
                                ["algorithms"], ["flags", "x", "--on", "--whole", "5", "--number=0.25", "--several", "a", "b"],
                                ["flags", "--other", "--seed", "9223372036854775807"], ["--help"], ["--version"], ["setings"]]):
    write("command_line", f"{number:02}", "\n".join(words))

write("request", "page", "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\n\r\n")
write("request", "log", "GET /log?from=12&x=1 HTTP/1.0\r\nhost: localhost:1\r\n\r\n")
write("request", "post", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
write("request", "torn", "GET /replay HTT")

# The rest are decisions: a spread of them is as good a start as any.
spread = bytes((i * 97 + 13) % 256 for i in range(300))
for target in ("program", "subproblem", "checkpoint", "mjcf"):
    for number in range(4):
        write(target, f"spread{number}", bytes((byte * (2 * number + 1) + number) % 256 for byte in spread[:75 * (number + 1)]))
