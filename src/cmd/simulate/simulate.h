/* The parts of firesteel simulate that have their own files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char simulate_standalone_help[];

/* Runs firesteel simulate --standalone …. Returns its exit status. */
int simulate_standalone(int argc, char **argv);

extern const char simulate_yarn_help[];

/* Runs firesteel simulate --yarn …. Returns its exit status. */
int simulate_yarn(int argc, char **argv);

extern const char simulate_mesos_help[];

/* Runs firesteel simulate --mesos …. Returns its exit status. */
int simulate_mesos(int argc, char **argv);

extern const char simulate_operator_help[];

/* Runs firesteel simulate --operator …. Returns its exit status. */
int simulate_operator(int argc, char **argv);

struct fst_conf;
struct fst_error;
struct simulator_options;

/*
 * Reads how --celeborn stores map outputs into options->celeborn, whose workers and deaths are set. Returns 0, or
 * -EINVAL with @error if the settings contradict each other. @messages: this option is given.
 */
int simulate_read_celeborn(const struct fst_conf *conf, struct simulator_options *options, bool messages,
                           struct fst_error *error);

/* An option with a number: a count or a probability. */
struct simulate_option {
        const char *name;
        int *count;          /* NULL: it is a probability */
        double *probability; /* NULL: it is a count */
        double least, most;
};

/* The options of all random worlds: --seed, --seeds, --output. */
struct simulate_common {
        uint64_t *seed, *last_seed;
        bool *json;
};

/* Sets one of @n options, or a common one. Returns false if @value is invalid, or with *@known false for another name.
 */
bool simulate_set_option(const struct simulate_option *options, size_t n, const struct simulate_common *common,
                         const char *name, const char *value, bool *known);
