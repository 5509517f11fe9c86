#!/usr/bin/env python3
"""A Celeborn master and workers in one process, for tests: they keep what is pushed in memory, and fail on command.

In Python: `with Celeborn(workers=2) as celeborn:`, then celeborn.master, celeborn.fault(…), celeborn.kill(0), celeborn.counts.
As a program: prints {"master": "host:port", "workers": […]}, then answers each line {"do": COMMAND, …} of its standard
input with one line, and ends with its input. COMMAND is the name of a method below that is marked so.

A fault {"at": REQUEST, "kind": KIND, "worker": i, "after": n, "times": m, …} hits requests n + 1 … n + m of that name at that worker
(all of them without worker). Kinds: drop (no answer), ignore (neither done nor answered), close (the connection, instead of doing
it), close_after (instead of answering), delay (the answer, by "seconds"), fail (with "text"), status (answers "status"), flip (a bit at "offset" of a chunk, or of what is pushed),
elsewhere (OpenStream names no chunks, as for a file in HDFS).
"""
import asyncio
import collections
import itertools
import json
import os
import struct
import sys
import threading

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from celeborn.authentication import Gate, Refused
from celeborn.messages import (CHUNK_FAILURE, CHUNK_SUCCESS, HEARTBEAT, ONE_WAY, PUSH_DATA, PUSH_MERGED_DATA, RPC_FAILURE, RPC_REQUEST,
                               RPC_RESPONSE, Fields, bytes_field, frame, frame_text, java_message, number_field, packed_field,
                               plain_message, read_envelope, read_message, text_of, texts_field)
from celeborn.storage import PartitionFile, batches_of

SUCCESS, PARTIAL, MAP_ENDED, HARD_SPLIT, SOFT_SPLIT, WORKER_UNKNOWN = 0, 1, 15, 21, 22, 28
NAMES = {6: "RequestSlots", 16: "UnregisterShuffle", 18: "ApplicationLost", 20: "Heartbeat", 25: "ReportWorkerUnavailable",
         28: "ReserveSlots", 30: "CommitFiles", 32: "DestroyWorkerSlots", 51: "OpenStream", 53: "CheckWorkersAvailable",
         60: "BufferStreamEnd", 63: "ChunkFetch", 80: "OpenStreamList", 87: "BatchUnregisterShuffles", 89: "ReviseLostShuffles",
         96: "RegisterApplication"}


class Failure(Exception):
    """The answer is a RPC_FAILURE with this text."""


class Closed(Exception):
    """The connection closes without an answer."""


class Frame(bytes):
    """An answer that is a whole frame, not the body of a RPC_RESPONSE."""


class Location:
    """One copy of a partition at a worker."""

    def __init__(self, partition, epoch, mode, worker):
        self.partition, self.epoch, self.mode, self.worker = partition, epoch, mode, worker
        self.peer = None

    def encode(self, with_peer=True):
        worker = self.worker
        return (number_field(1, self.mode) + number_field(2, self.partition) + number_field(3, self.epoch)
                + bytes_field(4, worker.host) + number_field(5, worker.rpc) + number_field(6, worker.push)
                + number_field(7, worker.fetch) + number_field(8, worker.replicate)
                + (bytes_field(9, self.peer.encode(False)) if self.peer and with_peer else b"")
                + bytes_field(10, number_field(1, 1) + bytes_field(2, "/")))

    def describe(self):
        return {"partition": self.partition, "epoch": self.epoch, "mode": self.mode, "worker": self.worker.index,
                "peer": self.peer.worker.index if self.peer else -1}


