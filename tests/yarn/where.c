/*
 * Prints a line for each task: the host of its container, the container, its GPU.   where MODE TASKS [FILE]
 *
 * Modes: "where" takes 0.3 s a task; "lines" reads the text file FILE, one task for each split, and keeps its executor
 * for a second; "fail" fails on the host 127.0.0.2; "crash" ends the executor; "wait" waits for
 * FILE; "sleep" makes no context; "leave" calls exit() with a context.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mode {
        char name[16], file[240];
};

static bool is_mode(const struct mode *mode, const char *name)
{
        return strcmp(mode->name, name) == 0;
}

static void host_report(fst_task *task, fst_out *out)
{
        const char *gpu[4] = {"-"};
        char text[300];
        fst_task_resource(task, "gpu", gpu, 4);
        snprintf(text, sizeof(text), "host %s container %s gpu %s", getenv("NM_HOST"), getenv("CONTAINER_ID"), gpu[0]);
        fst_emit(out, fst_bytes_of(text));
}

static int emit_place(fst_task *task, int64_t i, fst_out *out)
{
        const struct mode *mode = fst_captured(task);
        if (is_mode(mode, "fail") && strcmp(getenv("NM_HOST"), "127.0.0.2") == 0)
                return fst_fail(task, "this host is bad");
        if (is_mode(mode, "crash"))
                _exit(3);
        for (int k = 0; is_mode(mode, "wait") && k < 600 && access(mode->file, F_OK) != 0; k++)
                usleep(100000);
        if (!is_mode(mode, "wait"))
                usleep(300000);
        host_report(task, out);
        return 0;
}

static int emit_split_place(fst_task *task, fst_bytes line, fst_out *out)
{
        sleep(1);
        host_report(task, out);
        return 0;
}

int main(int argc, char **argv)
{
        struct mode mode = {{0}, {0}};
        const int n = argc > 2 ? atoi(argv[2]) : 0;
        if (n < 1)
                return 2;
        snprintf(mode.name, sizeof(mode.name), "%s", argv[1]);
        snprintf(mode.file, sizeof(mode.file), "%s", argc > 3 ? argv[3] : "");
        if (is_mode(&mode, "sleep"))
                sleep(60);
        fst_context *sc = fst_context_new("where");
        if (is_mode(&mode, "leave"))
                exit(0);
        fst_rdd *places = is_mode(&mode, "lines")
                                  ? fst_flat_map(fst_text_file(sc, mode.file), emit_split_place, FST_BYTES)
                                  : fst_flat_map(fst_range_n(sc, 0, n, n), FST_WITH(emit_place, mode), FST_BYTES);
        fst_iter *rows;
        if (fst_collect(places, &rows) == 0)
                for (fst_bytes row; fst_next(rows, &row);)
                        printf("%.*s\n", (int)row.len, row.data);
        return fst_context_stop(sc);
}
