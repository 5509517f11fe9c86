"""firesteel worker as its operators see it: its processes, its remaining files, and the end of all its
processes. Masters, workers, drivers and executors are real processes."""
import gzip
import os
import re
import signal
import stat
import subprocess

import pytest

from folders import BIN
from free_ports import free_port
from sanitizers import SANITIZED
from standalone_cluster import parent as parent_of, wait_for

# hold DIR N: a job of N tasks. Each writes DIR/PID and waits for DIR/go.   print N: a task that prints N lines.
# fail DIR: the first time with status 3, then 0.   wait: forever.   resources: prints the task's resources.
APPLICATION = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int hold(fst_task *task, fst_bytes folder, fst_out *out)
{
        char path[4096];
        snprintf(path, sizeof(path), "%.*s/%d", (int)folder.len, folder.data, (int)getpid());
        FILE *file = fopen(path, "w");
        fclose(file);
        snprintf(path, sizeof(path), "%.*s/go", (int)folder.len, folder.data);
        while (access(path, F_OK) != 0 && !fst_task_interrupted(task))
                usleep(2000);
        fst_emit(out, folder);
        return 0;
}

static int print(fst_task *task, fst_bytes number, fst_out *out)
{
        for (int i = 0; i < atoi(number.data); i++)
                printf("line %09d %s\\n", i, "..........................................................................");
        fflush(stdout);
        fst_emit(out, number);
        return 0;
}

int main(int argc, char **argv)
{
        char path[4096];
        int64_t count = 0;
        if (strcmp(argv[1], "fail") == 0) {
                snprintf(path, sizeof(path), "%s/failed", argv[2]);
                if (access(path, F_OK) == 0)
                        return 0;
                fclose(fopen(path, "w"));
                return 3;
        }
        if (strcmp(argv[1], "wait") == 0) {
                puts("the driver waits");
                fflush(stdout);
                for (;;)
                        pause();
        }
        int n = argc > 3 ? atoi(argv[3]) : 1;
        fst_context *sc = fst_context_new(argv[1]);
        fst_bytes words[64];
        for (int i = 0; i < 64; i++)
                words[i] = (fst_bytes){argv[2], strlen(argv[2]) + 1};
        fst_rdd *rdd = fst_parallelize_n(sc, words, (size_t)n, n);
        if (fst_count(fst_flat_map(rdd, strcmp(argv[1], "hold") == 0 ? hold : print, FST_BYTES), &count) == 0)
                printf("counted %ld\\n", (long)count);
        return fst_context_stop(sc);
}
"""


REST = {"spark_master_rest_enabled": "true", "spark_master_rest_port": "0"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("application")
    (folder / "app.c").write_text(APPLICATION)
    done = subprocess.run([os.path.join(BIN, "firesteel"), "compile", "-o", str(folder / "app.so"), "app.c"], cwd=folder,
                          text=True, capture_output=True, check=False, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    assert done.returncode == 0, done.stderr
    return folder / "app.so"


def hold(cluster, built, master, tasks, conf=(), processes=1):
    """Starts an application whose tasks run, in this many processes, until finish()."""
    folder = cluster.folder / f"hold-{cluster.count}"
    folder.mkdir()
    app = cluster.submit(master, built, "hold", folder, tasks, conf=conf)
    app.folder = folder
    wait_for(lambda: len(os.listdir(folder)) >= processes, lambda: f"tasks of\n{app.log()[-2000:]}")
    return app


def finish(app, count):
    (app.folder / "go").touch()
    assert app.end() == 0, app.log()[-3000:]
    assert f"counted {count}" in app.log()


def submit_driver(cluster, built, master, *words, main="main", supervise=False, conf=()):
    """Submits in cluster mode by REST, and returns the driver's id."""
    options = ["--deploy-mode", "cluster", "--class", main] + (["--supervise"] if supervise else [])
    port = master.says(r"Started REST server for submitting applications on \S+ with port (\d+)").group(1)
    client = cluster.submit(f"spark://127.0.0.1:{port}", *options, f"file:{built}", *words,
                            conf=["spark.master.rest.enabled=true", *conf])
    assert client.end() == 0, client.log()
    return master.says(r"Launching driver (driver-\d{14}-\d{4}) on worker").group(1)


