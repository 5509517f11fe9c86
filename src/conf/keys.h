/*
 * The table of configuration keys: name, type, unit, default, version, older spellings, meaning, and whether a key has
 * an effect. scripts/configuration-page writes docs/configuration.md from it.
 *
 * The rows are in conf/keys_*.inc, sorted by name. They become one read-only block of text and an array of offsets, so
 * that a process that only needs one key neither relocates nor reads the others. Names, types, units and defaults are
 * those of Spark 4. Keys that it dropped keep their last ones.
 */
#pragma once

#include "conf/units.h"

#include <stdbool.h>
#include <stddef.h>

enum key_type {
        KEY_STRING,
        KEY_BOOL,
        KEY_INT,  /* 32 bits */
        KEY_LONG, /* 64 bits */
        KEY_DOUBLE,
        KEY_BYTES, /* a size; a bare number is in the key's unit */
        KEY_TIME,  /* a duration; likewise */
        KEY_LIST,  /* separated by commas; drops blanks around elements, and empty elements */
};

/* The effect of setting a key. tests/project/configuration_test.py compares it with the sources. */
enum key_status {
        KEY_USED,            /* the program reads it */
        KEY_JVM_ONLY,        /* it configures a JVM, and is passed to applications that run in one */
        KEY_NOT_IMPLEMENTED, /* nothing reads it */
};

/* One row. Every pointer is to constant text. */
struct key {
        const char *name;
        const char *value;   /* the default; NULL without one, or with @same_as */
        const char *same_as; /* the key whose value is the default; NULL: none */
        const char *since;   /* Spark's version, or "firesteel" */
        const char *old;     /* older spellings, separated by blanks, newest first; "": none */
        const char *doc;
        const char *reason; /* why a KEY_NOT_IMPLEMENTED key has no effect, and a remedy if there is one; else "" */
        enum key_type type;
        enum unit unit;
        enum key_status status;
};

/* Find @name. Returns false if it is not in the table. Neither allocates nor locks. */
bool key_find(const char *name, struct key *out);

/* The rows by position, sorted by name. */
size_t key_count(void); /* for tests */
void key_at(size_t position, struct key *out);

/* "string", "bool", "int", "long", "double", "size", "time", "list". */
const char *key_type_name(enum key_type type);

/*
 * Warn that setting @name, or a key with this older spelling, has no effect on a native application, with the reason:
 * once for each key in the life of the process. Does nothing for used and unknown keys. Any thread.
 */
void key_warn_unused(const char *name);

/*
 * Returns the key of the table that the unknown key @name probably means, because it differs in one or two characters,
 * or NULL. NULL also for keys of the table, their older spellings, and keys that do not begin with "spark.".
 */
const char *key_suggestion(const char *name);

/* Warn with key_suggestion about @name: once for each name in the life of the process. Any thread. */
void key_warn_misspelled(const char *name);
