/*
 * A stage on the wire: what an executor or a worker process has to know to run the tasks of a stage attempt, as bytes
 * (rpc/stage.proto). They are sent once for all tasks of the attempt.
 *
 *      driver          stage_encode            once; the bytes are the same for every executor
 *      executor        stage_modules           fetch and module_load what is not loaded yet
 *                      stage_decode            a stage_work that slots run
 *                      task_result_encode      of each result task (exec/actions/action.h)
 *      driver          task_result_decode      then merge
 *
 * Limits: MAX_STAGE_WIRE bytes; decoding takes 32 times as much memory as it has bytes, and 64 KiB, at most. Bytes are
 * checked as those of a stranger would be; but a stage says what functions to call with what data, so whoever may send
 * one may run any loaded code.
 */
#pragma once

#include "exec/app/module.h"
#include "exec/actions/stage_context.h"

#define STAGE_WIRE_VERSION 1
#define MAX_STAGE_WIRE ((size_t)1 << 30)

/* The file of a module, by which executors fetch it. */
struct stage_module {
        char build_id[2 * MODULE_BUILD_ID_MAX + 1]; /* hexadecimal */
        const char *name;                           /* "wordcount.so" */
        unsigned char sha256[32];
        bool has_sha256; /* it can be fetched; otherwise whoever runs the stage has it */
        uint64_t size;   /* bytes */
};

/* Who knows about modules' files. */
struct stage_modules_source {
        /*
         * Fill sha256, has_sha256 and size of *@file (build_id and name are set) for @module. 0, or negative with
         * @error that says what to do. NULL: nothing is fetched.
         */
        int (*identify)(void *owner, const struct module *module, struct stage_module *file, struct fst_error *error);
        void *owner;
        /* Who decodes runs the same program (a forked worker): functions of the program itself may travel as well. */
        bool same_program;
};

/*
 * Append @work's encoded form to @out. On the driver, once the bounds of its range partitioners are known; any thread.
 * -EINVAL with @error for a function that cannot travel, -E2BIG above MAX_STAGE_WIRE, or what identify answers; then
 * @out is as it was.
 */
int stage_encode(const struct stage_work *work, const struct stage_modules_source *modules, struct buf *out,
                 struct fst_error *error);

/*
 * The modules that a stage needs, one after another to @each, without looking at the rest; @file and its name are
 * valid during the call. Stops at the first answer that is not 0 and returns it. -EBADMSG with @error for what is no
 * stage, or of another version.
 */
int stage_modules(const void *data, size_t len,
                  int (*each)(void *owner, const struct stage_module *file, struct fst_error *error), void *owner,
                  struct fst_error *error);

/*
 * The stage in @data, which need not live on. *@work has one reference and belongs to @env: its nodes, action and
 * inputs go with it. Its tasks may have the partitions 0 … final->lineage.partitions - 1: the caller checks what it is
 * told to run.
 *
 * -ENOENT with @error when a module is not loaded; -EBADMSG for bytes that are no stage, or one that cannot be; -E2BIG
 * for one that asks for too much memory. Any thread.
 */
int stage_decode(const void *data, size_t len, const struct exec_env *env, struct stage_work **work,
                 struct fst_error *error);
