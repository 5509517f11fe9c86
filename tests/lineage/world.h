/* What a lineage runs in: a context on a local master, and a folder for files, which goes with it. */
#pragma once

#include <firesteel/firesteel.h>

#include <stdio.h>

#define WORLD_SEEDS 200 /* that many seeds one after another have one context */

struct surroundings {
        int cores, parallelism; /* spark.default.parallelism; 0: not set */
        bool little_memory;     /* so little that operators spill */
        bool by_wire;           /* stages and results are encoded and decoded, as for executors */
        bool off_heap;          /* there is memory for OFF_HEAP; else it goes to disk */
};

/* What has happened; atomic. */
struct tally {
        int stages_by_wire;
        int failed_tasks, spilled_tasks; /* attempts that failed; those that wrote to disk what memory did not hold */
};

struct world {
        struct surroundings around;
        fst_context *sc; /* NULL: there is none */
        char folder[80];
        struct tally tally;
};

struct surroundings surroundings_of(uint64_t seed);
void surroundings_print(struct surroundings around, FILE *out);

void world_begin(struct world *w, struct surroundings around);
/* False if the context ended with a status, as it does when a job has failed. */
bool world_end(struct world *w);

/* What its surroundings should have made happen in WORLD_SEEDS lineages and did not; NULL: all has happened. */
const char *world_misses(const struct world *w);
