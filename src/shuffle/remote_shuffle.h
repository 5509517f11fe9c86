/*
 * The seam for map outputs that live outside of executors ("remote"): they survive the executors that wrote them.
 *
 *  - An executor calls publish with the finished outputs of map tasks. It gets a place for each, which goes to the
 *    driver with the task's success. An implementation may store pages before, while the task computes (remote_stream).
 *  - The driver's scheduler keeps handle = task id + 1, the place, and MAP_OUTPUT_STORED (sched/map_outputs.h): a lost
 *    executor does not lose such an output.
 *  - shuffle_reader calls open, next and close: it gets the pages of one partition, in the order of the maps.
 *
 * An implementation is told which attempt of a map counts: reduce tasks name the task id of each. Outputs of failed,
 * killed and speculative attempts may exist, too, and are never read.
 *
 * The driver's side is a struct remote_shuffle_driver: it makes room for an application, removes shuffles, and at the
 * end everything.
 */
#pragma once

#include "shuffle/shuffle_reader.h"

struct buf;
struct fst_error;
struct page;
struct remote_input;
struct remote_shuffle;
struct remote_shuffle_driver;
struct remote_stream;
struct shuffle_output;

/* Places are 1 … REMOTE_PLACES - 1. Only the implementation knows their meaning. */
#define REMOTE_PLACES (1u << 23)

/*
 * An executor that publishes has a number, its writer: below REMOTE_WRITERS, and not that of another executor of the
 * application, whichever driver had it.
 */
#define REMOTE_WRITERS (1 << 30)

/* One finished map output. */
struct remote_output {
        int map_partition;
        int64_t task_id;
        struct shuffle_output *output; /* borrowed */
        uint32_t place; /* publish sets it; unless it is not 0, because the driver named it with the stage */
};

/*
 * Stores the output of one task while the task computes. It belongs to the output (shuffle_output.h), and frees nothing
 * of it. On the thread of the task, then on that of publish.
 */
struct remote_stream_class {
        /*
         * Begins to store a full page of the output, which stays in its place until drain has returned. Pages of a
         * partition come in the order of its rows. Does not block. Returns 0, or negative if the output cannot be
         * stored: drain reports why.
         */
        int (*add)(struct remote_stream *stream, int partition, const struct page *page);

        /* No page follows soon. Does not block. */
        void (*flush)(struct remote_stream *stream);

        /*
         * Waits until all pages are stored, so that they may be freed. Returns 0; -ECANCELED once *@stopped (NULL: it
         * cannot be stopped) is nonzero; or another negative with @error.
         */
        int (*drain)(struct remote_stream *stream, const int *stopped, struct fst_error *error);

        /* Ends it. If pages are being stored, it takes a reference of the output until they are not needed. */
        void (*free)(struct remote_stream *stream);
};

/* The first member of an implementation. */
struct remote_stream {
        const struct remote_stream_class *class;
};

/* The data that a reduce task reads. Everything is borrowed until close. */
struct remote_read {
        const struct shuffle_inputs *inputs;
        struct shuffle_output *const *here; /* by map: outputs that the task reads itself; NULL: none */
        int partition;
        fst_type type;
        size_t in_flight; /* bytes to read ahead: spark.reducer.maxSizeInFlight */
        struct task_run *run;
        struct memory_consumer *memory;
};

/* Status of next: the output does not exist, or is damaged each time it is read. The map task must run again. */
#define FST_REMOTE_E_LOST 2

struct remote_shuffle_class {
        const char *name;

        /*
         * Makes the outputs of tasks of one shuffle durable, and sets `place` of each: all of them or none. Blocks; any
         * number of threads. Returns 0, or negative with @error, which names the store.
         */
        int (*publish)(struct remote_shuffle *remote, int shuffle, struct remote_output *outputs, int n,
                       struct fst_error *error);

        /*
         * Begins to store the output of a task of shuffle @shuffle, while it is written. All is borrowed; the output
         * owns the result. publish completes it. Does not block. NULL: only publish stores outputs.
         */
        struct remote_stream *(*stream)(struct remote_shuffle *remote, int shuffle, const struct remote_output *output);

        /* Begins to read ahead. On the task's thread, like next and close. Never NULL. */
        struct remote_input *(*open)(struct remote_shuffle *remote, const struct remote_read *read);

        /*
         * Gets the next page of the output of map partition @map, reserved through the consumer, or, while that holds
         * nothing, by the implementation until the next call; owned by the caller; NULL after the last one. Maps are
         * requested in ascending order, each until NULL; maps that are elsewhere, or in read->here, are left out.
         * Returns 0; FST_MEMORY_E_DENIED; FST_REMOTE_E_LOST with @error; -ECANCELED; or another negative with
         * @error: the task fails, and may run again.
         */
        int (*next)(struct remote_input *input, int map, struct page **page, struct fst_error *error);
        void (*close)(struct remote_input *input); /* NULL is allowed */

        void (*forget)(struct remote_shuffle *remote, int shuffle); /* the shuffle is removed. Any thread */
        void (*free)(struct remote_shuffle *remote);                /* after the last task */
};

/* The first member of an implementation on an executor. */
struct remote_shuffle {
        const struct remote_shuffle_class *class;
};

struct remote_shuffle_driver_class {
        /* Returns where the outputs of this application are, for the next driver that resumes it. NULL: no driver can
         * resume it. */
        const char *(*directory)(const struct remote_shuffle_driver *driver);

        /* Returns true if an earlier driver of the application has left this output. On the scheduler's thread. */
        bool (*has)(const struct remote_shuffle_driver *driver, int shuffle, int32_t writer, uint32_t place);

        /* Returns true unless an earlier driver has ended the shuffle, so that no map can be added: its @maps outputs
         * are used together. On the scheduler's thread. NULL: maps can always be added. */
        bool (*takes_maps)(const struct remote_shuffle_driver *driver, int shuffle, int *maps);

        /*
         * A map stage with @maps maps, of which some are missing, is about to write @partitions partitions. Returns the
         * place of its outputs, which its tasks are told. On the scheduler's thread, like the functions below. NULL:
         * the executors choose places.
         */
        uint32_t (*begin)(struct remote_shuffle_driver *driver, int shuffle, int maps, int partitions);

        /* All outputs of a shuffle exist: those of the tasks @task_ids, one for each map. Called once or more, before
         * they are read. NULL as above. */
        void (*maps_ended)(struct remote_shuffle_driver *driver, int shuffle, const int64_t *task_ids, int n);

        /* Returns true if the outputs at @place are those of the shuffle's newest try. NULL as above. */
        bool (*is_current)(struct remote_shuffle_driver *driver, int shuffle, uint32_t place);

        /* An executor asks. `next_reply` returns the answer for @asker later. Returns 0, or negative with @error. NULL:
         * there are no questions. */
        int (*ask)(struct remote_shuffle_driver *driver, const uint8_t *question, size_t len, void *asker,
                   struct fst_error *error);

        /* Moves the oldest answer to *@bytes, which the caller owns. Returns false if there is none. NULL as above. */
        bool (*next_reply)(struct remote_shuffle_driver *driver, void **asker, struct buf *bytes);

        /* Removes what a shuffle has, soon. Does not block. On the scheduler's thread. */
        void (*remove_shuffle)(struct remote_shuffle_driver *driver, int shuffle);

        /* Removes everything of the application, and frees @driver. Blocks. Call it after the executors have ended. */
        void (*stop)(struct remote_shuffle_driver *driver);
};

/* The first member of an implementation in the driver. */
struct remote_shuffle_driver {
        const struct remote_shuffle_driver_class *class;
};
