"""YARN and HDFS with Kerberos, and native applications that a user submits to them."""
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


def hdfs_settings(keytab, more=None):
    return {"dfs.namenode.kerberos.principal": principal("nn"), "dfs.namenode.keytab.file": keytab,
            "dfs.datanode.kerberos.principal": principal("dn"), "dfs.datanode.keytab.file": keytab,
            "dfs.web.authentication.kerberos.principal": principal("HTTP"), "dfs.web.authentication.kerberos.keytab": keytab,
            "dfs.namenode.kerberos.internal.spnego.principal": principal("HTTP"), "dfs.block.access.token.enable": "true",
            "ignore.secure.ports.for.testing": "true", "dfs.permissions.superusergroup": "supergroup",
            # WebHDFS asks for SPNEGO. The pages of YARN, which do not read this file, do not.
            "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
            "hadoop.http.authentication.type": "kerberos", "hadoop.http.authentication.simple.anonymous.allowed": "false",
            "hadoop.http.authentication.kerberos.principal": principal("HTTP"),
            "hadoop.http.authentication.kerberos.keytab": keytab, **(more or {})}


def core_settings(protection):
    return {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
            "hadoop.rpc.protection": protection, "hadoop.proxyuser.alice.users": "carol", "hadoop.proxyuser.alice.hosts": "*",
            "hadoop.security.auth_to_local": "RULE:[2:$1](nn|dn)s/.*/hdfs/\nRULE:[2:$1](rm|nm)s/.*/yarn/\nDEFAULT"}


class Secured(Yarn):
    """`cache(name)` is a ticket cache that a test fills with kinit."""

    def __init__(self, build, folder, kdc, keytab, protection="authentication", hdfs=None, yarn=None):
        self.kdc, self.build, self.keytab = kdc, build, keytab
        self.krb5 = {"KRB5_CONFIG": kdc.environment["KRB5_CONFIG"]}
        super().__init__(build, folder, nodes=1, core=core_settings(protection),
                         yarn={**yarn_settings(keytab), **(yarn or {})}, more_hdfs=hdfs_settings(keytab, hdfs),
                         environment={**kdc.environment, "HADOOP_USER_NAME": "hdfs"},
                         sites={"capacity-scheduler.xml": QUEUES},
                         java_options=[f"-Djava.security.krb5.conf={self.krb5['KRB5_CONFIG']}"])

    def hdfs_settings(self, more):
        """Tickets are for the name of a host, not for its address."""
        port = super().hdfs_settings(more)
        self.sites["hdfs-site.xml"]["dfs.namenode.http-address"] = f"localhost:{self.hdfs_web}"
        return port

    def hdfs_is_up(self):
        """The NameNode's beans need a ticket, too."""
        page = f"http://localhost:{self.hdfs_web}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        done = subprocess.run(["curl", "-sS", "--negotiate", "-u", ":", page], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **self.ticket(self.keytab, "nn/localhost")}, check=False)
        return '"NumLiveDataNodes" : 1' in done.stdout and '"FSState" : "Operational"' in done.stdout

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


def example(name):
    return os.path.join(TOP, "examples", name)


def id_of(done):
    found = re.search(r"application_\d+_\d+", done.stderr)
    return found.group() if found else "no application"
