/*
 * Interned names of modules and revisions: equal names are the same pointer. All data of one resolution lives in one
 * arena.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

struct module_name {
        const char *organisation, *name;
        const char *text; /* "organisation#name" */
};

struct revision_name {
        struct module_name *module;
        const char *revision;
        const char *text; /* "organisation#name;revision" */
};

struct names {
        struct arena arena;
        void **slots; /* entries by their text */
        size_t n_slots, count;
};

#define NAMES_INIT ((struct names){0})
void names_deinit(struct names *n);

const char *names_copy(struct names *n, const char *text); /* copies into the arena; NULL stays NULL */
const char *names_printf(struct names *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As in Ivy, "[1.0]" means the revision 1.0. */
struct module_name *names_module(struct names *n, const char *organisation, const char *name);
struct revision_name *names_revision(struct names *n, struct module_name *module, const char *revision);

/* A Maven coordinate of --packages, and a pattern of excludes ("*" matches anything). */
struct coordinate {
        char *group, *artifact, *version;
};

struct coordinates {
        struct coordinate *data;
        size_t len, cap;
};

void coordinates_deinit(struct coordinates *c);

/*
 * Appends the coordinates of a comma list, each group:artifact:version or group/artifact/version. Returns -EINVAL with
 * Spark's messages ("requirement failed: …").
 */
int coordinates_parse(const char *list, struct coordinates *c, struct fst_error *error);

/* Ivy's glob: "*" is any run, "?" one character. */
bool names_glob(const char *pattern, const char *text);
