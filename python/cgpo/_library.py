"""Loads MuJoCo's library out of the package mujoco-core before the module that needs it is imported."""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
import platform
import warnings

MUJOCO = "4.0.0"


def _has_avx() -> bool:
    # MuJoCo's library uses AVX as soon as it is loaded; where there is none, the process would end without a word.
    if os.environ.get("CGPO_ISA") == "none":  # for the test of this
        return False
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return "avx" in line.split()
    except OSError:
        pass
    return True


def _folder() -> str | None:
    spec = importlib.util.find_spec("mujoco")
    return list(spec.submodule_search_locations or [""])[0] if spec else None


def _warn_of_another(folder: str) -> None:
    # Not by importlib.metadata, which alone would take longer to import than all of this package.
    for file in glob.glob(os.path.join(glob.escape(os.path.dirname(folder)), "mujoco-[0-9]*.dist-info")):
        version = os.path.basename(file).removeprefix("mujoco-").removesuffix(".dist-info")
        if version != MUJOCO:
            warnings.warn(
                f"mujoco {version} and mujoco-core {MUJOCO} share the folder '{folder}', where `import mujoco` may fail now: "
                f"pip install mujoco=={MUJOCO}, or keep one of them in an environment of its own",
                stacklevel=2,
            )


def load() -> None:
    if not _has_avx():
        raise ImportError("cgpo: this CPU has no AVX, which MuJoCo's library needs")
    folder = _folder()
    path = os.path.join(folder or "", f"libmujoco.so.{MUJOCO}")
    if folder and os.path.exists(path):
        ctypes.CDLL(path)
        _warn_of_another(folder)
        return
    seen = glob.glob(os.path.join(folder, "libmujoco.so.*")) if folder else []
    found = f"; '{folder}' has {os.path.basename(seen[0])}" if seen else ""
    raise ImportError(f"cgpo needs MuJoCo {MUJOCO}{found}: pip install mujoco-core=={MUJOCO}")
