"""An application whose tasks run until the test releases them."""
import os
import subprocess

from folders import BIN


# hold DIR N: a job of N tasks, each of which writes DIR/PID.PARTITION and waits for DIR/go.
# steps DIR N: N jobs of 4 tasks, each when DIR/<its number> is there.
APPLICATION = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wait(fst_task *task, fst_bytes folder, fst_out *out)
{
        char path[4096];
        snprintf(path, sizeof(path), "%.*s/%d.%d", (int)folder.len, folder.data, (int)getpid(), fst_task_partition(task));
        FILE *file = fopen(path, "w");
        fclose(file);
        snprintf(path, sizeof(path), "%.*s/go", (int)folder.len, folder.data);
        while (access(path, F_OK) != 0 && !fst_task_interrupted(task))
                usleep(2000);
        fst_emit(out, folder);
        return 0;
}

static int same(fst_task *task, fst_bytes text, fst_out *out)
{
        fst_emit(out, text);
        return 0;
}

int main(int argc, char **argv)
{
        int n = atoi(argv[3]), jobs = strcmp(argv[1], "steps") == 0 ? n : 1;
        fst_context *sc = fst_context_new(argv[1]);
        fst_bytes folders[16];
        char path[4096];
        int64_t count = 0;
        for (int i = 0; i < 16; i++)
                folders[i] = (fst_bytes){argv[2], strlen(argv[2])};
        printf("application %s\\n", fst_context_app_id(sc));
        fflush(stdout);
        for (int i = 0; i < jobs; i++) {
                snprintf(path, sizeof(path), "%s/%d", argv[2], i);
                while (jobs > 1 && access(path, F_OK) != 0)
                        usleep(2000);
                fst_rdd *rdd = fst_parallelize_n(sc, folders, (size_t)(jobs > 1 ? 4 : n), jobs > 1 ? 4 : n);
                if (fst_count(fst_flat_map(rdd, jobs > 1 ? same : wait, FST_BYTES), &count) == 0)
                        printf("counted %ld in job %d\\n", (long)count, i);
                fflush(stdout);
        }
        return fst_context_stop(sc);
}
"""


def compile_blocking_job(folder):
    """Compiles the application to a shared object."""
    (folder / "app.c").write_text(APPLICATION)
    done = subprocess.run([os.path.join(BIN, "firesteel"), "compile", "-o", "app.so", "app.c"], cwd=folder, text=True,
                          capture_output=True, check=False, env=dict(os.environ, XDG_CACHE_HOME=str(folder)))
    assert done.returncode == 0, done.stderr
    return folder / "app.so"


def hold(cluster, blocking_job, master, name, tasks, conf=()):
    """An application whose tasks run until release()."""
    folder = cluster.folder / name
    folder.mkdir()
    app = cluster.submit(master, blocking_job, "hold", folder, tasks, conf=conf)
    app.folder = folder
    app.release = lambda: (folder / "go").touch()
    return app


def running(app):
    """{(pid, partition)} of tasks that have begun."""
    return {tuple(map(int, name.split("."))) for name in os.listdir(app.folder) if name != "go"}


def pids(app):
    return {pid for pid, _ in running(app)}


def finish(app, count):
    assert app.end() == 0, app.log()[-3000:]
    assert f"counted {count} in job 0" in app.log()
