"""The server's side of Celeborn's authentication: registration by anonymous clients, then DIGEST-MD5 on each connection."""
import base64
import hashlib
import re
import secrets

from celeborn.messages import RPC_REQUEST, Fields, bytes_field, number_field, plain_message, read_message

SASL, INITIATION, REGISTRATION = 71, 72, 74
CLIENT, CONNECTION = 1, 2
REALM, URI = "default", "null/default"  # what Java's SASL makes of no protocol
MECHANISMS = ((b"ANONYMOUS", CLIENT), (b"DIGEST-MD5", CONNECTION))


class Refused(Exception):
    """The client is not let in: the text of the failure."""


def md5(text):
    return hashlib.md5(text if isinstance(text, bytes) else text.encode()).hexdigest()


def digest(secret, app, fields, method):
    """The value of `response` for method AUTHENTICATE, that of `rspauth` for no method."""
    user, password = (base64.b64encode(text.encode()).decode() for text in (app, secret))
    key = hashlib.md5(f"{user}:{REALM}:{password}".encode()).digest() + f":{fields['nonce']}:{fields['cnonce']}".encode()
    return md5(f"{md5(key)}:{fields['nonce']}:{fields['nc']}:{fields['cnonce']}:auth:{md5(f'{method}:{URI}')}")


class Gate:
    """One connection to `port`: master, or rpc, push, fetch or replicate of a worker. `cluster.secrets`: those of applications."""

    def __init__(self, cluster, port):
        self.cluster, self.port, self.is_open, self.step, self.nonce = cluster, port, False, None, None

    def guard(self, handler):
        async def guarded(kind, head, body):
            if self.is_open:
                return await handler(kind, head, body)
            return self.answer(kind, body)
        return guarded

    def answer(self, kind, body):
        if kind != RPC_REQUEST:
            raise Refused("java.lang.SecurityException: Unauthenticated call to receive().")
        number, payload = read_message(body)
        if number not in (SASL, INITIATION, REGISTRATION):
            raise Refused("org.apache.celeborn.common.exception.CelebornIOException: Decode failed, fallback to legacy messages.\n"
                          "\tat org.apache.celeborn.common.network.sasl.registration.RegistrationRpcHandler.receive(X.java:1)")
        fields = Fields(payload)
        if number == SASL and fields.number(2) == CONNECTION:
            return self.prove(fields)
        expected = {None: INITIATION, INITIATION: SASL, SASL: REGISTRATION}[self.step]
        if self.port != "master" or number != expected:
            raise Refused("java.lang.SecurityException: The app is not registered and the connection is not authenticated")
        self.step = number
        if number == INITIATION:
            offer = b"".join(bytes_field(3, bytes_field(1, name) + bytes_field(2, bytes([kind]))) for name, kind in MECHANISMS)
            return plain_message(73, bytes_field(1, "1.0") + number_field(2, 1) + offer)
        return b"" if number == SASL else self.register(fields)

    def register(self, fields):
        if fields.text(1) in self.cluster.secrets:
            raise Refused(f"java.lang.IllegalStateException: Application is already registered {fields.text(1)}\n\tat a.B.c(B.java:1)")
        self.cluster.secrets[fields.text(1)] = fields.text(2) + "?" * self.cluster.wrong_secrets
        return self.open(plain_message(75, number_field(1, 1)))

    def prove(self, request):
        if not self.nonce:
            self.nonce = secrets.token_hex(16)
            return f'realm="{REALM}",nonce="{self.nonce}",qop="auth",charset=utf-8,algorithm=md5-sess'.encode()
        fields = {name: value.strip('"') for name, value in re.findall(r'([\w-]+)=("[^"]*"|[^,]*)', request.all(3)[0].decode())}
        app = base64.b64decode(fields["username"]).decode()
        if app not in self.cluster.secrets:
            raise Refused(f"java.lang.RuntimeException: Registration information not found for {app}\n\tat a.B.c(B.java:1)")
        secret = self.cluster.secrets[app]
        if fields["nonce"] != self.nonce or fields["digest-uri"] != URI or digest(secret, app, fields, "AUTHENTICATE") != fields["response"]:
            raise Refused("javax.security.sasl.SaslException: DIGEST-MD5: digest response format violation. Mismatched response."
                          "\n\tat a.B.c(B.java:1)")
        return self.open(f"rspauth={digest(secret, app, fields, '')}".encode())

    def open(self, answer):
        self.is_open = True
        self.cluster.authenticated[self.port] += 1
        return answer