def started(cluster):
    """The existing processes of a worker: executors, drivers, and their descendants."""
    return [line for line in cluster.marked().values() if re.match(r"firesteel (executor|driver)", line)]


# ---------------------------------------------------------------------------------------------------------- the command

@pytest.mark.parametrize("words, status, line", [
    (["--help"], 0, "Usage: Worker [options] <master>"),
    ([], 1, "Error: no master is given: write spark://host:port\n\nUsage: Worker [options] <master>"),
    (["spark://a:1", "spark://b:1"], 1, "Error: more than one master, spark://a:1 and spark://b:1: write "),
    (["--cores", "x", "spark://a:1"], 1, 'Error: --cores: "x" is not a number from 1 to 65536\n\nUsage: Worker [options] '),
    (["--croes", "1", "spark://a:1"], 1, "Error: Unrecognized option: --croes\n\nUsage: "),
    (["spark://a:1", "--cores"], 1, "Error: --cores needs a value\n\nUsage: "),
    (["-m", "1x", "spark://a:1"], 1, "Error: --memory: "),
    (["-m", "10000", "spark://a:1"], 1, "Memory is below 1MB, or missing a M/G at the end of the memory specification? "
                                        "--memory is 10000"),
    (["spark://a"], 1, "Invalid master URL: spark://a (write spark://host:port): "),
    (["yarn"], 1, "Invalid master URL: yarn"),
    (["-d", "/proc/nowhere", "spark://a:1"], 1, "Failed to create work directory /proc/nowhere"),
])
def test_command_line(tmp_path, words, status, line):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    done = subprocess.run([os.path.join(BIN, "firesteel"), "worker", *words], text=True, capture_output=True, timeout=60,
                          check=False, env=dict(kept, SPARK_CONF_DIR=str(tmp_path), SPARK_LOCAL_IP="127.0.0.1"))
    assert done.returncode == status
    assert line in done.stderr


def test_no_master_is_waited_for(cluster):
    worker = cluster.daemon("worker", ["-d", str(cluster.folder / "work"), "spark://127.0.0.1:1"], {})
    worker.says("Failed to connect to master 127.0.0.1:1")
    worker.kill(signal.SIGTERM)
    assert worker.end() == 128 + signal.SIGTERM
    assert "ERROR Worker: RECEIVED SIGNAL TERM" in worker.log()


def test_an_idle_worker_is_small(cluster):
    worker = cluster.worker(cluster.master().url)
    with open(f"/proc/{worker.pid}/smaps_rollup", encoding="ascii") as file:
        sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
    print(f"an idle worker has {sizes['Rss']} kB resident, {sizes['Pss']} kB its share")
    if not SANITIZED:
        assert int(sizes["Rss"]) <= 8 * 1024


# -------------------------------------------------------------------------------------------------- the work directory

def test_what_an_application_leaves(cluster, built):
    worker = cluster.worker((master := cluster.master()).url)
    app = cluster.submit(master.url, built, "print", 3)
    assert app.end() == 0, app.log()
    worker.says("Cleaning up local directories for application")
    [folder] = worker.work.glob("app-*/0")
    assert (folder / "stdout").read_text().count("line 00000000") == 3
    assert (folder / "stderr").read_text().startswith('Spark Executor Command: "firesteel" "executor" "--driver-url"')
    wait_for(lambda: not cluster.executors(), "the executor's end")


