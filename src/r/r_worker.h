/*
 * One R worker, which computes one partition: its two connections and its end. See r_stream.h for the bytes.
 *
 *      r = r_worker_start(&w, &settings, stopped, &error);
 *      while (more input) r = r_worker_feed(&w, data, len, stopped, &error);
 *      r_worker_close_input(&w);
 *      while ((r = r_worker_read(&w, size, stopped, &error)) == 0) … take from w.output
 *      r_worker_end(&w, complete);
 *
 * The calling thread feeds and reads at the same time, so that a worker that answers early does not block.
 */
#pragma once

#include "base/buf.h"
#include "r/r_process.h"

struct r_worker {
        struct r_process *process;
        int in, out;       /* the worker's input and output; -1: closed */
        int port;          /* ours, which both are connected to */
        struct buf output; /* what the worker wrote and nobody has taken */
};

/*
 * Starts a worker and accepts its connections. Returns 0, or a negative status with @error; r_worker_end is due after
 * both. *@stopped (atomic) ends any wait with -ECANCELED.
 */
int r_worker_start(struct r_worker *w, const struct r_settings *settings, const int *stopped, struct fst_error *error);

/* Writes @len bytes, and gathers output meanwhile. A worker that reads no more is no failure: its answer tells. */
int r_worker_feed(struct r_worker *w, const char *data, size_t len, const int *stopped, struct fst_error *error);

/* Tells the worker that its input ends. */
void r_worker_close_input(struct r_worker *w);

#define R_WORKER_E_END 1

/*
 * Reads until `output` holds @size bytes or more. Returns 0; R_WORKER_E_END if the worker closes its connection before;
 * or a negative status with @error.
 */
int r_worker_read(struct r_worker *w, size_t size, const int *stopped, struct fst_error *error);

/* Closes the connections. Kills the worker unless it has answered to the end (@complete). */
void r_worker_end(struct r_worker *w, bool complete);
