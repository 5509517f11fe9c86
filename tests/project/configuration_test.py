"""Configuration keys: the table agrees with the sources, the warnings and docs/configuration.md."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess

import pytest

from folders import BIN, TOP

SCRIPT = os.path.join(TOP, "scripts/configuration-page")

# Files of the table, and those that only validate values.
NO_READERS = ("src/conf/keys", "src/conf/deprecated", "src/conf/conf_validate.c", "src/kubernetes/conf/kube_settings.c")

# Keys that only decide whether an application may start (src/conf/conf_validate.c).
CHECKS = {"spark.authenticate.enableSaslEncryption", "spark.network.crypto.enabled"}

# Keys that are built from parts: the file that builds them, the literal in it, and the values of %s.
# A name that ends with ".*" stands for the keys below it whose last part is a literal of that file.
BUILT = [
    ("src/kubernetes/conf/kube_conf.c", "spark.kubernetes.%s.container.image", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.pod.featureSteps", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.pod.excludedFeatureSteps", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.podTemplateFile", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.podTemplateContainerName", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.scheduler.name", ["driver", "executor"]),
    ("src/kubernetes", "spark.kubernetes.%s.connectionTimeout", ["driver", "submission"]),
    ("src/kubernetes", "spark.kubernetes.%s.requestTimeout", ["driver", "submission"]),
    ("src/net/security.c", "spark.ssl.rpc.*", []),
    ("src/web/tls_conf.c", "spark.ssl.mesos.*", []),
    ("src/web/tls_conf.c", "spark.ssl.standalone.*", []),
    ("src/web/tls_conf.c", "spark.ssl.ui.*", []),
    ("src/web/tls_conf.c", "spark.ssl.historyServer.*", []),
    ("src/kubernetes", "spark.kubernetes.authenticate.*", []),
]

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|[^\s\w"]|\d\w*')


def table():
    loader = importlib.machinery.SourceFileLoader("configuration_page", SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("configuration_page", loader))
    loader.exec_module(module)
    return module.keys()


def sources():
    """The text of each file that may read keys, without comments, by path."""
    found = {}
    for folder, _, names in os.walk(os.path.join(TOP, "src")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), TOP)
            if name.endswith((".c", ".h", ".inc")) and not name.endswith(("_test.c", "_fixture.h")) \
                    and not path.startswith(NO_READERS):
                with open(os.path.join(TOP, path), encoding="utf-8") as file:
                    found[path] = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return found


def macros_of(text):
    """The macros, without or with one argument, whose expansion contains a literal."""
    plain, calls = {}, {}
    for name, argument, body in re.findall(r"^#define (\w+)(\(\w+\))?[ \t]((?:.*\\\n)*.*)$", text, re.M):
        tokens = TOKEN.findall(body.replace("\\\n", " "))
        if '"' not in body:
            continue
        if argument:
            calls[name] = argument[1:-1], tokens
        else:
            plain[name] = tokens
    return plain, calls


class Literals:
    """All literals of a file, with adjacent literals joined and macros expanded."""

    def __init__(self, text, plain, calls):
        self.found, self.plain, self.calls = set(), plain, calls
        self.scan(TOKEN.findall(text), 0)

    def scan(self, tokens, depth):
        current, at = None, 0
        while at < len(tokens):
            piece, step = self.piece(tokens, at, depth)
            if piece is None and current:
                self.found.add(current)
            current = None if piece is None else (current or "") + piece
            at += step
        if current:
            self.found.add(current)
        return current

    def piece(self, tokens, at, depth):
        token = tokens[at]
        if token[0] == '"':
            self.found.add(token[1:-1])
            return token[1:-1], 1
        if token in self.plain and depth < 4:
            return self.scan(self.plain[token], depth + 1), 1
        if token in self.calls and depth < 4 and tokens[at + 1:at + 2] == ["("] and tokens[at + 3:at + 4] == [")"]:
            argument, body = self.calls[token]
            return self.scan([tokens[at + 2] if x == argument else x for x in body], depth + 1), 4
        return None, 1


@pytest.fixture(scope="module")
def literals():
    """The literals of each source file by path."""
    texts, plain, calls = sources(), {}, {}
    for path, text in texts.items():
        if path.endswith(".h"):
            own = macros_of(text)
            plain.update(own[0])
            calls.update(own[1])
    found = {}
    for path, text in texts.items():
        own = macros_of(text)
        found[path] = Literals(text, {**plain, **own[0]}, {**calls, **own[1]}).found
    return found


def built_keys(literals, keys):
    """The keys of BUILT. Each entry must exist in the sources."""
    found, names = set(), {key.name for key in keys}
    for path, name, fillers in BUILT:
        here = set().union(*(there for at, there in literals.items() if at.startswith(path)))
        if name.endswith(".*"):
            made = {key for key in names if key.startswith(name[:-1]) and
                    {key.rsplit(".", 1)[1], "." + key.rsplit(".", 1)[1]} & here}
        else:
            assert name in here, "%s does not build %s" % (path, name)
            made = {name % filler for filler in fillers}
        assert made and made <= names, "%s: %s" % (name, made - names)
        found |= made
    return found


def read_keys(literals, keys):
    """The keys that sources read: by name, built from parts, or as the fallback of another key."""
    found = set().union(*literals.values()) & {key.name for key in keys} | CHECKS | built_keys(literals, keys)
    while True:
        more = {key.same_as for key in keys if key.name in found and key.same_as} - found
        if not more:
            return found
        found |= more


def test_every_used_key_is_read(literals):
    keys = table()
    found = read_keys(literals, keys)
    unread = [key.name for key in keys if key.status == "used" and key.name not in found]
    assert not unread, "the table says that these keys are used, and nothing reads them: use UNUSED_KEY or JVM_KEY"


def test_no_other_key_is_read(literals):
    keys = table()
    found = read_keys(literals, keys)
    read = [(key.name, key.status) for key in keys if key.status != "used" and key.name in found]
    assert not read, "the sources read these keys: make their rows KEY"


def test_literals_are_put_together():
    text = '#define P "spark.a."\n#define WITH(x) P x ".c"\nread(P "b"); read(WITH("b")); read("spark.d", "e");'
    found = Literals(text, *macros_of(text)).found
    assert {"spark.a.b", "spark.a.b.c", "spark.d", "e"} <= found
    assert "spark.de" not in found


def test_page_is_up_to_date():
    done = subprocess.run([SCRIPT, "--check"], stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


APPLICATION = r"""
#include <firesteel/firesteel.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("keys");
        int64_t n;
        fst_count(fst_range(sc, 0, 10), &n);
        fst_context_stop(sc);
        sc = fst_context_new("keys again");
        fst_count(fst_range(sc, 0, 10), &n);
        return fst_context_stop(sc);
}
"""


def submit(tmp_path, *words):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    return subprocess.run([os.path.join(BIN, "spark-submit"), *words, str(tmp_path / "app.c")], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)


def test_each_plugin_without_effect_is_warned_of(tmp_path):
    roll = "org.apache.spark.scheduler.cluster.k8s.ExecutorRollPlugin"
    done = submit(tmp_path, "--master", "local[1]", "--conf", f"spark.plugins=com.acme.Plugin,{roll}")
    assert done.returncode == 0, done.stderr
    lines = [line.partition("WARN SparkContext: ")[2] for line in done.stderr.splitlines() if "has no effect" in line]
    assert len(lines) == 4 and lines[:2] == lines[2:], done.stderr  # for each of the two contexts
    assert lines[0].startswith("spark.plugins: the plugin com.acme.Plugin has no effect, because it is not built in (")
    assert lines[1] == f"spark.plugins: the plugin {roll} has no effect, because this application does not run on Kubernetes"


def test_each_key_without_effect_is_warned_of_once(tmp_path):
    done = submit(tmp_path, "--master", "local[1]", "--conf", "spark.serializer=org.apache.spark.KryoSerializer",
                  "--conf", "spark.shuffle.push.enabled=true", "--conf", "spark.task.maxFailures=2")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "has no effect" in line]
    assert len(lines) == 2 and all("WARN SparkConf: spark." in line for line in lines), done.stderr
    assert "spark.serializer has no effect: it configures a JVM" in done.stderr
    assert "spark.shuffle.push.enabled has no effect: map outputs are not pushed" in done.stderr


@pytest.mark.parametrize("cluster", [[], ["--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster", "--conf",
                                          "spark.master.rest.enabled=true"]], ids=["client", "cluster"])
def test_misspelled_key_is_warned_of_once(tmp_path, cluster):
    done = submit(tmp_path, "--master", "local[1]", *cluster, "--conf", "spark.executor.memmory=1g", "--conf",
                  "spark.my.executor.memory=1g")
    lines = [line for line in done.stderr.splitlines() if "Did you mean" in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].endswith("WARN SparkConf: spark.executor.memmory is not a known key. Did you mean spark.executor.memory?")


@pytest.mark.parametrize("words, invalid", [
    (["master", "--host", "127.0.0.1"], "spark.deploy.maxDrivers 0"),
    (["worker", "--host", "127.0.0.1", "spark://127.0.0.1:1"], "spark.worker.timeout soon"),
    (["history-server"], "spark.history.ui.port nowhere"),
    (["shuffle-service", "--host", "127.0.0.1", "--port", "0"], "spark.shuffle.service.db.enabled maybe")],
    ids=["master", "worker", "history-server", "shuffle-service"])
def test_daemons_warn_of_a_misspelled_key(tmp_path, words, invalid):
    """The daemons read the file and end, because of its second line."""
    (tmp_path / "daemon.conf").write_text(f"spark.deploy.recoveryMod NONE\n{invalid}\n")
    done = subprocess.run([os.path.join(BIN, "firesteel"), *words[:1], "--properties-file", "daemon.conf", *words[1:]],
                          cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 1 and invalid.split()[0] in done.stderr, done.stderr
    assert done.stderr.count("WARN SparkConf: spark.deploy.recoveryMod is not a known key. "
                             "Did you mean spark.deploy.recoveryMode?") == 1, done.stderr


def test_no_key_is_warned_of_by_default(tmp_path):
    done = submit(tmp_path, "--master", "local-cluster[1,1,1024]")
    assert done.returncode == 0 and "has no effect" not in done.stderr and "Did you mean" not in done.stderr, done.stderr


def test_submission_to_a_cluster_warns_before_it_connects(tmp_path):
    done = submit(tmp_path, "--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster", "--conf",
                  "spark.master.rest.enabled=true", "--conf", "spark.kryo.unsafe=true", "--conf",
                  "spark.shuffle.sync=true")
    assert done.stderr.count("spark.shuffle.sync has no effect: ") == 1, done.stderr


def test_jar_is_not_warned_of(tmp_path):
    (tmp_path / "app.jar").write_bytes(b"PK\5\6" + bytes(18))
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "spark://127.0.0.1:1", "--deploy-mode",
                           "cluster", "--conf", "spark.master.rest.enabled=true", "--class", "A", "--conf",
                           "spark.shuffle.sync=true", str(tmp_path / "app.jar")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert "has no effect" not in done.stderr, done.stderr


def test_configuration_is_logged_without_secrets(tmp_path):
    done = submit(tmp_path, "--master", "local[1]", "--conf", "spark.logConf=true", "--conf",
                  "spark.my.password=swordfish", "--conf", "spark.a=b")
    assert "INFO SparkContext: Spark configuration:\nspark.a=b\n" in done.stderr, done.stderr
    assert "\nspark.my.password=*********(redacted)\n" in done.stderr and "swordfish" not in done.stderr
    assert "Spark configuration:" not in submit(tmp_path, "--master", "local[1]").stderr
