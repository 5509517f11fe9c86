/*
 * Reads one partition of a Celeborn shuffle: which copy of which file, and which batches count. A pure core; the shell
 * is celeborn_input.
 *
 *      fetch_core_init(&core, &config)
 *      for each map, ascending:
 *              while ((action = fetch_core_next(&core, map, now)).kind != FETCH_END)
 *                      shell_do(action) → fetch_core_opened, _head, _file_end, _skipped, _taken, _failed
 *
 * A partition has a file for each epoch, at one worker or two. Sorted: workers send them sorted by map (OpenStream with
 * the number of maps as the end index), so that batches arrive in the order of map partitions. Within a map, the core
 * takes the smallest batch id that is next in any file: the order in which the map task wrote, except for batches that
 * were pushed again. Unsorted: the core takes batches of all maps as they arrive, file by file, and the caller sorts
 * them.
 *
 * A batch counts if its attempt is the one that counts of its map, and its id is new over all files.
 *
 * A copy that fails is left for the other one, alternately, `tries` times each with a pause between rounds, and a new
 * batch resets the count. A copy without the file is given up at once. A damaged copy is read once more, then given up.
 * A file without a copy is lost. Copies differ in their order within a map, so the next copy is read from its
 * beginning.
 *
 * Pure: no I/O and no clock; times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "celeborn/protocol/celeborn_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fetch_file;

#define FETCH_COPIES 2

/* A file of the partition: copies[i] is a worker's number, -1: none. */
struct fetch_location {
        int32_t epoch;
        int32_t copies[FETCH_COPIES]; /* primary, replica */
};

struct fetch_core_config {
        const struct fetch_location *locations; /* during fetch_core_init */
        int n;
        int n_maps;
        bool sorted;
        /* Returns the attempt of @map that counts; -1: none. */
        int64_t (*attempt)(const void *owner, int map);
        const void *owner;
        int tries;     /* of each copy: spark.celeborn.client.fetch.maxRetriesForEachReplica */
        int64_t pause; /* between rounds: spark.celeborn.data.io.retryWait */
};

enum fetch_action_kind {
        FETCH_OPEN, /* request copy `copy` of `file`, and go on → opened, failed */
        FETCH_HEAD, /* read the header of the next batch → head, file_end, failed */
        FETCH_SKIP, /* leave the data of the batch → skipped, failed */
        FETCH_TAKE, /* the batch counts → taken, failed */
        FETCH_WAIT, /* until `until` */
        FETCH_LOST, /* no copy of `file` can be read */
        FETCH_END,  /* the map has no further batch; unsorted: no map has */
};

struct fetch_action {
        enum fetch_action_kind kind;
        int file, copy;
        int64_t until;
};

enum fetch_failure {
        FETCH_FAILED,  /* a connection, a worker */
        FETCH_GONE,    /* the worker does not have the file */
        FETCH_DAMAGED, /* its content is not what was pushed */
};

struct fetch_core {
        struct fetch_core_config config;
        struct fetch_file *files;
        int map;        /* the last one of fetch_core_next; unsorted: -1 */
        uint64_t *seen; /* its batches, or unsorted those of all maps; open addressing; 0: free */
        size_t n_seen, seen_slots;
};

void fetch_core_init(struct fetch_core *core, const struct fetch_core_config *config);
void fetch_core_deinit(struct fetch_core *core);

/* Gets the next action for @map, which does not fall from call to call. Unsorted: @map is -1. */
struct fetch_action fetch_core_next(struct fetch_core *core, int map, int64_t now);

/* Returns the copy that is open or was open last. */
int fetch_core_copy(const struct fetch_core *core, int file);

void fetch_core_opened(struct fetch_core *core, int file);

/*
 * The next batch of a file has this header, @left bytes of the chunk follow it. Returns 0, or -EBADMSG if the header is
 * invalid: its map, its size, or its order. The caller then calls fetch_core_failed.
 */
int fetch_core_head(struct fetch_core *core, int file, struct celeborn_batch head, size_t left);
void fetch_core_file_end(struct fetch_core *core, int file);
void fetch_core_skipped(struct fetch_core *core, int file);
void fetch_core_taken(struct fetch_core *core, int file);

/* An action on a file failed: its copy is closed. */
void fetch_core_failed(struct fetch_core *core, int file, enum fetch_failure failure, int64_t now);
