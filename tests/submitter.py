"""firesteel/submit.h as a binding sees it: through ctypes."""
import ctypes
import os
import threading
import time

from folders import BIN

TIMEOUT_MS = 120000

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


def load(bin_folder):
    library = ctypes.CDLL(os.path.join(bin_folder, "libfiresteel.so"))
    pointer, integer, text, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
    out = ctypes.POINTER(ctypes.c_void_p)
    words = ctypes.POINTER(ctypes.c_char_p)
    of_text = (size, [pointer, text, size])
    of_handle = (integer, [pointer])
    for name, (result, arguments) in {
            "open": (integer, [out]), "close": (None, [pointer]), "set_program": (integer, [pointer, text]),
            "fd": of_handle, "dispatch": (integer, [pointer, integer]), "state_name": (text, [integer]),
            "is_final": (integer, [integer]), "parse": (integer, [pointer, size, words, out]),
            "free": (None, [pointer]), "on_change": (integer, [pointer, CALLBACK, pointer]),
            "set_env": (integer, [pointer, text, text]), "set_output": (integer, [pointer, integer, integer]),
            "set_watch": (integer, [pointer, integer]), "prepare": of_handle, "start": of_handle,
            "wait": (integer, [pointer, integer]), "stop": of_handle, "kill": of_handle, "refresh": of_handle,
            "state": of_handle, "pid": of_handle, "exit_status": of_handle, "id": of_text, "error": of_text,
            "answer": of_text, "prepared": of_text, "warnings": of_text}.items():
        function = getattr(library, "fst_submit_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Submission:
    def __init__(self, submitter, words):
        self.library, self.submitter = submitter.library, submitter
        handle = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(words))(*[w.encode() for w in words])
        self.parsed = self.library.fst_submit_parse(submitter.handle, len(words), array, ctypes.byref(handle))
        self.handle = handle
        self.heard = []
        self.threads = set()
        self.callback = CALLBACK(self.changed)
        self.on_change = lambda: None

    def changed(self, _context, handle, event):
        assert handle == self.handle.value
        self.threads.add(threading.get_ident())
        self.heard.append(self.state() if event == 1 else "id")
        self.on_change()

    def listen(self):
        assert self.call("on_change", self.callback, None) == 0
        return self

    def call(self, name, *more):
        return getattr(self.library, "fst_submit_" + name)(self.handle, *more)

    def state(self):
        return self.library.fst_submit_state_name(self.call("state")).decode()

    def text(self, name):
        n = self.call(name, None, 0)
        buffer = ctypes.create_string_buffer(n + 1)
        assert self.call(name, buffer, n + 1) == n
        return buffer.value.decode()

    def end(self):
        assert self.call("wait", TIMEOUT_MS) == 1, self.state()
        self.submitter.dispatch(0)
        return self.state()


class Submitter:
    def __init__(self, bin_folder=BIN):
        self.library = load(bin_folder)
        self.handle = ctypes.c_void_p()
        assert self.library.fst_submit_open(ctypes.byref(self.handle)) == 0

    def new(self, *words):
        return Submission(self, words)

    def dispatch(self, timeout_ms):
        return self.library.fst_submit_dispatch(self.handle, timeout_ms)

    def dispatch_until(self, condition):
        end = time.monotonic() + TIMEOUT_MS / 1000
        while not condition():
            assert time.monotonic() < end
            self.dispatch(1000)

    def close(self):
        self.library.fst_submit_close(self.handle)
