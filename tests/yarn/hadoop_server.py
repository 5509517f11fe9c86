"""A server of Hadoop's RPC, version 9: simple users, or tokens (DIGEST-MD5, quality "auth").

    server = RpcServer("127.0.0.1", 0, methods, handle)            # SIMPLE
    server = RpcServer("127.0.0.1", 0, methods, handle, passwords) # TOKEN only
    server.close()

`methods` is {name: (request's message, answer's message)}; `handle(method, request, user)` returns the answer or raises
RpcError. `passwords(identifier)` returns a token's password, or None if it does not exist. A thread serves each connection.
"""
import base64
import hashlib
import os
import re
import socket
import struct
import threading
import traceback

from protobuf_schema import Schema, delimited, read_varint

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMA = Schema(os.path.join(TOP, "src/hadoop/hadoop_rpc.proto"), os.path.join(TOP, "src/yarn/protocol/yarn.proto"))
SASL, CONTEXT, PING = -33, -3, -4
SUCCESS, ERROR, FATAL = 0, 1, 2
YARN_EXCEPTIONS = "org.apache.hadoop.yarn.exceptions."


class RpcError(Exception):
    def __init__(self, name, message):
        super().__init__(message)
        self.name = name if "." in name else YARN_EXCEPTIONS + name
        self.message = message


class Refused(Exception):
    """The connection ends after this answer."""

    def __init__(self, name, message, call_id=SASL):
        super().__init__(message)
        self.name, self.message, self.call_id = name, message, call_id


def md5(data):
    return hashlib.md5(data).digest()  # as DIGEST-MD5 asks for


