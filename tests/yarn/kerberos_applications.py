"""Native applications on YARN and HDFS with Kerberos: tickets, keytabs, a proxy user, delegation tokens that live for
seconds, access lists, and what goes wrong."""
import glob
import os
import re
import subprocess
import threading
import time

import realm
from application import Client
from faults import COUNTING
from secured import Application, Secured, example, id_of
from yarn_cluster import wait_until

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REREADS = os.path.join(TOP, "tests", "yarn", "rereads.c")
ALICE = f"alice@{realm.REALM}"
# Drivers fetch new tokens after a quarter of the interval, and so have 22 s for that on a machine that others use.
SHORT = {"dfs.namenode.delegation.token.renew-interval": "30000", "dfs.namenode.delegation.token.max-lifetime": "30000"}
EARLY = ("--conf", "spark.security.credentials.renewalRatio=0.25")
LONGER = "50"  # seconds: than a token can live
CLUSTER = ("--deploy-mode", "cluster")
CCACHE = ("--conf", "spark.kerberos.renewal.credentials=ccache")


def prepare(yarn, keytabs):
    """Home directories, and a file to read. Returns the variables of alice's ticket."""
    root = yarn.ticket(yarn.keytab, "nn/localhost")
    for folder in ("/user", "/tmp"):
        yarn.webhdfs(root, "MKDIRS&permission=1777", folder, "-X", "PUT")
    alice = yarn.ticket(keytabs["alice"], "alice")
    text = os.path.join(yarn.folder, "in.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.write("a b a\n")
    yarn.webhdfs(alice, "CREATE&overwrite=true", "/user/alice/in.txt", "-X", "PUT", "-T", text)
    return alice


def check_programs(yarn, alice, expect, words, name):
    """SparkPi and word count in both modes."""
    app = Application(yarn, os.path.join(yarn.folder, "home"), alice)
    done = app.run(*words, example("spark_pi.c"), "2")
    expect(f"{name}: SparkPi in client mode", done.stderr, done.returncode == 0 and "Pi is roughly 3.1" in done.stdout)
    done = app.run(*words, *CLUSTER, example("spark_pi.c"), "2")
    expect("… in cluster mode", done.stderr, done.returncode == 0 and "final status: SUCCEEDED" in done.stderr)
    ticket = yarn.ticket(yarn.keytab, "nn/localhost")
    for mode, more in (("client", ()), ("cluster", CLUSTER)):
        out = f"/user/alice/out-{name.split()[0]}-{mode}"
        done = app.run(*words, *more, example("wordcount.c"), "/user/alice/in.txt", out)
        files = yarn.webhdfs(ticket, "LISTSTATUS", out)
        lines = "".join(yarn.webhdfs(ticket, "OPEN", f"{out}/part-{part:05d}") for part in range(files.count('"part-')))
        expect(f"… word count in {mode} mode reads and writes HDFS", done.stderr,
               done.returncode == 0 and sorted(lines.split()) == sorted("(a,2) (b,1)".split()))
        expect("… as the user", files, '"owner":"alice"' in files)


def check_proxy(yarn, alice, expect):
    app = Application(yarn, os.path.join(yarn.folder, "home"), alice)
    for mode in ((), CLUSTER):
        done = app.run("--proxy-user", "carol", *mode, example("spark_pi.c"), "2")
        report = Client(yarn.build, yarn.conf, alice).call("wait", id_of(done))
        expect(f"an application for a proxy user runs as that user {' '.join(mode)}", (done.stderr, report),
               done.returncode == 0 and report.startswith("FINISHED SUCCEEDED carol"))
    done = app.run("--proxy-user", "mallory", example("spark_pi.c"), "2")
    expect("… a user for whom this one may not act is refused", done.stderr,
           done.returncode == 1 and "User: alice is not allowed to impersonate mallory" in done.stderr)


def check_renewal(yarn, alice, keytab, expect):
    """Four applications at a time that last longer than their first tokens can live."""
    login = ("--principal", ALICE, "--keytab", keytab, *EARLY)
    node = ("--conf", f"spark.yarn.appMasterEnv.KRB5_CONFIG={yarn.krb5['KRB5_CONFIG']}")
    none = yarn.without_ticket()
    cases = {"the keytab in client mode": (none, login, ()), "the keytab in cluster mode": (none, (*login, *node), CLUSTER),
             "the ticket cache": (alice, (*CCACHE, *EARLY), ())}
    apps = {name: Application(yarn, os.path.join(yarn.folder, "home"), variables).start(
        *words, *mode, REREADS, "/user/alice/in.txt", LONGER) for name, (variables, words, mode) in cases.items()}
    lost = Application(yarn, os.path.join(yarn.folder, "home"), alice).start(*CLUSTER, REREADS, "/user/alice/in.txt", LONGER)
    for name, process in apps.items():
        out, log = process.communicate(timeout=240)
        expect(f"new tokens are fetched with {name}", log, process.returncode == 0)
        if "client" in name:
            expect("… at a quarter of their interval, again and again", log,
                   log.count("HadoopDelegationTokenManager: Updating delegation tokens.") >= 4 and "status 0" in out)
    log = lost.communicate(timeout=240)[1]
    logs = "".join(read(path) for path in glob.glob(f"{yarn.folder}/nm1/log/{id_of_text(log)}/*_000001/stderr"))
    expect("without them, an application in cluster mode ends with its tokens", log, lost.returncode == 1)
    expect("… and the client and its log name the remedy", (log, logs), all(
        "has expired" in text and "submit with --principal and --keytab" in text for text in (log, logs)))


def id_of_text(log):
    return id_of(subprocess.CompletedProcess((), 0, "", log))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def check_errors(yarn, alice, keytabs, expect):
    app = Application(yarn, os.path.join(yarn.folder, "home"), yarn.without_ticket())
    for mode in ((), CLUSTER):
        done = app.run(*mode, example("spark_pi.c"), "2")
        expect(f"a missing ticket is named with the remedy {' '.join(mode)}", done.stderr,
               done.returncode == 1 and "there is no Kerberos ticket: get one with kinit" in done.stderr)
    done = app.run("--principal", ALICE, "--keytab", keytabs["services"], example("spark_pi.c"), "2")
    expect("a keytab of others is refused", done.stderr,
           done.returncode == 1 and f"Keytab contains no suitable keys for {ALICE}" in done.stderr)
    short = yarn.ticket(keytabs["alice"], "alice", "-l", "2s", "-c", f"{yarn.folder}/cache-short")
    time.sleep(3)
    old = Application(yarn, os.path.join(yarn.folder, "home"), {**short, "KRB5CCNAME": f"FILE:{yarn.folder}/cache-short"})
    done = old.run(example("spark_pi.c"), "2")
    expect("an expired ticket is, too", done.stderr, done.returncode == 1 and "kinit" in done.stderr)
    other = os.path.join(yarn.folder, "other-principal")
    os.makedirs(other)
    for name in ("core-site.xml", "hdfs-site.xml", "yarn-site.xml"):
        with open(os.path.join(other, name), "w", encoding="utf-8") as file:
            file.write(read(os.path.join(yarn.conf, name)).replace("rm/_HOST@", "nm/_HOST@"))
    done = Application(yarn, os.path.join(yarn.folder, "home"), {**alice, "HADOOP_CONF_DIR": other}).run(
        example("spark_pi.c"), "2")
    expect("a ResourceManager with another principal is refused", done.stderr, done.returncode == 1 and
           "Server has invalid Kerberos principal: rm/localhost, expecting: nm/localhost" in done.stderr)


def check_access(yarn, alice, bob, expect):
    app = Application(yarn, os.path.join(yarn.folder, "home"), alice)
    unmanaged = ("--conf", "spark.yarn.unmanagedAM.enabled=true")
    done = app.run(*unmanaged, example("spark_pi.c"), "2")
    expect("an unmanaged ApplicationMaster is refused for the user of the ticket", done.stderr,
           done.returncode == 1 and "only to proxy users" in done.stderr)
    done = app.run(*unmanaged, "--proxy-user", "carol", "--conf", "spark.authenticate=true", example("spark_pi.c"), "2")
    expect("… and runs for a proxy user, with a secret in the executors' credentials", done.stderr,
           done.returncode == 0 and "Pi is roughly 3.1" in done.stdout)
    words = (*CCACHE, "--conf", "spark.authenticate=true", REREADS, "/user/alice/in.txt")
    mine, shared = app.start(*words, "15"), app.start("--conf", "spark.modify.acls=bob", *words, "1000")
    names, rest = [], []
    for process in (mine, shared):
        names.append(next(line.split()[-1] for line in process.stderr if "Submitted application application_" in line))
        rest.append(threading.Thread(target=process.stderr.read))
        rest[-1].start()
    other = Client(yarn.build, yarn.conf, bob)
    answer = other.call("kill", names[0])
    expect("a user who may not modify an application cannot kill it", answer, "AccessControlException" in answer)
    answer = other.call("kill", names[1])
    expect("… and spark.modify.acls lets others do so", answer, answer.startswith("KILLED KILLED alice"))
    for process, thread in zip((mine, shared), rest):
        process.wait(120)
        thread.join()
    out = mine.stdout.read()
    expect("… while the other one ends by itself", out, mine.returncode == 0 and "status 0" in out and shared.returncode != 0)


def check_closed_pages(yarn, alice, keytab, expect):
    """The ResourceManager's and the NodeManager's pages ask for Kerberos: links, logs and proxy need a ticket.

    A NodeManager with Kerberos reads logs with Hadoop's native library only, which Maven Central does not have: it can list them."""
    def text_of(path="log"):
        return read(os.path.join(yarn.folder, "home", path))

    def links():
        return re.findall(r"Driver Logs \(stderr\): (\S+)", text_of())
    none = yarn.without_ticket()
    app = Application(yarn, os.path.join(yarn.folder, "home"), none)
    gate = os.path.join(yarn.folder, "home", "gate")
    with open(os.path.join(yarn.folder, "home", "counting.c"), "w", encoding="utf-8") as file:
        file.write(COUNTING)
    with app.logging("log", "--principal", ALICE, "--keytab", keytab, *CLUSTER, "--conf", "spark.yarn.includeDriverLogsLink=true",
                     "--conf", "spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS=127.0.0.1", "counting.c", gate) as process:
        wait_until("links to the driver's logs", lambda: process.poll() is not None or links() or "Unable to get" in text_of())
        expect("without a ticket cache, the keytab gets the links to the driver's logs", text_of(), process.poll() is None and
               "Unable to get driver log links" not in text_of())
        link, name = links()[0].split("?")[0], id_of_text(text_of())
        node = re.sub(r"/node/containerlogs/([^/]+)/.*", r"/ws/v1/node/containers/\1/logs", link)
        expect("… where the NodeManager answers users with a ticket only", (link, yarn.get(alice, node)), yarn.get(none, link)[0] == 401
               and yarn.get(alice, node)[0] == 200)
        pages = f"http://{yarn.web[0]}/proxy/{name}"
        wait_until("the application's pages", lambda: "<title>Spark Jobs" in yarn.get(alice, f"{pages}/jobs/")[1])
        status, page = yarn.get(alice, f"{pages}/jobs/")
        expect("the ResourceManager's proxy names the user of a ticket to the pages", page, status == 200 and
               "you are <strong>alice</strong>" in page)
        expect("… which are closed to others", page, yarn.get(none, f"{pages}/jobs/")[0] == 401)

        def listed(variables):
            return Application(yarn, os.path.join(yarn.folder, "home"), variables).logs("--list", name)
        done = listed(alice)
        expect("firesteel logs lists the files of a running application with a ticket", done.stdout + done.stderr, done.returncode == 0
               and "stderr" in done.stdout and "_000001" in done.stdout)
        done = listed(none)
        expect("… and names the remedy without one", done.stdout + done.stderr, done.returncode == 1 and "kinit" in done.stderr)
        with open(gate, "w", encoding="utf-8"):
            pass
        expect("the application ends", text_of(), process.wait(240) == 0)


def check_pages(build, folder, kdc, keytabs, expect):
    with Secured(build, os.path.join(folder, "closed"), kdc, keytabs["services"], closed_pages=True) as yarn:
        check_closed_pages(yarn, prepare(yarn, keytabs), keytabs["alice"], expect)


def check(build, folder, kdc, keytabs, expect):
    login = ("--principal", ALICE, "--keytab", keytabs["alice"])
    for protection in ("authentication", "integrity", "privacy"):
        first = protection == "authentication"
        with Secured(build, os.path.join(folder, f"secured-{protection}"), kdc, keytabs["services"], protection,
                     hdfs=SHORT if first else None) as yarn:
            alice = prepare(yarn, keytabs)
            check_programs(yarn, alice, expect, (), f"{protection} with a ticket cache")
            if first:
                check_programs(yarn, yarn.without_ticket(), expect, login, "keytab and no ticket cache")
                check_proxy(yarn, alice, expect)
                check_errors(yarn, alice, keytabs, expect)
                check_access(yarn, alice, yarn.ticket(keytabs["bob"], "bob"), expect)
                check_renewal(yarn, alice, keytabs["alice"], expect)
