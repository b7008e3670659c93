#!/usr/bin/env python3
"""Compares our velocity tasks with the package they come from, and plays policies of ours inside it.

usage: build/python/env/bin/python scripts/original_velocity.py [--episodes N] [--run RUN ...] [--page docs/tasks/velocity.md]

Makes two environments below build/original, which need Python 3.11: the original pair of Gymnasium and MuJoCo, and today's.
safety-gymnasium's wheel is unpacked without what it depends on (scripts/original_player.py imports its velocity modules alone).
Each step is made by both from the same state and action. A RUN is the folder of a training on one of the six tasks; its last
policy is exported to C, compiled, and evaluated in the original environment. --page puts the tables between the page's marks.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAYER = ROOT / "scripts" / "original_player.py"
ROBOTS = ["Ant", "HalfCheetah", "Hopper", "Humanoid", "Swimmer", "Walker2d"]
PAIRS = {
    "original": ("Gymnasium 0.28.1, MuJoCo 2.3.3", ["gymnasium==0.28.1", "mujoco==2.3.3", "numpy==1.26.4", "imageio==2.37.0"]),
    "today": ("Gymnasium 1.4.0, MuJoCo 4.0.0", ["gymnasium==1.4.0", "mujoco==4.0.0", "numpy==2.4.6", "imageio==2.37.0", "packaging"]),
}
COMPARED, PLAYED = "compared with the original", "played in the original"  # marks of the page


def prepare(work):
    """The interpreter of each pair, and the folder of the package."""
    pythons = {}
    for pair, (_, packages) in PAIRS.items():
        subprocess.run([ROOT / "scripts" / "python_env.sh", work / pair, *packages], check=True)
        pythons[pair] = work / pair / "bin" / "python"
    package = work / "safety-gymnasium"
    if not package.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work)]
        subprocess.run([*pip, "safety-gymnasium==1.0.0"], check=True)
        with zipfile.ZipFile(next(work.glob("safety_gymnasium-*.whl"))) as archive:
            archive.extractall(package)
    return pythons, package


def play(python, what, package, robot, out, *more):
    command = [python, "-W", "ignore", PLAYER, what, package, robot, out, *map(str, more)]
    subprocess.run([str(part) for part in command], check=True, stderr=subprocess.DEVNULL)
    return np.load(out)


def our_steps(robot, steps):
    """The same steps by cgpo: observation, reward, cost, end and next state of each."""
    import cgpo

    environment = cgpo.safety.make(f"Safety{robot}Velocity-v1", max_episode_steps=0)
    environment.reset(seed=0)
    result = {"observation": [], "reward": [], "cost": [], "ended": [], "next": []}
    for i in range(len(steps["reward"])):
        parts = [steps["qpos"][i], steps["qvel"][i]]
        if robot in ("Ant", "Humanoid"):
            parts.append(steps["place"][i])
        if robot == "Humanoid":
            rest = len(environment.state) - sum(map(len, parts)) - len(steps["warm"][i])
            parts += [np.zeros(rest), steps["warm"][i]]
        environment.state = np.concatenate(parts)
        observation, reward, cost, terminated, _, info = environment.step(steps["action"][i])
        row = (observation, reward, cost, terminated, environment.state[: steps["next"].shape[1]])
        for values, value in zip(result.values(), row):
            values.append(value)
        if terminated:
            environment.reset()
    return {name: np.array(values) for name, values in result.items()}


def error(ours, theirs):
    """Of each step: the largest difference, relative where a number is above 1."""
    difference = np.abs(ours - theirs) / (1.0 + np.abs(theirs))
    return difference.reshape(len(difference), -1).max(1)


def compare(pythons, package, work, episodes):
    lines = []
    for pair, (title, _) in PAIRS.items():
        lines += ["", f"**{title}**" + (", its margins halved:" if pair == "today" else ":"), ""]
        lines += ["| robot | episodes, steps | over the limit | observation | reward | next state | cost differs | end differs |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
        for robot in ROBOTS:
            halve = ["--halve-margins"] if pair == "today" else []
            count = episodes if robot in ("HalfCheetah", "Swimmer") else 8 * episodes  # random actions soon end those of the others
            theirs = play(pythons[pair], "record", package, robot, work / f"{pair}-{robot}.npz", "--episodes", count, *halve)
            ours = our_steps(robot, theirs)
            cells = [robot, f"{count}, {len(theirs['reward'])}", f"{int(theirs['cost'].sum())}"]
            for name in ("observation", "reward", "next"):
                errors = error(ours[name], theirs[name])
                cells.append(f"{np.median(errors):.0e}, {np.quantile(errors, 0.99):.0e}, {errors.max():.0e}")
            for name in ("cost", "ended"):
                cells.append(f"{int((ours[name] != theirs[name]).sum())}")
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def policy_library(run, work):
    import cgpo

    program = ROOT / "build" / "bin" / "cgpo"
    header, source, library = (work / f"policy.{ending}" for ending in ("h", "c", "so"))
    subprocess.run([program, "export", run, "--to", "c", "--out", header, "--force", "--episodes", "0", "--json"], check=True, stdout=subprocess.DEVNULL)
    source.write_text('#include "policy.h"\nvoid act(const float *seen, float *control) { cgpo_policy(seen, control); }\n')
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return cgpo.load(run), library


def evaluate(pythons, package, work, runs, episodes):
    lines = ["", f"Policies of ours, exported to C, over {episodes} episodes; mean ± standard error:", ""]
    lines += ["| robot, seed | steps of training | here: return | cost | original pair: return | cost | episodes of 1000 steps |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for run in runs:
        ours, library = policy_library(run, work)
        here = ours.evaluate(episodes=episodes, deterministic=True)
        robot = re.fullmatch(r"Safety(\w+)Velocity-v1", here["task"]).group(1)
        sums = play(pythons["original"], "evaluate", package, robot, work / "sums.npz", "--episodes", episodes, "--policy", library)["sums"]
        mean, half = sums.mean(0), sums.std(0, ddof=1) / np.sqrt(len(sums))
        steps = json.loads((pathlib.Path(run) / "log.jsonl").read_text().splitlines()[-1])["steps"]
        cost = here["costs"][0]
        cells = [f"{robot}, {here['seed']}", f"{steps:,}", f"{here['return']['mean']:.0f} ± {here['return']['se']:.0f}", f"{cost['mean']:.1f} ± {cost['se']:.1f}"]
        cells += [f"{mean[0]:.0f} ± {half[0]:.0f}", f"{mean[1]:.1f} ± {half[1]:.1f}", f"{int((sums[:, 2] == 1000).sum())} of {len(sums)}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def publish(page, mark, lines):
    text = page.read_text()
    before, rest = text.split(f"<!-- {mark} -->")
    after = rest.split(f"<!-- end of {mark} -->")[1]
    page.write_text(f"{before}<!-- {mark} -->\n" + "\n".join(lines).strip() + f"\n<!-- end of {mark} -->{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "original")
    parser.add_argument("--episodes", type=int, default=4, help="of each robot that does not fall, eight times as many of the others; 0: none")
    parser.add_argument("--run", nargs="*", default=[], help="folders of trainings")
    parser.add_argument("--policy-episodes", type=int, default=100)
    parser.add_argument("--page", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    pythons, package = prepare(arguments.work)
    if arguments.episodes > 0:
        lines = compare(pythons, package, arguments.work, arguments.episodes)
        if arguments.page:
            publish(arguments.page, COMPARED, lines)
    if arguments.run:
        lines = evaluate(pythons, package, arguments.work, arguments.run, arguments.policy_episodes)
        if arguments.page:
            publish(arguments.page, PLAYED, lines)


if __name__ == "__main__":
    main()