class Digest:
    """The server's side of DIGEST-MD5 (RFC 2831)."""

    def __init__(self):
        self.nonce = base64.b64encode(os.urandom(30)).decode()
        self.challenge = f'realm="default",nonce="{self.nonce}",qop="auth",charset=utf-8,algorithm=md5-sess'.encode()

    def verify(self, response, passwords):
        """Returns (the identifier, the last answer)."""
        words = {k: quoted or plain for k, quoted, plain in re.findall(r'([\w-]+)=(?:"([^"]*)"|([^,]*))', response.decode())}
        identifier = base64.b64decode(words["username"])
        password = passwords(identifier)
        if password is None:
            raise Refused("org.apache.hadoop.security.token.SecretManager$InvalidToken", f"{identifier!r} is not found")
        user = b":".join((words["username"].encode(), words.get("realm", "").encode(), base64.b64encode(password)))
        secret = md5(md5(user) + b":" + words["nonce"].encode() + b":" + words["cnonce"].encode()).hex()

        def proof(a2):
            text = f'{secret}:{words["nonce"]}:{words["nc"]}:{words["cnonce"]}:{words["qop"]}:{md5(a2.encode()).hex()}'
            return md5(text.encode()).hex()
        if words["nonce"] != self.nonce or words["response"] != proof("AUTHENTICATE:" + words["digest-uri"]):
            raise Refused("javax.security.sasl.SaslException", "Mismatched response.")
        return identifier, ("rspauth=" + proof(":" + words["digest-uri"])).encode()


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock, self.user = server, sock, None

    def read(self, n):
        data = b""
        while len(data) < n:
            piece = self.sock.recv(n - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def read_frame(self):
        """Returns (header, the rest)."""
        frame = self.read(struct.unpack(">I", self.read(4))[0])
        length, at = read_varint(frame, 0)
        return SCHEMA.read("RpcRequestHeader", frame[at:at + length]), frame[at + length:]

    def send(self, header, body=None):
        frame = delimited(SCHEMA.write(header)) + (b"" if body is None else delimited(SCHEMA.write(body)))
        self.sock.sendall(struct.pack(">I", len(frame)) + frame)

    def answer(self, call_id, body):
        self.send(SCHEMA.new("RpcResponseHeader", call_id=call_id & 0xffffffff, status=SUCCESS, server_version=9), body)

    def fail(self, call_id, status, detail, name, message):
        self.send(SCHEMA.new("RpcResponseHeader", call_id=call_id & 0xffffffff, status=status, server_version=9,
                             exception_class=name, error_message=message, error_detail=detail))

    @staticmethod
    def part(rest, at):
        length, at = read_varint(rest, at)
        return rest[at:at + length], at + length

    def authenticate(self):
        digest = Digest()
        self.read_frame()  # NEGOTIATE
        offer = SCHEMA.new("SaslAuth", method="TOKEN", mechanism="DIGEST-MD5", protocol="", server_id="default",
                           challenge=digest.challenge)
        self.answer(SASL, SCHEMA.new("SaslMessage", version=0, state=1, auths=[offer]))
        _, rest = self.read_frame()
        initiate = SCHEMA.read("SaslMessage", self.part(rest, 0)[0])
        self.user, last = digest.verify(initiate.token, self.server.passwords)
        self.answer(SASL, SCHEMA.new("SaslMessage", version=0, state=0, token=last))

    def greet(self):
        hello = self.read(7)
        if hello[:5] != b"hrpc\x09":
            raise ConnectionError("another protocol")
        if self.server.passwords is None:
            if hello[6] == 0xdf:
                raise Refused("org.apache.hadoop.security.AccessControlException", "the fake has no SASL here", -1)
        elif hello[6] != 0xdf:
            raise Refused("org.apache.hadoop.security.AccessControlException",
                          "SIMPLE authentication is not enabled.  Available:[TOKEN]", -1)
        else:
            self.authenticate()

    def serve_call(self, header, rest):
        data, at = self.part(rest, 0)
        call = SCHEMA.read("CallHeader", data)
        types = self.server.methods.get(call.method)
        if not types:
            self.fail(header.call_id, ERROR, 2, "org.apache.hadoop.ipc.RpcNoSuchMethodException", f"Unknown method {call.method}")
            return
        try:
            request = SCHEMA.read(types[0], self.part(rest, at)[0])
            answer = self.server.handle(call.method, request, self.user)
        except RpcError as e:
            self.fail(header.call_id, ERROR, 1, e.name, e.message + "\n\tat org.apache.hadoop.Fake.call(Fake.java:1)\n")
        except Exception:  # pylint: disable=broad-except
            self.fail(header.call_id, ERROR, 1, "java.lang.RuntimeException", "the fake failed: " + traceback.format_exc())
        else:
            self.answer(header.call_id, answer if answer is not None else SCHEMA.new(types[1]))

    def serve(self):
        try:
            self.greet()
            while True:
                header, rest = self.read_frame()
                if header.call_id == CONTEXT:
                    context = SCHEMA.read("ConnectionContext", self.part(rest, 0)[0])
                    self.user = context.user.effective_user if context.user and self.user is None else self.user
                elif header.call_id >= 0:
                    self.serve_call(header, rest)
        except Refused as e:
            self.fail(e.call_id, FATAL, 15, e.name, e.message)
        except (OSError, IndexError, struct.error):
            pass
        finally:
            self.server.forget(self)


class RpcServer:
    def __init__(self, host, port, methods, handle, passwords=None):
        self.methods, self.handle, self.passwords = methods, handle, passwords
        self.lock, self.connections, self.closed = threading.Lock(), set(), False
        self.socket = socket.create_server((host, port), backlog=128)
        self.host, self.port = self.socket.getsockname()[:2]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, sock)
            with self.lock:
                if self.closed:
                    sock.close()
                    return
                self.connections.add(connection)
            threading.Thread(target=connection.serve, daemon=True).start()

    def forget(self, connection):
        with self.lock:
            self.connections.discard(connection)
        connection.sock.close()

    def close(self):
        with self.lock:
            self.closed = True
            connections = list(self.connections)
        for sock in (self.socket, *(c.sock for c in connections)):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.socket.close()
