"""The C library's heap: asked where there is something to ask, and nothing else."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from beforehand.pipeline import heap

GROWS = """
import ctypes, re, threading
from beforehand.pipeline import heap
if {spared}:
    heap.one_arena()
ready, done = threading.Barrier(9), threading.Event()
def work():
    held = bytes(100_000)
    ready.wait()
    done.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
ready.wait()
libc = ctypes.CDLL(None)
libc.open_memstream.restype = ctypes.c_void_p
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = libc.open_memstream(ctypes.byref(text), ctypes.byref(size))
libc.malloc_info(0, ctypes.c_void_p(stream))
libc.fclose(ctypes.c_void_p(stream))
print(len(re.findall(rb"<heap nr=", text.value)))
done.set()
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="glibc's heap")
def test_all_threads_share_one_heap():
    def heaps(spared):
        done = subprocess.run([sys.executable, "-c", GROWS.format(spared=spared)], capture_output=True, check=True)
        return int(done.stdout)

    assert heaps(spared=True) == 1
    assert heaps(spared=False) > 1


@pytest.mark.parametrize("ask", [heap.one_arena, heap.give_back])
def test_another_c_library_is_left_alone(ask, monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    ask()
