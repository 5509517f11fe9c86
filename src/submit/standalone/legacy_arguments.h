/*
 * What is said to the client of the legacy gateway, as Spark's ClientArguments reads it:
 *
 *      [--cores N] [--memory M] [--supervise] [--verbose] launch MASTER URL CLASS [arguments]
 *      [--verbose] kill MASTER DRIVER
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

struct gateway_words {
        enum { GATEWAY_LAUNCH, GATEWAY_KILL } command;
        const char *masters; /* spark://host:port[,host:port…] */
        const char *id;      /* kill */
        const char *url;     /* launch: of the application's file */
        const char *main_class;
        char *const *arguments;
        size_t n_arguments;
        int cores;
        int64_t memory_mib;
        bool supervise, verbose;
};

/* Shown for --help and for words that are wrong. */
extern const char gateway_usage[];

/* The words are borrowed. 0; 1: help was asked for; -EINVAL with @error, whose message may be empty: show the usage. */
int gateway_words_parse(int n, char *const *words, struct gateway_words *out, struct fst_error *error);
