"""YARN and HDFS with Kerberos, and native applications that a user submits to them."""
import contextlib
import os
import re
import subprocess

import realm
from yarn_cluster import Yarn, hadoop

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVICES = ("nn", "dn", "rm", "nm", "HTTP")
SMALL = ("--num-executors", "1", "--executor-memory", "64m", "--driver-memory", "64m",
         "--conf", "spark.executor.memoryOverhead=64m", "--conf", "spark.driver.memoryOverhead=64m",
         "--conf", "spark.yarn.am.memory=64m", "--conf", "spark.yarn.am.memoryOverhead=64m",
         "--conf", "spark.yarn.maxAppAttempts=1", "--conf", "spark.yarn.report.interval=100ms")


def principal(name):
    return f"{name}/localhost@{realm.REALM}"


def yarn_settings(keytab):
    values = {}
    for daemon, name in (("resourcemanager", "rm"), ("nodemanager", "nm")):
        values.update({f"yarn.{daemon}.principal": principal(name), f"yarn.{daemon}.keytab": keytab,
                       f"yarn.{daemon}.webapp.spnego-principal": principal("HTTP"),
                       f"yarn.{daemon}.webapp.spnego-keytab-file": keytab})
    # Clients take the name of the address for _HOST.
    return {**values, "yarn.resourcemanager.principal": f"rm/_HOST@{realm.REALM}", "yarn.acl.enable": "true",
            "yarn.admin.acl": "yarn"}


# Only an application's own lists say which other users may kill it.
QUEUES = {"yarn.scheduler.capacity.root.queues": "default", "yarn.scheduler.capacity.root.default.capacity": "100",
          "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
          "yarn.scheduler.capacity.root.acl_administer_queue": " ",
          "yarn.scheduler.capacity.root.default.acl_administer_queue": " "}


def web_settings(keytab):
    """Pages and REST interfaces ask for SPNEGO."""
    return {"hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
            "hadoop.http.authentication.type": "kerberos", "hadoop.http.authentication.simple.anonymous.allowed": "false",
            "hadoop.http.authentication.kerberos.principal": principal("HTTP"),
            "hadoop.http.authentication.kerberos.keytab": keytab}


def hdfs_settings(keytab, more=None):
    return {"dfs.namenode.kerberos.principal": principal("nn"), "dfs.namenode.keytab.file": keytab,
            "dfs.datanode.kerberos.principal": principal("dn"), "dfs.datanode.keytab.file": keytab,
            "dfs.web.authentication.kerberos.principal": principal("HTTP"), "dfs.web.authentication.kerberos.keytab": keytab,
            "dfs.namenode.kerberos.internal.spnego.principal": principal("HTTP"), "dfs.block.access.token.enable": "true",
            "ignore.secure.ports.for.testing": "true", "dfs.permissions.superusergroup": "supergroup",
            # YARN does not read this file, so its pages are open unless core-site.xml says the same.
            **web_settings(keytab), **(more or {})}


def core_settings(protection):
    return {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
            "hadoop.rpc.protection": protection, "hadoop.proxyuser.alice.users": "carol", "hadoop.proxyuser.alice.hosts": "*",
            "hadoop.security.auth_to_local": "RULE:[2:$1](nn|dn)s/.*/hdfs/\nRULE:[2:$1](rm|nm)s/.*/yarn/\nDEFAULT"}