class Worker:
    """A worker: its ports, its files and its open streams."""

    def __init__(self, cluster, index):
        self.cluster, self.index, self.host = cluster, index, cluster.host
        self.files = {}  # (shuffle key, file name): PartitionFile
        self.commits = {}  # (shuffle key, epoch): answer
        self.attempts = {}  # shuffle key: attempt by map; known once its files are committed
        self.streams = {}
        self.stream_ids = itertools.count(1)
        self.servers, self.connections = [], set()
        self.alive = True

    @property
    def id(self):
        return f"{self.host}:{self.rpc}:{self.push}:{self.fetch}:{self.replicate}"

    def describe(self):
        return {"rpc": self.rpc, "push": self.push, "fetch": self.fetch, "replicate": self.replicate}

    async def start(self):
        for name, handler in (("rpc", self.on_rpc), ("push", self.on_data), ("fetch", self.on_data), ("replicate", self.on_data)):
            server = await self.cluster.listen(self, handler, name)
            self.servers.append(server)
            setattr(self, name, server.sockets[0].getsockname()[1])

    def stop(self):
        self.alive = False
        for server in self.servers:
            server.close()
        for writer in list(self.connections):
            writer.transport.abort()

    # -- requests of the driver

    async def on_rpc(self, kind, head, body):
        _, body = read_envelope(body)
        number, payload = read_message(body)
        fields = Fields(payload)
        handler = {28: self.reserve, 30: self.commit, 32: self.destroy}.get(number)
        if not handler:
            raise Failure(f"IllegalArgumentException: message {number} at a worker")
        fault = await self.cluster.before(NAMES[number], self.index)
        answer = handler(fields, fault)
        await self.cluster.after(fault)
        return java_message(number + 1, answer)

    def reserve(self, fields, fault):
        if fault.status:
            return number_field(1, fault.status) + bytes_field(2, "on command")
        key = f"{fields.text(1)}-{fields.number(2)}"
        for field, mode in ((3, 0), (4, 1)):
            for location in map(Fields, fields.all(field)):
                name = f"{location.number(2)}-{location.number(3)}-{mode}"
                self.files.setdefault((key, name), PartitionFile(fields.number(5) or 1 << 62, fields.number(6) == 1))
                for peer in map(Fields, location.all(9) if mode == 0 else ()):
                    self.cluster.replicas[key, name[:-2]] = next(w for w in self.cluster.workers if w.rpc == peer.number(5))
        return b""

    def commit(self, fields, fault):
        key = f"{fields.text(1)}-{fields.number(2)}"
        known = self.commits.get((key, fields.number(6)))
        if known is not None:
            return known
        self.attempts[key] = fields.numbers(5)
        done, failed, total = ([], []), ([], []), 0
        for mode, names in enumerate((fields.texts(3), fields.texts(4))):
            for name in names:
                file = self.files.get((key, f"{name}-{mode}"))
                if fault.status or not file:
                    failed[mode].append(name)
                    continue
                file.committed = True
                if file.size:
                    done[mode].append(name)
                    total += file.size
        answer = (number_field(1, PARTIAL if failed[0] or failed[1] else SUCCESS) + texts_field(2, done[0]) + texts_field(3, done[1])
                  + texts_field(4, failed[0]) + texts_field(5, failed[1]) + number_field(8, total)
                  + number_field(9, len(done[0]) + len(done[1])))
        self.commits[key, fields.number(6)] = answer
        return answer

    def destroy(self, fields, fault):
        for field, mode in ((2, 0), (3, 1)):
            for name in fields.texts(field):
                self.files.pop((fields.text(1), f"{name}-{mode}"), None)
        return number_field(1, fault.status)

    # -- data of executors

    async def on_data(self, kind, head, body):
        if kind == PUSH_DATA:
            key, at = frame_text(head, 9)
            name, at = frame_text(head, at)
            return await self.pushed("PushData", key, [name], [0], body)
        if kind == PUSH_MERGED_DATA:
            key, at = frame_text(head, 9)
            count, = struct.unpack_from(">i", head, at)
            at += 4
            names = []
            for _ in range(count):
                name, at = frame_text(head, at)
                names.append(name)
            offsets = struct.unpack_from(f">{count}i", head, at + 4)
            return await self.pushed("PushMergedData", key, names, offsets, body)
        number, payload = read_message(body)
        fields = Fields(payload)
        fault = await self.cluster.before(NAMES.get(number, str(number)), self.index)
        if number == 51:
            local = bool(self.cluster.local) and fields.number(6) == 1
            answer = plain_message(52, self.open(fields.text(1), fields.text(2), fields.number(3), fields.number(4), local,
                                                 fault.kind == "elsewhere"))
        elif number == 80:
            answer = plain_message(81, b"".join(bytes_field(2, self.try_open(fields, i)) for i in range(len(fields.all(2)))))
        elif number == 63:
            return self.chunk(fields.message(1), fault)
        elif number == 60:
            self.streams.pop(fields.number(2), None)
            return None
        else:
            raise Failure(f"UnsupportedOperationException: message {number}")
        await self.cluster.after(fault)
        return answer

    async def pushed(self, request, key, names, offsets, body):
        fault = await self.cluster.before(request, self.index)
        if fault.status:
            return bytes([fault.status])
        if fault.kind == "flip":
            at = fault.offset % len(body)
            body = body[:at] + bytes([body[at] ^ 4]) + body[at + 1:]
        listed, stored = [], []
        for i, (name, start) in enumerate(zip(names, offsets)):
            part = body[start:offsets[i + 1] if i + 1 < len(offsets) else len(body)]
            status = self.store(key, name, part, stored)
            if status == MAP_ENDED:
                return bytes([MAP_ENDED])
            if status:
                listed.append((i, status))
        for mirror, part in stored:
            if mirror and not (mirror[0].alive and mirror[1] in mirror[0].files):
                raise Failure("PUSH_DATA_CONNECTION_EXCEPTION_REPLICA the replica is gone")
            if mirror:
                mirror[0].files[mirror[1]].append(part)
        await self.cluster.after(fault)
        if not listed:
            return b"" if request == "PushData" else b"\0"
        if request == "PushData":
            return bytes([listed[0][1]])
        info = bytes_field(1, bytes(i for i, _ in listed)) if max(i for i, _ in listed) < 128 else packed_field(1, [i for i, _ in listed])
        return bytes([HARD_SPLIT]) + plain_message(91, info + bytes_field(2, bytes(status for _, status in listed)))

    def store(self, key, name, body, stored):
        """Stores a body. Returns the status of its answer."""
        file = self.files.get((key, name + "-0"))
        map_id, attempt = struct.unpack_from("<ii", body)
        ended = self.attempts.get(key, [])
        ended = ended[map_id] if map_id < len(ended) else -1
        if not file:
            if ended >= 0:
                return MAP_ENDED
            raise Failure("PUSH_DATA_FAIL_PARTITION_NOT_FOUND no " + name)
        if file.committed:
            return MAP_ENDED if ended >= 0 else HARD_SPLIT
        if file.full and file.hard:
            return HARD_SPLIT
        file.append(body)
        replica = self.cluster.replicas.get((key, name))
        stored.append((replica and (replica, (key, name + "-1")), body))
        return SOFT_SPLIT if file.full else SUCCESS

    def open(self, key, name, start, end, local=False, elsewhere=False):
        self.cluster.counts["OpenSorted"] += end < 0x7fffffff
        file = self.files.get((key, name))
        if not file or not file.size:
            raise Failure(f"FileNotFoundException: {key} {name} is not here")
        chunks = [] if elsewhere else file.chunks(self.cluster.chunk_size, start, end)
        stream = next(self.stream_ids) + (self.index + 1 << 60)
        self.streams[stream] = chunks
        return number_field(1, stream) + number_field(2, len(chunks)) + (self.name_file(name, stream, chunks) if local else b"")

    def name_file(self, name, stream, chunks):
        """The fields that tell a reader on this host where the file is. It begins behind some other bytes."""
        path, offsets = os.path.join(self.cluster.local, f"{self.index}-{name}-{stream}"), [100]
        if self.cluster.local_kind == "missing":
            return packed_field(3, [0, 100]) + bytes_field(4, path)
        data = b"".join(chunks)
        with open(path, "wb") as file:
            file.write(b"x" * 100 + (data[:-1] if self.cluster.local_kind == "short" else data + b"more"))
        for chunk in chunks:
            offsets.append(offsets[-1] + len(chunk))
        self.cluster.counts["NamedFiles"] += 1
        return packed_field(3, offsets) + bytes_field(4, path)

    def try_open(self, fields, i):
        starts, ends = fields.numbers(3), fields.numbers(4)
        try:
            return bytes_field(2, self.open(fields.text(1), fields.texts(2)[i], starts[i], ends[i]))
        except Failure as failure:
            return number_field(1, 51) + bytes_field(3, str(failure))

    def chunk(self, slice_, fault):
        stream, index = slice_.number(1), slice_.number(2)
        head = struct.pack(">qiii", stream - (1 << 64) if stream >> 63 else stream, index, 0, 0x7fffffff)
        chunks = self.streams.get(stream)
        if chunks is None or index >= len(chunks):
            return Frame(frame(CHUNK_FAILURE, head + text_of(f"IllegalStateException: no chunk {index} of stream {stream}")))
        if fault.kind == "fail":
            return Frame(frame(CHUNK_FAILURE, head + text_of(fault.text)))
        data = chunks[index]
        if fault.kind == "flip":
            at = fault.offset % len(data)
            data = data[:at] + bytes([data[at] ^ 4]) + data[at + 1:]
        return Frame(frame(CHUNK_SUCCESS, head, data))


