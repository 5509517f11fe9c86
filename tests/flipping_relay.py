"""A TCP relay that flips single bits."""
import contextlib
import socket
import threading


class FlippingRelay:
    """Listens at (@host, @port) and forwards to the same port of 127.0.0.1. plan(connection) returns the offsets of the bytes in which a
    bit is flipped: {direction: offset}, "up" to the server and "down" from it. `flipped` counts the flips."""

    def __init__(self, host, port, plan):
        self.port, self.plan, self.flipped, self.sockets, self.count = port, plan, 0, [], 0
        self.listener = socket.create_server((host, port))
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
                server = socket.create_connection(("127.0.0.1", self.port))
                self.sockets += [client, server]
                flips = self.plan(self.count)
                self.count += 1
                threading.Thread(target=self.copy, args=(client, server, flips.get("up")), daemon=True).start()
                threading.Thread(target=self.copy, args=(server, client, flips.get("down")), daemon=True).start()

    def copy(self, source, to, offset):
        at = 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if offset is not None and at <= offset < at + len(data):
                    data = bytearray(data)
                    data[offset - at] ^= 1 << offset % 8
                    self.flipped += 1
                at += len(data)
                to.sendall(data)
        for end in (source, to):  # what one side has closed ends for the other, too
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
