/* The world of a lineage: a context on a local master, and a directory for files, which is removed with it. */
#pragma once

#include <firesteel/firesteel.h>

#include <stdio.h>

#define WORLD_SEEDS 200 /* number of consecutive seeds that share a context */

struct surroundings {
        int cores, parallelism; /* spark.default.parallelism; 0: not set */
        bool little_memory;     /* operators spill */
        bool by_wire;           /* encodes and decodes stages and results, as for executors */
        bool off_heap;          /* off-heap memory is configured; otherwise OFF_HEAP blocks are on disk */
};

/* Events that were counted. Atomic. */
struct tally {
        int stages_by_wire;
        int failed_tasks, spilled_tasks; /* attempts that failed; attempts that spilled */
};

struct world {
        struct surroundings around;
        fst_context *sc; /* may be NULL */
        char folder[80];
        struct tally tally;
};

struct surroundings surroundings_of(uint64_t seed);
void surroundings_print(struct surroundings around, FILE *out);

void world_begin(struct world *w, struct surroundings around);
/* Returns false if the context ended with a status because a job failed. */
bool world_end(struct world *w);

/* Returns the name of an event that the world should have caused in WORLD_SEEDS lineages and did not, or NULL. */
const char *world_misses(const struct world *w);
