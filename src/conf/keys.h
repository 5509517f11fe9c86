/*
 * The table of configuration keys: name, type, unit, default, the version that introduced it, older spellings, meaning,
 * and whether setting it has an effect. scripts/configuration-page writes docs/configuration.md from it.
 *
 * The rows lie in conf/keys_*.inc, sorted by name. They become one read-only block of text and an array of
 * offsets into it, so that a process that only wants its version neither relocates nor touches them. Names,
 * types, units and defaults are those of Spark 4; keys that it dropped stay with what they last were.
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
        KEY_LIST,  /* separated by commas, blanks around each and empty ones dropped */
};

/* What setting a key does. tests/configuration_test.py compares it with the sources. */
enum key_status {
        KEY_USED,            /* the program reads it */
        KEY_JVM_ONLY,        /* it configures a JVM: it is passed on to applications that run in one */
        KEY_NOT_IMPLEMENTED, /* nothing reads it */
};

/* One row. Every pointer is to constant text. */
struct key {
        const char *name;
        const char *value;   /* the default; NULL where there is none, or where it is that of @same_as */
        const char *same_as; /* the key whose value this one has unless it is set; NULL if none */
        const char *since;   /* Spark's version, or "firesteel" */
        const char *old;     /* older spellings, separated by blanks, newest first; "" if none */
        const char *doc;
        const char *reason; /* why a KEY_NOT_IMPLEMENTED key has no effect, and the remedy if there is one; else "" */
        enum key_type type;
        enum unit unit;
        enum key_status status;
};

/* Look @name up; false if the table does not have it. Neither allocates nor locks. */
bool key_find(const char *name, struct key *out);

/* The rows by position, sorted by name, for listing them all. */
size_t key_count(void);
void key_at(size_t position, struct key *out);

/* "string", "bool", "int", "long", "double", "size", "time", "list". */
const char *key_type_name(enum key_type type);

/* "used", "JVM only", "not implemented". */
const char *key_status_name(enum key_status status);

/*
 * Warn that setting @name, or a key that it is an older spelling of, has no effect on a native application, with the
 * reason: once for each key in the life of the process. Nothing for keys that are used or unknown. From any thread.
 */
void key_warn_unused(const char *name);
