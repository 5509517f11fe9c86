"""A proxy between a client and a real API server that injects faults, by a script or a seed.

    with FaultProxy(cluster) as proxy:
        door = proxy.open(Faults(seed=7, often=0.3))
        run(…, KUBECONFIG=door.kubeconfig)
        door.close()

Each door has its own address and faults. Clients speak HTTP/1.1 over TLS to it, without credentials: the proxy acts as
administrator on the server. Each request meets a Fault:

    LATENCY     request and response are delayed
    REFUSED     the connection is reset before the server gets the request
    LOST        the server carries out the request, and the connection is reset before the response
    HALF        … or in the middle of the response (of a watch: in the middle of an event)
    STATUS      the proxy answers in place of the server: 409, 410, 429 with Retry-After, 500, 503
    LATE        the server carries out the request, and the proxy answers 500 or 504
    EXPIRED     a watch gets 410 as an ERROR event in the stream
    ENDED       a watch ends early

The door's skew shifts all times in responses.
"""
import asyncio
import collections
import datetime
import json
import pathlib
import random
import re
import socket
import ssl
import struct
import threading

NONE, LATENCY, REFUSED, LOST, HALF, STATUS, LATE, EXPIRED, ENDED = range(9)
NAMES = "NONE LATENCY REFUSED LOST HALF STATUS LATE EXPIRED ENDED".split()
REASONS = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable",
           504: "Timeout"}
WORDS = {409: "Operation cannot be fulfilled on resourcequotas \"x\": the object has been modified; please apply your changes "
              "to the latest version and try again"}
TIME = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')
Fault = collections.namedtuple("Fault", "kind status seconds after", defaults=(NONE, 0, 0.0, 0))
Request = collections.namedtuple("Request", "method path headers body")


class Faults:
    """Faults of a seed: a share @often of the requests and half of the watches, and every request from number @blackout on."""

    def __init__(self, seed, often=0.3, blackout=None, light=1 << 30):
        self.random = random.Random(seed)
        self.often, self.blackout, self.n = often, blackout, 0
        self.light = light  # no faults from this request on, so that the rest succeeds
        self.skew = self.random.choice([0, 0, 3600, -3600, 86400])

    def __call__(self, request):
        self.n += 1
        draw = self.random
        watch = "watch=" in request.path
        if self.blackout is not None and self.n > self.blackout:
            return Fault(REFUSED)
        if self.n > self.light or draw.random() >= (max(self.often, 0.5) if watch else self.often):
            return Fault()
        kind = draw.choice([LATENCY, REFUSED, LOST, HALF, STATUS, LATE] + ([EXPIRED, ENDED, HALF] if watch else []))
        status = draw.choice([409, 410, 429, 500, 503] if kind == STATUS else [500, 504])
        if status == 410 and request.method != "GET" or status == 409 and request.method == "GET":
            status = 503
        return Fault(kind, status, draw.random() * 0.3, draw.randrange(4000) if watch else draw.randrange(1, 2000))


