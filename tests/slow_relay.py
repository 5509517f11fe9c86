"""A TCP relay to a port of this machine that delays all bytes of the client."""
import contextlib
import socket
import threading
import time


class SlowRelay:
    def __init__(self, target, seconds):
        self.target, self.seconds, self.sockets = target, seconds, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.target))
                self.sockets += [client, server]
                threading.Thread(target=self.copy, args=(client, server, self.seconds), daemon=True).start()
                threading.Thread(target=self.copy, args=(server, client, 0), daemon=True).start()

    @staticmethod
    def copy(source, to, seconds):
        """Forwards bytes until the end. Bytes that arrive during a delay wait for the next one."""
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(seconds)
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
