/*
 * The command line of the legacy gateway's client (Spark: ClientArguments):
 *
 *      [--cores N] [--memory M] [--supervise] [--verbose] launch MASTER URL CLASS [arguments]
 *      [--verbose] kill MASTER DRIVER
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

struct legacy_arguments {
        enum { LEGACY_LAUNCH, LEGACY_KILL } command;
        const char *masters; /* spark://host:port[,host:port…] */
        const char *id;      /* kill */
        const char *url;     /* launch: URL of the application's file */
        const char *main_class;
        char *const *arguments;
        size_t n_arguments;
        int cores;
        int64_t memory_mib;
        bool supervise, verbose;
};

/* Printed for --help and for invalid arguments. */
extern const char legacy_usage[];

/*
 * Borrows the words. Returns 0, 1 if the user asked for help, or -EINVAL with @error. If its message is empty, print
 * the usage.
 */
int legacy_arguments_parse(int n, char *const *words, struct legacy_arguments *out, struct fst_error *error);
