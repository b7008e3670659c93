#!/usr/bin/env python3
"""growth.py finds a leak among noise, and none where there is none."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import growth  # noqa: E402


def noisy(per_second, seconds=3600, sigma=2.0, seed=0):
    rng = random.Random(seed)
    return [(t, 100.0 + per_second * t + rng.gauss(0.0, sigma)) for t in range(0, seconds, 4)]


def main():
    flat = [growth.judge(noisy(0.0, seed=seed), tolerance=1.0)["grows"] for seed in range(200)]
    assert not any(flat), f"{sum(flat)} of 200 series without growth were said to grow"
    leak = growth.judge(noisy(0.005), tolerance=1.0)  # 18 an hour, nine times the noise
    assert leak["grows"] and abs(leak["per_hour"] - 18.0) < 3.0 * leak["error"], leak
    small = growth.judge(noisy(0.005), tolerance=50.0)
    assert not small["grows"], small
    count = growth.judge([(float(t), t // 100) for t in range(3600)], tolerance=1.0)  # one descriptor each 100 s
    assert count["grows"] and round(count["per_hour"]) == 36, count
    start = growth.judge([(float(t), min(t, 600)) for t in range(3600)], tolerance=1.0)  # only while it warms up
    assert not start["grows"], start
    assert not growth.judge([], 1.0)["grows"] and not growth.judge([(0.0, 1.0)], 1.0)["grows"]
    print("growth is found, and only growth")


if __name__ == "__main__":
    main()
