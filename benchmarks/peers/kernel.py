"""macaulay2-jupyter-kernel: as any Jupyter client uses it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from common import serve
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

MODULE = os.environ["M2BRIDGE_BENCHMARK_KERNEL"]
folder = Path(tempfile.mkdtemp())
(folder / "m2").mkdir()
argv = [sys.executable, "-m", MODULE, "-f", "{connection_file}"]
spec = {"argv": argv, "display_name": "M2", "language": "macaulay2"}
(folder / "m2" / "kernel.json").write_text(json.dumps(spec))
specs = KernelSpecManager()
specs.kernel_dirs = [str(folder)]
manager = KernelManager(kernel_name="m2", kernel_spec_manager=specs)


def start() -> None:
    global client
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    evaluate("1")


def evaluate(code: str) -> str:
    said: list[str] = []

    def hear(message: dict) -> None:
        content = message["content"]
        if message["msg_type"] == "stream":
            said.append(content["text"])
        elif message["msg_type"] in ("execute_result", "display_data"):
            said.append(content["data"].get("text/plain", ""))

    client.execute_interactive(code, timeout=60, output_hook=hear)
    return "".join(said)


serve(start, evaluate)
manager.shutdown_kernel(now=True)