class Fault:
    """What befalls a request. Without a kind: nothing."""

    def __init__(self, at="", kind="", worker=-1, after=0, times=1, seconds=0.0, text="", status=0, offset=0):
        self.at, self.kind, self.worker, self.left, self.times = at, kind, worker, after, times
        self.seconds, self.text, self.status, self.offset = seconds, text, status, offset

    def hits(self, request, worker):
        if self.at != request or self.worker not in (-1, worker) or self.times == 0:
            return False
        if self.left:
            self.left -= 1
            return False
        self.times -= 1
        return True


class Celeborn:
    """A master and its workers at the address @host, on a thread of its own."""

    def __init__(self, workers=2, chunk_size=8 << 20, heartbeats=False, authenticate=False, host="127.0.0.1"):
        self.host = host
        self.chunk_size, self.heartbeats, self.authenticate = chunk_size, heartbeats, authenticate
        self.secrets = {}  # application: its secret
        self.local, self.local_kind = None, ""  # the folder of files that readers on this host may read
        self.wrong_secrets = False  # what applications register is altered
        self.authenticated = collections.Counter()  # connections by the name of the port (authentication.py)
        self.workers = [Worker(self, i) for i in range(workers)]
        self.faults = []
        self.counts = collections.Counter()  # requests by name
        self.replicas = {}  # (shuffle key, unique id): the worker with the replica
        self.shuffles = {}  # (application, shuffle): [primary locations by partition]
        self.applications = {}  # application: heartbeats
        self.turn = 0
        self.loop = asyncio.new_event_loop()
        self.connections = set()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result()
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def start(self):
        self.server = await self.listen(self, self.on_master, "master")
        self.master = f"{self.host}:{self.server.sockets[0].getsockname()[1]}"
        for worker in self.workers:
            await worker.start()

    async def stop(self):
        self.server.close()
        for worker in self.workers:
            worker.stop()
        for writer in list(self.connections):
            writer.transport.abort()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- connections

    async def listen(self, owner, handler, port):
        async def serve(reader, writer):
            owner.connections.add(writer)
            try:
                gate = Gate(self, port) if self.authenticate else None
                await self.serve(reader, writer, gate.guard(handler) if gate else handler)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                owner.connections.discard(writer)
                writer.transport.abort()

        return await asyncio.start_server(serve, self.host, 0, limit=1 << 20)

    async def serve(self, reader, writer, handler):
        tasks = set()
        while True:
            head_size, kind, body_size = struct.unpack(">iBi", await reader.readexactly(9))
            if head_size < 0 or body_size < 0 or kind not in (RPC_REQUEST, ONE_WAY, PUSH_DATA, PUSH_MERGED_DATA, HEARTBEAT):
                return
            head = await reader.readexactly(head_size)
            body = await reader.readexactly(body_size)
            if kind == HEARTBEAT:
                continue
            if self.heartbeats:
                writer.write(frame(HEARTBEAT, b"\0"))
            task = asyncio.ensure_future(self.answer(writer, handler, kind, head, body))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def answer(self, writer, handler, kind, head, body):
        """Answers one request. Up to its first wait it runs before the next one, so that bodies are stored in order."""
        request = head[:8]
        try:
            answer = await handler(kind, head, body)
        except (Failure, Refused) as failure:
            answer = Frame(frame(RPC_FAILURE, request + text_of(str(failure))))
        except Closed:
            writer.transport.abort()
            return
        except Exception:
            writer.transport.abort()  # a mistake of this file or of the client: nobody shall wait
            raise
        if answer is None or kind == ONE_WAY:
            return
        if not isinstance(answer, Frame):
            answer = frame(RPC_RESPONSE, request + struct.pack(">i", len(answer)), answer)
        writer.write(answer)

    async def before(self, request, worker):
        self.counts[request] += 1
        fault = next((fault for fault in self.faults if fault.hits(request, worker)), Fault())
        if fault.kind == "close":
            raise Closed
        if fault.kind == "ignore":
            await asyncio.sleep(3600)
        if fault.kind == "fail" and request != "ChunkFetch":
            raise Failure(fault.text)
        return fault

    async def after(self, fault):
        if fault.kind == "close_after":
            raise Closed
        if fault.kind in ("drop", "delay"):
            await asyncio.sleep(fault.seconds if fault.kind == "delay" else 3600)

    # -- the master

    async def on_master(self, kind, head, body):
        _, body = read_envelope(body)
        number, payload = read_message(body)
        fields = Fields(payload)
        name = NAMES.get(number)
        handlers = {6: self.request_slots, 16: self.unregister, 18: self.application_lost, 20: self.heartbeat, 25: self.unavailable,
                    53: self.check, 87: self.unregister_batch, 89: self.revise, 96: self.registered}
        if number not in handlers:
            raise Failure(f"IllegalArgumentException: message {number} at the master")
        fault = await self.before(name, -1)
        answer = java_message({20: 49, 6: 9, 25: 40, 96: 40}.get(number, number + 1),
                              number_field(1, fault.status) if fault.status else handlers[number](fields))
        await self.after(fault)
        return answer

    def request_slots(self, fields):
        excluded = {f"{w.text(1)}:{w.number(2)}" for w in map(Fields, fields.all(12))}
        usable = [w for w in self.workers if w.alive and f"{w.host}:{w.rpc}" not in excluded]
        replicate = fields.number(5) == 1
        if len(usable) < 1 + replicate:
            return number_field(1, 6)
        app, shuffle = fields.text(1), fields.number(2)
        primaries = self.place(app, shuffle, fields.numbers(3), 0, usable, replicate)
        self.shuffles[app, shuffle] = primaries
        out = b""
        for worker in usable:
            own = [p for p in primaries if p.worker is worker]
            copies = [p.peer for p in primaries if p.peer and p.peer.worker is worker]
            resource = (b"".join(bytes_field(1, p.encode()) for p in own) + b"".join(bytes_field(2, p.encode()) for p in copies)
                        + bytes_field(3, "/default-rack"))
            out += bytes_field(2, bytes_field(1, worker.id) + bytes_field(2, resource))
        return out

    def place(self, app, shuffle, partitions, epoch, usable, replicate):
        """Makes locations of the partitions, worker by worker in turn."""
        out = []
        for partition in partitions:
            worker = usable[self.turn % len(usable)]
            self.turn += 1
            primary = Location(partition, epoch, 0, worker)
            if replicate:
                primary.peer = Location(partition, epoch, 1, usable[self.turn % len(usable)])
                primary.peer.peer = primary
                self.replicas[f"{app}-{shuffle}", f"{partition}-{epoch}"] = primary.peer.worker
            out.append(primary)
        return out

    def heartbeat(self, fields):
        self.applications[fields.text(1)] = self.applications.get(fields.text(1), 0) + 1
        dead = b"".join(self.info(field, w) for w in self.workers if not w.alive for field in (2, 3))
        known = sorted(shuffle for app, shuffle in self.shuffles if app == fields.text(1))
        return dead + packed_field(5, known) + bytes_field(6, number_field(1, 1))

    def revise(self, fields):
        for shuffle in fields.numbers(2):
            self.shuffles.setdefault((fields.text(1), shuffle), [])
        return number_field(1, 1)

    @staticmethod
    def info(field, worker):
        return bytes_field(field, bytes_field(1, worker.host) + number_field(2, worker.rpc) + number_field(3, worker.push)
                           + number_field(4, worker.fetch) + number_field(5, worker.replicate))

    def drop(self, app, shuffle):
        self.shuffles.pop((app, shuffle), None)
        for key in [key for key in self.replicas if key[0] == f"{app}-{shuffle}"]:
            del self.replicas[key]
        for worker in self.workers:
            worker.attempts.pop(f"{app}-{shuffle}", None)
            for key in [key for key in worker.files if key[0] == f"{app}-{shuffle}"]:
                del worker.files[key]

    def unregister(self, fields):
        self.drop(fields.text(1), fields.number(2))
        return b""

    def unregister_batch(self, fields):
        for shuffle in fields.numbers(3):
            self.drop(fields.text(1), shuffle)
        return b""

    def application_lost(self, fields):
        for app, shuffle in [key for key in self.shuffles if key[0] == fields.text(1)]:
            self.drop(app, shuffle)
        self.applications.pop(fields.text(1), None)
        return b""

    def unavailable(self, _):
        return b""

    def registered(self, _):
        return b""

    def check(self, _):
        return number_field(1, any(worker.alive for worker in self.workers))

    # -- commands; any thread but the loop's

    def call(self, function):
        done = asyncio.run_coroutine_threadsafe(self.called(function), self.loop)
        return done.result()

    @staticmethod
    async def called(function):
        return function()

    def fault(self, **fault):
        """Command: adds a fault."""
        self.call(lambda: self.faults.append(Fault(**fault)))

    def calm(self):
        """Command: forgets the faults."""
        self.call(self.faults.clear)

    def name_files(self, folder, kind=""):
        """Command: readers on this host may read files, which are put into the folder, "short" by a byte or "missing"."""
        self.local, self.local_kind = folder, kind

    def kill(self, worker):
        """Command: the worker ends, with its connections and files."""
        self.call(self.workers[worker].stop)

    def kill_redundant(self, choose):
        """Ends a worker of whose every file another living one has a copy. Returns its number, or None if there is no such worker.

        Workers without files do not count. @choose: returns one of a list of workers."""
        def kill_one():
            living = [worker for worker in self.workers if worker.alive]
            held = {worker: [(key, name[:-2]) for key, name in worker.files] for worker in living}
            copies = collections.Counter(itertools.chain(*held.values()))
            redundant = [worker for worker in living if held[worker] and all(copies[file] > 1 for file in held[worker])]
            if not redundant:
                return None
            killed = choose(redundant)
            killed.stop()
            return killed.index
        return self.call(kill_one)

    def add(self):
        """Starts another worker."""
        async def start():
            worker = Worker(self, len(self.workers))
            await worker.start()
            self.workers.append(worker)
        asyncio.run_coroutine_threadsafe(start(), self.loop).result()

    def forget(self):
        """Command: the master loses its state, as after a restart, and its connections."""
        def restart():
            self.shuffles.clear()
            self.applications.clear()
            for writer in list(self.connections):
                writer.transport.abort()
        self.call(restart)

    def expire(self):
        """Command: workers tell the master their shuffles, and delete those that it does not know."""
        def delete():
            known = {f"{app}-{shuffle}" for app, shuffle in self.shuffles}
            for worker in self.workers:
                for key in [key for key in worker.files if key[0] not in known]:
                    del worker.files[key]
        self.call(delete)

    def count(self):
        """Command: the number of requests by name."""
        return self.call(lambda: dict(self.counts))

    def stored(self, app, shuffle):
        """Command: [partition, epoch, copy, map, attempt, batch, bytes] of every batch."""
        def collect():
            return [[*map(int, name.split("-")), map_id, attempt, batch, end - start - 16]
                    for worker in self.workers for (key, name), file in worker.files.items() if key == f"{app}-{shuffle}"
                    for body in file.bodies for map_id, attempt, batch, start, end in batches_of(body)]
        return self.call(collect)

    def register(self, app, shuffle, partitions, epoch=0, replicate=False, threshold=1 << 40, hard=False):
        """Command: does what a driver does for a new shuffle or epoch. Returns the primary locations."""
        def reserve():
            usable = [worker for worker in self.workers if worker.alive]
            made = self.place(app, shuffle, partitions, epoch, usable, replicate)
            for primary in made:
                for location in filter(None, (primary, primary.peer)):
                    name = f"{location.partition}-{location.epoch}-{location.mode}"
                    location.worker.files[f"{app}-{shuffle}", name] = PartitionFile(threshold, hard)
            return [primary.describe() for primary in made]
        return self.call(reserve)

    def remove(self, app, shuffle):
        """Command: does what a driver does with a shuffle that is not needed any more."""
        self.call(lambda: self.drop(app, shuffle))

    def end(self, app, shuffle, attempts):
        """Command: all maps of a shuffle have ended. Returns [partition, epoch, copy, worker] of files with data."""
        def commit():
            key, out = f"{app}-{shuffle}", []
            for worker in self.workers:
                worker.attempts[key] = attempts
                for (owner, name), file in worker.files.items():
                    if owner == key and worker.alive:
                        file.committed = True
                        if file.size:
                            out.append([*map(int, name.split("-")), worker.index])
            return sorted(out)
        return self.call(commit)


COMMANDS = ("fault", "calm", "kill", "name_files", "count", "stored", "register", "end", "remove")


def main(argv):
    workers = int(argv[1]) if len(argv) > 1 else 2
    chunk_size = int(argv[2]) if len(argv) > 2 else 8 << 20
    with Celeborn(workers, chunk_size) as celeborn:
        print(json.dumps({"master": celeborn.master, "workers": [worker.describe() for worker in celeborn.workers]}), flush=True)
        for line in sys.stdin:
            command = json.loads(line)
            name = command.pop("do")
            answer = getattr(celeborn, name)(**command) if name in COMMANDS else {"error": f"no command {name}"}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv)
