/*
 * Names of modules and of their revisions, each kept once, so that equal ones are the same pointer. Everything of one
 * resolution lives in one arena and goes with it.
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

const char *names_copy(struct names *n, const char *text); /* into the arena; NULL stays NULL */
const char *names_printf(struct names *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "[1.0]" means the revision 1.0, as in Ivy. */
struct module_name *names_module(struct names *n, const char *organisation, const char *name);
struct revision_name *names_revision(struct names *n, struct module_name *module, const char *revision);

/* A Maven coordinate as --packages has it, and a pattern of one as excludes have it ("*" matches anything). */
struct coordinate {
        char *group, *artifact, *version;
};

struct coordinates {
        struct coordinate *data;
        size_t len, cap;
};

void coordinates_deinit(struct coordinates *c);

/*
 * Append what a list by commas names, each group:artifact:version or group/artifact/version. -EINVAL with Spark's
 * sentences ("requirement failed: …").
 */
int coordinates_parse(const char *list, struct coordinates *c, struct fst_error *error);

/* Ivy's glob: "*" is any run, "?" one character. */
bool names_glob(const char *pattern, const char *text);