def test_logs_are_rolled(cluster, built):
    master = cluster.master()
    worker = cluster.worker(master.url, spark_executor_logs_rolling_strategy="size",
                            spark_executor_logs_rolling_maxSize="100000",
                            spark_executor_logs_rolling_enableCompression="true")
    app = cluster.submit(master.url, built, "print", 5000)
    assert app.end() == 0, app.log()
    [folder] = worker.work.glob("app-*/0")

    def lines():
        """The numbers of the lines in compressed files and in the last one, which the worker may be writing."""
        rolled = sorted(folder.glob("stdout--*.gz"), key=lambda path: path.stem)
        try:
            text = "".join(gzip.open(p, "rt").read() for p in rolled) + (folder / "stdout").read_text()
        except (OSError, EOFError):
            return []
        return [int(n) for n in re.findall(r"line (\d+) ", text)]
    wait_for(lambda: lines() == list(range(5000)), lambda: f"5000 lines, not {len(lines())}")
    wait_for(lambda: not [p for p in folder.glob("stdout--*") if p.suffix != ".gz"], "the last file's compression")
    assert len(list(folder.glob("stdout--*.gz"))) >= 3


def test_old_directories_are_removed(cluster, built):
    master = cluster.master()
    worker = cluster.worker(master.url, spark_worker_cleanup_enabled="true", spark_worker_cleanup_interval="1",
                            spark_worker_cleanup_appDataTtl="0")
    app = hold(cluster, built, master.url, 1)
    (old := worker.work / "app-20200101000000-0000").mkdir()
    worker.says("Removing directory: " + str(old))
    assert len(list(worker.work.glob("app-*/0"))) == 1  # that of the running process
    finish(app, 1)
    wait_for(lambda: not list(worker.work.glob("app-*")), "the removal of the last directory")


