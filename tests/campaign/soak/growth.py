"""Does a measured thing grow? A line through it, with its error."""
import math

WARM_UP = 0.25  # of the time: caches fill, arenas find their size
BLOCKS = 8  # neighbouring samples are not independent; means of blocks nearly are


def block_means(samples, blocks=BLOCKS):
    """Means of time and value over equal parts of the time."""
    begin, end = samples[0][0], samples[-1][0]
    width = (end - begin) / blocks or 1.0
    parts = [[] for _ in range(blocks)]
    for time, value in samples:
        parts[min(int((time - begin) / width), blocks - 1)].append((time, value))
    return [(sum(t for t, _ in part) / len(part), sum(v for _, v in part) / len(part)) for part in parts if part]


def slope(points):
    """Of the least-squares line, and its standard error."""
    n = len(points)
    mean_t = sum(t for t, _ in points) / n
    mean_v = sum(v for _, v in points) / n
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    if n < 3 or spread == 0.0:
        return 0.0, math.inf
    rise = sum((t - mean_t) * (v - mean_v) for t, v in points) / spread
    left = sum((v - mean_v - rise * (t - mean_t)) ** 2 for t, v in points)
    return rise, math.sqrt(left / (n - 2) / spread)


def judge(samples, tolerance):
    """Growth of (seconds, value) samples: by hour, its error, over the time watched, and whether that is growth.

    It is if the line rises by more than three of its errors and by more than `tolerance` over the time that was watched: what
    is exact, like a count, has no error, and a page more or less of memory is no leak."""
    samples = sorted(samples)
    if samples:
        begin, end = samples[0][0], samples[-1][0]
        samples = [(t, v) for t, v in samples if t >= begin + WARM_UP * (end - begin)]
    if len(samples) < BLOCKS:  # of a store that is still filling, a few say nothing
        return {"samples": len(samples), "per_hour": None, "error": None, "rise": None, "grows": False}
    rise, error = slope(block_means(samples))
    total = rise * (samples[-1][0] - samples[0][0])
    finite = math.isfinite(error)
    return {"samples": len(samples), "first": samples[0][1], "last": samples[-1][1], "per_hour": rise * 3600,
            "error": error * 3600 if finite else None, "rise": total,
            "grows": finite and rise > 3.0 * error and total > tolerance}
