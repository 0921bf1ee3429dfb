"""Serves a GGUF file on loopback by llama.cpp until standard input ends; prints the address when it is ready.

Arguments: the file, and the port.
"""

from __future__ import annotations

import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

if __name__ == "__main__":
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 2048, 1, 1
    server = xllamacpp.Server(parameters)
    while True:
        try:
            urlopen(f"{server.listening_address}/health", timeout=5).close()
            break
        except (URLError, OSError):
            time.sleep(0.2)
    print(server.listening_address, flush=True)
    sys.stdin.read()
