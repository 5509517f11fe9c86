/* The parts of firesteel simulate that have their own files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

extern const char simulate_standalone_help[];

/* Runs firesteel simulate --standalone …. Returns its exit status. */
int simulate_standalone(int argc, char **argv);

extern const char simulate_yarn_help[];

/* Runs firesteel simulate --yarn …. Returns its exit status. */
int simulate_yarn(int argc, char **argv);

extern const char simulate_operator_help[];

/* Runs firesteel simulate --operator …. Returns its exit status. */
int simulate_operator(int argc, char **argv);

/* Reads a number from @least to @most. Returns false if @text is none. */
bool simulate_parse_number(const char *text, double least, double most, double *out);

/* Reads "7", or "1..100" with an end not below the begin. Returns false if @text is neither. */
bool simulate_parse_seeds(const char *text, uint64_t *first, uint64_t *last);
