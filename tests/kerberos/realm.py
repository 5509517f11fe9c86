"""A real Kerberos realm for as long as a test runs: MIT's KDC, on loopback."""
import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hdfs"))
import hadoop  # noqa: E402

REALM = "FIRESTEEL.TEST"
NEEDED = ("krb5kdc", "kdb5_util", "kadmin.local")


class Realm:
    """`environment` is for programs that use the realm."""

    def __init__(self, folder):
        self.folder = folder
        self.port = hadoop.free_ports(1)[0]
        self.environment = dict(os.environ, KRB5_CONFIG=f"{folder}/krb5.conf", KRB5_KDC_PROFILE=f"{folder}/kdc.conf",
                                LC_ALL="C")
        self.environment.pop("KRB5CCNAME", None)
        self.write("krb5.conf", f"""[libdefaults]
    default_realm = {REALM}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {REALM} = {{
        kdc = 127.0.0.1:{self.port}
    }}
[domain_realm]
    localhost = {REALM}
""")
        self.write("kdc.conf", f"""[kdcdefaults]
    kdc_listen = 127.0.0.1:{self.port}
    kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
    {REALM} = {{
        database_name = {folder}/principal
        key_stash_file = {folder}/stash
        acl_file = {folder}/acl
    }}
""")
        self.call("kdb5_util", "create", "-s", "-r", REALM, "-P", "of the test")
        self.kdc = subprocess.Popen(["krb5kdc", "-n", "-r", REALM], env=self.environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("krb5kdc does not answer")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def add(self, keytab, *names):
        """Adds principals with random keys, which the file @keytab in the folder gets too. Returns its path."""
        path = os.path.join(self.folder, keytab)
        for name in names:
            self.call("kadmin.local", "-q", f"addprinc -randkey {name}")
            self.call("kadmin.local", "-q", f"ktadd -k {path} {name}")
        return path

    def call(self, *words):
        subprocess.run(words, env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def end(self):
        self.kdc.terminate()
        self.kdc.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def missing():
    """What this needs and does not find; None when all is there."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    tools = [tool for tool in NEEDED if not shutil.which(tool)]
    return f"there is no {', '.join(tools)}; apt-get install krb5-kdc krb5-admin-server" if tools else None