class Secured(Yarn):
    """`cache(name)` is a ticket cache that a test fills with kinit. With @closed_pages YARN's pages need a ticket, too."""

    def __init__(self, build, folder, kdc, keytab, protection="authentication", hdfs=None, yarn=None, closed_pages=False):
        self.kdc, self.build, self.keytab, self.closed_pages = kdc, build, keytab, closed_pages
        self.krb5 = {"KRB5_CONFIG": kdc.environment["KRB5_CONFIG"]}
        super().__init__(build, folder, nodes=1, core={**core_settings(protection), **(web_settings(keytab) if closed_pages else {})},
                         yarn={**yarn_settings(keytab), **(yarn or {})}, more_hdfs=hdfs_settings(keytab, hdfs),
                         environment={**kdc.environment, "HADOOP_USER_NAME": "hdfs"},
                         sites={"capacity-scheduler.xml": QUEUES},
                         java_options=[f"-Djava.security.krb5.conf={self.krb5['KRB5_CONFIG']}"])

    def hdfs_settings(self, more):
        """Tickets are for the name of a host, not for its address."""
        port = super().hdfs_settings(more)
        self.sites["hdfs-site.xml"]["dfs.namenode.http-address"] = f"localhost:{self.hdfs_web}"
        return port

    def master_settings(self):
        values = super().master_settings()
        self.web = [address.replace("127.0.0.1", "localhost") for address in self.web]
        return {**values, "yarn.resourcemanager.webapp.address": self.web[0]}

    def get(self, variables, url, *options):
        """(status, text) of a page, for the user of a ticket."""
        done = subprocess.run(["curl", "-sS", "--negotiate", "-u", ":", "-w", "\n%{http_code}", *options, url], capture_output=True,
                              text=True, timeout=60, env={**os.environ, **variables}, check=False)
        text, _, status = done.stdout.rpartition("\n")
        return int(status or 0), text

    def hdfs_is_up(self):
        """The NameNode's beans need a ticket, too."""
        _, text = self.get(self.ticket(self.keytab, "nn/localhost"),
                           f"http://localhost:{self.hdfs_web}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
        return '"NumLiveDataNodes" : 1' in text and '"FSState" : "Operational"' in text

    def active_nodes(self, master=0):
        if not self.closed_pages:
            return super().active_nodes(master)
        _, text = self.get(self.ticket(self.keytab, "nn/localhost"),
                           f"http://{self.web[master]}/jmx?qry=Hadoop:service=ResourceManager,name=ClusterMetrics")
        return 1 if '"NumActiveNMs" : 1' in text else 0

    def ticket(self, keytab, name, *options):
        """A new ticket in a cache of its own; the environment that uses it."""
        variables = {**self.krb5, "KRB5CCNAME": f"FILE:{self.folder}/cache-{name.replace('/', '-')}"}
        subprocess.run(["kinit", *options, "-k", "-t", keytab, name], env={**os.environ, **variables}, check=True)
        return variables

    def without_ticket(self):
        return {**self.krb5, "KRB5CCNAME": f"FILE:{self.folder}/none"}

    def webhdfs(self, variables, operation, path, *options):
        """A request to WebHDFS with a ticket; the answer's text."""
        return subprocess.run(["curl", "-sS", "-L", "--negotiate", "-u", ":", *options,
                               f"http://localhost:{self.hdfs_web}/webhdfs/v1{path}?op={operation}"],
                              env={**os.environ, **variables}, capture_output=True, text=True, timeout=60, check=True).stdout


class Application:
    """spark-submit with the variables of a user."""

    def __init__(self, yarn, folder, variables):
        self.program, self.folder = os.path.join(yarn.build, "src", "spark-submit"), folder
        os.makedirs(folder, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "HADOOP_CONF_DIR": yarn.conf, **variables}

    def words(self, *words):
        return [self.program, "--master", "yarn", *SMALL, *words]

    def run(self, *words):
        return subprocess.run(self.words(*words), cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=300, stdin=subprocess.DEVNULL, check=False)

    def start(self, *words):
        return subprocess.Popen(self.words(*words), cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @contextlib.contextmanager
    def logging(self, name, *words):
        """A process that writes its log to the file @name of the folder, until the with statement ends."""
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as log, subprocess.Popen(
                self.words(*words), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
            try:
                yield process
            finally:
                process.kill()

    def logs(self, *words):
        return subprocess.run([os.path.join(os.path.dirname(self.program), "firesteel"), "logs", *words], env=self.environment, text=True,
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL, check=False)


def example(name):
    return os.path.join(TOP, "examples", name)


def id_of(done):
    found = re.search(r"application_\d+_\d+", done.stderr)
    return found.group() if found else "no application"