def test_a_full_disk_costs_the_executor(cluster, built):
    """A worker whose disk is full reports it, and can start the next executor."""
    space = cluster.folder / "small"
    space.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(space)], capture_output=True,
                      check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        master = cluster.master(spark_deploy_maxExecutorRetries="2")
        worker = cluster.daemon("worker", ["-d", str(space / "work"), master.url],
                                {"spark.local.dir": str(cluster.folder / "local")})
        worker.says("Successfully registered with master")
        with open(space / "filler", "wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(b"x" * 4096)
        app = cluster.submit(master.url, built, "print", 1)
        assert app.end() != 0
        worker.says(r"Failed to launch executor app-\S+ for print: .*No space left on device")
        os.unlink(space / "filler")
        app = cluster.submit(master.url, built, "print", 1)
        assert app.end() == 0, app.log()
        worker.kill(signal.SIGTERM)
    finally:
        subprocess.run(["umount", "-l", str(space)], check=False)


# -------------------------------------------------------------------------------------------------------------- its end

@pytest.mark.parametrize("isolation", ["none", "process"])
def test_nothing_survives_a_killed_worker(cluster, built, isolation):
    """Its executors, their descendants and its driver end, and the application continues on other workers."""
    master = cluster.master(**REST)
    worker = cluster.worker(master.url, cores=3, memory="4g", spark_local_dir=str(cluster.folder / "local"))
    driver = submit_driver(cluster, built, master, "wait")
    out = worker.work / driver / "stdout"
    wait_for(lambda: out.exists() and "the driver waits" in out.read_text(), "the driver")
    app = hold(cluster, built, master.url, 2, conf=[f"spark.firesteel.task.isolation={isolation}"])
    assert len(started(cluster)) >= 2
    worker.kill()
    wait_for(lambda: not started(cluster), lambda: f"the end of {cluster.marked()}")
    cluster.worker(master.url, spark_local_dir=str(cluster.folder / "local"))
    finish(app, 2)
    wait_for(lambda: not list((cluster.folder / "local").glob("*")), "the removal of local directories")


def test_an_orderly_end(cluster, built):
    """SIGTERM: executors and drivers end, and only a supervised driver is restarted on another worker."""
    master = cluster.master(**REST)
    worker = cluster.worker(master.url, cores=4, memory="4g")
    submit_driver(cluster, built, master, "wait")
    supervised = submit_driver(cluster, built, master, "wait", supervise=True)
    app = hold(cluster, built, master.url, 1, conf=["spark.cores.max=1"])
    other = cluster.worker(master.url, cores=4, memory="4g")
    worker.kill(signal.SIGTERM)
    assert worker.end() == 128 + signal.SIGTERM
    other.says("Asked to launch driver driver-")
    finish(app, 1)
    assert not list(other.work.glob(supervised))  # under a new id
    assert len(re.findall("Asked to launch driver", other.log())) == 1


def test_a_lost_master_disturbs_nobody(cluster, built):
    recovery = {"spark.deploy.recoveryMode": "FILESYSTEM", "spark.deploy.recoveryDirectory": str(cluster.folder / "records")}
    master = cluster.master(free_port(), **recovery)  # without records the next master would not know the application
    worker = cluster.worker(master.url)
    app = hold(cluster, built, master.url, 1)
    master.kill()
    worker.says("Connection to master failed! Waiting for master to reconnect...")
    again = cluster.master(port=master.port, **recovery)
    # The worker registers again, unless the master, which knows it from its records, reaches it before.
    worker.says("Successfully registered with master|Master has changed, new master is at", times=2)
    finish(app, 1)
    assert again.process.poll() is None


def test_decommissioned_by_a_signal(cluster, built):
    master = cluster.master(spark_decommission_enabled="true")
    worker = cluster.worker(master.url, spark_decommission_enabled="true")
    app = hold(cluster, built, master.url, 1, conf=["spark.decommission.enabled=true"])
    os.kill(worker.pid, signal.SIGPWR)
    worker.says("Decommission worker worker-")
    other = cluster.worker(master.url)
    finish(app, 1)
    done = cluster.submit(master.url, built, "print", 1)
    assert done.end() == 0, done.log()
    other.says("Asked to launch executor")
    assert len(re.findall("Asked to launch executor", worker.log())) == 1


# ------------------------------------------------------------------------------------------------------------- drivers

def test_a_driver(cluster, built):
    master = cluster.master(**REST)
    worker = cluster.worker(master.url, memory="4g")
    driver = submit_driver(cluster, built, master, "print", 2)
    worker.says(f"Driver {driver} exited successfully")
    folder = worker.work / driver
    assert "counted 1" in (folder / "stdout").read_text()
    assert (folder / "app.so").exists()
    assert stat.S_IMODE((folder / "driver.conf").stat().st_mode) == 0o600
    assert (folder / "stderr").read_text().startswith('Launch Command: "firesteel" "driver" "--properties-file"')


def test_a_supervised_driver_is_started_again(cluster, built):
    master = cluster.master(**REST)
    worker = cluster.worker(master.url)
    driver = submit_driver(cluster, built, master, "fail", cluster.folder, supervise=True)
    worker.says(f"Driver {driver} exited successfully")
    assert "Command exited with status 3, re-launching after 1 s." in worker.log()


def test_a_driver_that_fails_says_why(cluster, built):
    master = cluster.master(**REST)
    worker = cluster.worker(master.url)
    submit_driver(cluster, built, master, main="nothing")
    worker.says(r"Driver driver-\S+ exited with failure: Command exited with code 101: .*nothing")


# ------------------------------------------------------------------------------------------------- secrets, resources

def test_with_a_secret(cluster, built):
    settings = {"spark_authenticate": "true", "spark_authenticate_secret": "0123456789abcdef0123456789abcdef"}
    master = cluster.master(**settings)
    worker = cluster.worker(master.url, **settings)
    conf = [f"{k.replace('_', '.')}={v}" for k, v in settings.items()]
    app = hold(cluster, built, master.url, 1, conf=conf)
    for line in cluster.executors().values():
        with open(f"/proc/{line}/cmdline", "rb") as file:
            assert settings["spark_authenticate_secret"].encode() not in file.read()
    finish(app, 1)
    assert "0123456789abcdef0123456789abcdef" not in "".join(
        p.read_text() for p in [*worker.work.rglob("stderr"), worker.log_path])
    stranger = cluster.daemon("worker", ["-d", str(cluster.folder / "other"), master.url], {})
    stranger.says("Failed to connect to master")


def test_custom_resources(cluster, built):
    script = cluster.folder / "gpus.sh"
    script.write_text("""#!/bin/sh\necho '{"name": "gpu", "addresses": ["4", "5"]}'\n""")
    script.chmod(0o755)
    master = cluster.master()
    worker = cluster.worker(master.url, memory="2g", spark_worker_resource_gpu_amount="2",
                            spark_worker_resource_gpu_discoveryScript=str(script))
    conf = ["spark.executor.resource.gpu.amount=1", "spark.task.resource.gpu.amount=1", "spark.executor.cores=1"]
    app = hold(cluster, built, master.url, 2, conf=conf, processes=2)
    given = [p.read_text() for p in worker.work.glob("app-*/*/resource-executor.json")]
    assert sorted(re.search(r'"addresses":\["(\d)"\]', text).group(1) for text in given) == ["4", "5"]
    finish(app, 2)


def test_driver_has_resources_that_its_worker_gave(cluster, built):
    script = cluster.folder / "gpus.sh"
    script.write_text("""#!/bin/sh\necho '{"name": "gpu", "addresses": ["4", "5"]}'\n""")
    script.chmod(0o755)
    master = cluster.master(**REST)
    worker = cluster.worker(master.url, memory="2g", spark_worker_resource_gpu_amount="2",
                            spark_worker_resource_gpu_discoveryScript=str(script))
    driver = submit_driver(cluster, built, master, "print", 2, conf=["spark.driver.resource.gpu.amount=1"])
    worker.says(f"Driver {driver} exited successfully")
    said = (worker.work / driver / "stderr").read_text()
    assert re.search(r"Custom resources for spark.driver:\ngpu -> \[name: gpu, addresses: [45]\]\n", said), said


def hierarchies(parent):
    """The hierarchies of control groups, and the files with the limits of memory and processors."""
    root = "/sys/fs/cgroup"
    if os.path.exists(f"{root}/cgroup.controllers"):
        return [(f"{root}/{parent}", "memory.max"), (f"{root}/{parent}", "cpu.max")]
    cpu = "cpu" if os.path.exists(f"{root}/cpu") else "cpu,cpuacct"
    return [(f"{root}/memory/{parent}", "memory.limit_in_bytes"), (f"{root}/{cpu}/{parent}", "cpu.cfs_quota_us")]


def removed(path):
    try:
        os.rmdir(path)
    except OSError:
        return False
    return True


def test_control_groups(cluster, built):
    parent = f"firesteel-test-{os.getpid()}"
    (memory, memory_file), (cpu, cpu_file) = hierarchies(parent)
    try:
        for folder in {memory, cpu}:
            os.mkdir(folder)
        with open(f"{memory}/{memory_file}", "r+", encoding="ascii"):
            pass
    except OSError as error:
        for folder in {memory, cpu}:
            if os.path.isdir(folder):
                os.rmdir(folder)
        pytest.skip(f"no control group can be made here: {error}")
    try:
        master = cluster.master()
        worker = cluster.daemon("worker", ["-c", "2", "-m", "1g", "-d", str(cluster.folder / "work"), master.url],
                                {"spark.firesteel.worker.cgroup": f"/{parent}"})
        worker.says("Successfully registered with master")
        app = hold(cluster, built, master.url, 1)
        [group] = [name for name in os.listdir(memory) if name.startswith("app-")]
        with open(f"{memory}/{group}/{memory_file}", encoding="ascii") as file:
            assert int(file.read()) == (1024 + 384) << 20
        with open(f"{cpu}/{group}/{cpu_file}", encoding="ascii") as file:
            assert file.read().split()[0] == "200000"

        executors = set(cluster.executors().values())
        forked = {pid for pid in cluster.marked() if parent_of(pid) in executors}
        assert executors and forked
        for folder in {memory, cpu}:
            with open(f"{folder}/{group}/cgroup.procs", encoding="ascii") as file:
                # A zygote is forked in an executor's first moments.
                assert set(map(int, file.read().split())) >= executors | forked
        finish(app, 1)
        worker.kill(signal.SIGTERM)
        assert not [name for name in os.listdir(memory) if name.startswith("app-")]
    finally:
        for path in [f"{folder}/{name}" for folder in {memory, cpu} for name in os.listdir(folder)] + list({memory, cpu}):
            wait_for(lambda path=path: not os.path.isdir(path) or removed(path), f"{path} to be empty")