class Door:
    def __init__(self, proxy, faults):
        self.proxy, self.faults = proxy, faults
        self.met = collections.Counter()
        self.seen = []  # (method, path, kind of fault)
        self.connections = set()
        self.server = None

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.proxy.inside, limit=1 << 24)
        port = self.server.sockets[0].getsockname()[1]
        self.url = f"https://127.0.0.1:{port}"
        self.kubeconfig = str(self.proxy.folder / f"{port}.conf")
        pathlib.Path(self.kubeconfig).write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy", "users": [{"name": "nobody", "user": {}}],
            "clusters": [{"name": "proxy", "cluster": {"server": self.url, "certificate-authority": self.proxy.cluster.key("ca.crt")}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "nobody"}}]}))

    def close(self):
        self.proxy.run(self.shut())
        pathlib.Path(self.kubeconfig).unlink()

    async def shut(self):
        self.server.close()
        while self.connections:  # cancel repeatedly: a wait with a timeout may swallow a cancellation
            for task in self.connections:
                task.cancel()
            await asyncio.wait(self.connections, timeout=0.1)

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.connections.add(task)
        try:
            while await self.exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            self.connections.discard(task)
            writer.transport.abort()

    async def exchange(self, reader, writer):
        """Serves one request. Returns False if the connection has ended."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(method, path, headers, body)
        fault = self.faults(request)
        self.met[NAMES[fault.kind] + (str(fault.status) if fault.kind in (STATUS, LATE) else "")] += 1
        self.seen.append((method, path, NAMES[fault.kind]))
        await asyncio.sleep(fault.seconds if fault.kind != NONE else 0)
        if fault.kind == REFUSED:
            return self.reset(writer)
        if fault.kind == STATUS:
            return await self.answer(writer, fault.status)
        return await self.forward(request, fault, writer)

    @staticmethod
    def reset(writer):
        connection = writer.get_extra_info("socket")
        if connection:  # else the client has closed it
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False

    async def answer(self, writer, status):
        text = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": REASONS[status],
                           "message": WORDS.get(status, f"a fault of the tests: {REASONS[status]}")}).encode()
        more = "Retry-After: 1\r\n" if status == 429 else ""
        writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n{more}"
                     f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
        await writer.drain()
        return True

    # ------------------------------------------------------------------------------------------------- to the server

    def shift(self, text):
        skew = getattr(self.faults, "skew", 0)
        if not skew:
            return text
        form = "%Y-%m-%dT%H:%M:%SZ"

        def one(match):
            moment = datetime.datetime.strptime(match.group(1).decode(), form) + datetime.timedelta(seconds=skew)
            return b'"' + moment.strftime(form).encode() + b'"'
        return TIME.sub(one, text)

    async def forward(self, request, fault, writer):
        upstream_reader, upstream = await asyncio.open_connection(
            "127.0.0.1", self.proxy.cluster.port, ssl=self.proxy.outside, limit=1 << 24)
        try:
            kept = {k: v for k, v in request.headers.items()
                    if k not in ("host", "accept-encoding", "connection", "content-length", "expect")}
            lines = "".join(f"{k}: {v}\r\n" for k, v in kept.items())
            upstream.write(f"{request.method} {request.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lines}"
                           f"Content-Length: {len(request.body)}\r\n\r\n".encode() + request.body)
            await upstream.drain()
            head = (await upstream_reader.readuntil(b"\r\n\r\n")).decode()
            if "watch=" in request.path and " 200 " in head.split("\r\n")[0]:
                return await self.stream(upstream_reader, head, fault, writer)
            return await self.whole(upstream_reader, head, fault, writer)
        finally:
            upstream.transport.abort()

    @staticmethod
    async def pieces(reader, head):
        """The body of a response in pieces."""
        length = re.search(r"(?i)\r\ncontent-length: (\d+)", head)
        if length:
            yield await reader.readexactly(int(length.group(1)))
            return
        while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)) > 0:
            yield await reader.readexactly(size)
            await reader.readexactly(2)

    async def whole(self, reader, head, fault, writer):
        body = self.shift(b"".join([piece async for piece in self.pieces(reader, head)]))
        await asyncio.sleep(fault.seconds if fault.kind == LATENCY else 0)
        if fault.kind == LOST:
            return self.reset(writer)
        if fault.kind == LATE:
            return await self.answer(writer, fault.status)
        status = head.split("\r\n")[0]
        kind = re.search(r"(?i)\r\ncontent-type: ([^\r]+)", head)
        text = f"{status}\r\nContent-Type: {kind.group(1) if kind else 'text/plain'}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        if fault.kind == HALF:
            writer.write(text[:len(text) * 2 // 3])
            await writer.drain()
            return self.reset(writer)
        writer.write(text)
        await writer.drain()
        return True

    async def stream(self, reader, head, fault, writer):
        """Forwards a watch. @fault.after: bytes to forward before the fault."""
        ends = fault.kind in (LOST, HALF, LATE, EXPIRED, ENDED)
        left = fault.after if ends else None

        def chunk(text):
            writer.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        await writer.drain()
        pieces = self.pieces(reader, head)
        while True:
            try:  # end a watch without events too
                piece = await asyncio.wait_for(anext(pieces), 0.2 + fault.seconds if ends else None)
            except (StopAsyncIteration, asyncio.TimeoutError):
                break
            piece = self.shift(piece)
            if left is not None and len(piece) > left:
                if fault.kind == HALF:
                    chunk(piece[:left])
                    await writer.drain()
                break
            if left is not None:
                left -= len(piece)
            chunk(piece)
            await writer.drain()
        if fault.kind in (LOST, HALF, LATE):
            return self.reset(writer)
        if fault.kind == EXPIRED:
            chunk(json.dumps({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
                                                          "reason": "Expired", "message": "too old resource version"}}).encode() + b"\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


class FaultProxy:
    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = pathlib.Path(cluster.folder)
        self.inside = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.inside.load_cert_chain(cluster.key("apiserver.crt"), cluster.key("apiserver.key"))
        self.inside.set_alpn_protocols(["http/1.1"])
        self.outside = cluster.context()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def open(self, faults=lambda request: Fault()):
        door = Door(self, faults)
        self.run(door.listen())
        return door
