"""The API server's and the kubelet's side of "portforward" over WebSocket, protocol v4.channel.k8s.io: two bytes of the port
first on the channels 0 (data) and 1 (errors), then data."""
import base64
import hashlib
import socket
import struct
import threading

PROTOCOL = "v4.channel.k8s.io"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def read_exactly(stream, n):
    data = stream.read(n)
    if len(data) < n:
        raise OSError("the client has gone")
    return data


def read_frame(stream):
    """Returns the opcode and payload of a frame of a client, which must be masked."""
    first, second = read_exactly(stream, 2)
    length = second & 127
    if length == 126:
        length, = struct.unpack(">H", read_exactly(stream, 2))
    elif length == 127:
        length, = struct.unpack(">Q", read_exactly(stream, 8))
    assert second & 128, "a frame of a client is not masked"
    mask = read_exactly(stream, 4)
    data = read_exactly(stream, length)
    return first & 15, bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def frame(opcode, data):
    n = len(data)
    length = bytes([n]) if n < 126 else b"\x7e" + struct.pack(">H", n) if n < 65536 else b"\x7f" + struct.pack(">Q", n)
    return bytes([128 | opcode]) + length + data


def serve(handler, port, target):
    """Upgrades the connection of @handler and joins it with the local port @target; None: nothing listens in the pod."""
    if PROTOCOL not in handler.headers.get("Sec-WebSocket-Protocol", ""):
        handler.fail(400, "BadRequest", "unable to upgrade: no known protocol")
        return
    key = handler.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    handler.send_response(101, "Switching Protocols")
    handler.send_header("Connection", "Upgrade")
    handler.send_header("Upgrade", "websocket")
    handler.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
    handler.send_header("Sec-WebSocket-Protocol", PROTOCOL)
    handler.end_headers()
    handler.close_connection = True
    lock, number = threading.Lock(), struct.pack("<H", port)

    def send(opcode, data):
        with lock:
            handler.wfile.write(frame(opcode, data))
            handler.wfile.flush()

    send(BINARY, b"\0" + number)
    send(BINARY, b"\1" + number)
    send(PING, b"alive?")
    try:
        peer = socket.create_connection(("127.0.0.1", target), timeout=30)
    except (OSError, TypeError):
        send(BINARY, b"\1" + f"failed to connect to localhost:{port} inside namespace: connection refused\n".encode())
        send(CLOSE, struct.pack(">H", 1000))
        return

    def back():
        try:
            while data := peer.recv(20000):
                send(BINARY, b"\0" + data)
            send(CLOSE, struct.pack(">H", 1000))
        except OSError:
            pass

    thread = threading.Thread(target=back, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            opcode, data = read_frame(handler.rfile)
            if opcode == BINARY and data[:1] == b"\0":
                peer.sendall(data[1:])
    except OSError:
        pass
    peer.close()
