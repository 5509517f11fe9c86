/*
 * A stage on the wire (rpc/stage.proto): the bytes with which an executor or a task process runs the tasks of a stage
 * attempt. They are sent once for all tasks of the attempt.
 *
 *      driver          stage_encode            once; the bytes are the same for every executor
 *      executor        stage_modules           fetch and module_load missing modules
 *                      stage_decode            a stage_context for slots
 *                      task_result_encode      of each result task (exec/actions/action.h)
 *      driver          task_result_decode      then merge
 *
 * Limits: MAX_STAGE_WIRE bytes; decoding takes at most 32 times as much memory as the bytes, plus 64 KiB. The bytes are
 * fully checked. But a stage names functions and data to call them with, so its sender can run any loaded code.
 */
#pragma once

#include "exec/app/module.h"
#include "exec/actions/stage_context.h"

#define STAGE_WIRE_VERSION 1
#define MAX_STAGE_WIRE ((size_t)1 << 30)

/* A module's file, for fetching. */
struct stage_module {
        char build_id[2 * MODULE_BUILD_ID_MAX + 1]; /* hexadecimal */
        const char *name;                           /* "wordcount.so" */
        unsigned char sha256[32];
        bool has_sha256; /* the file can be fetched; if not, the receiver must have it */
        uint64_t size;   /* bytes */
};

/* Source of data about modules' files. */
struct stage_modules_source {
        /*
         * Fills sha256, has_sha256 and size of *@file for @module (build_id and name are set). Returns 0, or negative
         * with @error, which contains a remedy. NULL: nothing is fetched.
         */
        int (*identify)(void *owner, const struct module *module, struct stage_module *file, struct fst_error *error);
        void *owner;
        /*
         * The receiver runs the same program (a forked task process), so functions of the program itself are allowed.
         */
        bool same_program;
};

/*
 * Appends the encoded @work to @out. On the driver, once the bounds of its range partitioners are known; any thread.
 * Returns -EINVAL with @error for a function that cannot be sent, -E2BIG above MAX_STAGE_WIRE, or the error of
 * identify. @out is then unchanged.
 */
int stage_encode(const struct stage_context *work, const struct stage_modules_source *modules, struct buf *out,
                 struct fst_error *error);

/*
 * Calls @each for each module that a stage needs, without reading the rest. @file and its name are valid during the
 * call. Stops at the first value that is not 0 and returns it. Returns -EBADMSG with @error if @data is not a stage, or
 * is of another version.
 */
int stage_modules(const void *data, size_t len,
                  int (*each)(void *owner, const struct stage_module *file, struct fst_error *error), void *owner,
                  struct fst_error *error);

/*
 * Decodes the stage in @data, which may be freed afterwards. *@work has one reference and belongs to @env. It owns its
 * nodes, action and inputs. Its tasks have the partitions 0 … final->lineage.partitions - 1. The caller checks the
 * partitions it runs.
 *
 * Returns -ENOENT with @error if a module is not loaded, -EBADMSG for an invalid stage, -E2BIG if it needs too much
 * memory. Any thread.
 */
int stage_decode(const void *data, size_t len, const struct exec_env *env, struct stage_context **work,
                 struct fst_error *error);
