/*
 * The table of configuration keys; see keys.h.
 *
 * Each .inc file is included twice: once to declare a struct with one character array for each row, once to fill it.
 * offsetof then gives each row's position as a constant, which needs no relocation. The texts that a program looks up
 * are in one block, each with its NUL; those that people read are in another, which most processes never load. KEY is a
 * row that the program reads, JVM_KEY one that only a JVM reads, PYTHON_KEY one that only pyspark reads, UNUSED_KEY one
 * without effect, with the reason as its last text.
 *
 * Invariant: names ascend within a file and across files in the order below; keys_test checks it.
 */
#include "conf/keys.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/deprecated.h"
#include "conf/sorted_names.h"
#include "text/edit_distance.h"

#include <assert.h>
#include <pthread.h>

/* Stands for no default, or for another key's value. */
#define NONE "\1"
#define AS(key) "\2" key

#define NAMES(key, value, old) key "\0" value "\0" old
#define MEANING(since, doc, reason) since "\0" doc "\0" reason
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#define KEY(key, type, unit, value, since, old, doc)                                                                   \
        ENTRY(key, KEY_##type, UNIT_##unit, value, since, old, doc, "", KEY_USED)
#define JVM_KEY(key, type, unit, value, since, old, doc)                                                               \
        ENTRY(key, KEY_##type, UNIT_##unit, value, since, old, doc, "", KEY_JVM_ONLY)
#define PYTHON_KEY(key, type, unit, value, since, old, doc)                                                            \
        ENTRY(key, KEY_##type, UNIT_##unit, value, since, old, doc, "", KEY_USED)
#define UNUSED_KEY(key, type, unit, value, since, old, doc, reason)                                                    \
        ENTRY(key, KEY_##type, UNIT_##unit, value, since, old, doc, reason, KEY_NOT_IMPLEMENTED)

#define ENTRY(key, type, unit, value, since, old, doc, reason, status)                                                 \
        char GLUE(FILE_LETTER, __LINE__)[sizeof(NAMES(key, value, old))];
static const struct key_names {
#include "conf/keys_all.inc"
} all_names = {
#undef ENTRY
#define ENTRY(key, type, unit, value, since, old, doc, reason, status) NAMES(key, value, old),
#include "conf/keys_all.inc"
};
#undef ENTRY

#define ENTRY(key, type, unit, value, since, old, doc, reason, status)                                                 \
        char GLUE(FILE_LETTER, __LINE__)[sizeof(MEANING(since, doc, reason))];
static const struct key_meanings {
#include "conf/keys_all.inc"
} all_meanings = {
#undef ENTRY
#define ENTRY(key, type, unit, value, since, old, doc, reason, status) MEANING(since, doc, reason),
#include "conf/keys_all.inc"
};
#undef ENTRY

struct key_row {
        uint32_t names, meaning; /* positions in the blocks */
        uint16_t doc, reason;    /* positions after the meaning's */
        uint8_t name_size, value_size;
        bool has_old;
        uint8_t type;
        uint8_t unit;
        uint8_t status;
};

#define ENTRY(key, type, unit, value, since, old, doc, reason, status)                                                 \
        {(uint32_t)offsetof(struct key_names, GLUE(FILE_LETTER, __LINE__)),                                            \
         (uint32_t)offsetof(struct key_meanings, GLUE(FILE_LETTER, __LINE__)),                                         \
         sizeof(since),                                                                                                \
         sizeof(since) + sizeof(doc),                                                                                  \
         sizeof(key),                                                                                                  \
         sizeof(value),                                                                                                \
         sizeof(old) > 1,                                                                                              \
         type,                                                                                                         \
         unit,                                                                                                         \
         status},
static const struct key_row rows[] = {
#include "conf/keys_all.inc"
};
#undef ENTRY

static bool warned[ARRAY_SIZE(rows)]; /* atomic */

static const char *key_name_at(size_t position)
{
        return (const char *)&all_names + rows[position].names;
}

size_t key_count(void)
{
        return ARRAY_SIZE(rows);
}

void key_at(size_t position, struct key *out)
{
        assert(position < ARRAY_SIZE(rows));
        const struct key_row *row = &rows[position];
        const char *name = key_name_at(position), *meaning = (const char *)&all_meanings + row->meaning;
        *out = (struct key){
                .name = name,
                .value = name + row->name_size,
                .since = meaning,
                .old = name + row->name_size + row->value_size,
                .doc = meaning + row->doc,
                .reason = meaning + row->reason,
                .type = (enum key_type)row->type,
                .unit = (enum unit)row->unit,
                .status = (enum key_status)row->status,
        };
        if (*out->value == '\2')
                out->same_as = out->value + 1;
        if (*out->value == '\1' || *out->value == '\2')
                out->value = NULL;
}

/* Returns the position of the row of @name, or -1. */
static ptrdiff_t key_position(const char *name)
{
        return sorted_names_find(name, ARRAY_SIZE(rows), key_name_at);
}

bool key_find(const char *name, struct key *out)
{
        ptrdiff_t position = key_position(name);
        if (position >= 0)
                key_at((size_t)position, out);
        return position >= 0;
}

/* Returns the position of the row with the older spelling @name, or -1. */
static ptrdiff_t key_position_of_older(const char *name)
{
        struct key key;
        size_t length = strlen(name);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                if (!rows[i].has_old)
                        continue;
                key_at(i, &key);
                for (const char *old = key.old; *old; old += strcspn(old, " "), old += *old == ' ')
                        if (strcspn(old, " ") == length && strncmp(old, name, length) == 0)
                                return (ptrdiff_t)i;
        }
        return -1;
}

void key_warn_unused(const char *name)
{
        struct key key;
        ptrdiff_t position = key_position(name);
        if (position < 0)
                position = key_position_of_older(name);
        if (position < 0 || rows[position].status == KEY_USED ||
            __atomic_exchange_n(&warned[position], true, __ATOMIC_RELAXED))
                return;
        key_at((size_t)position, &key);
        log_warn("SparkConf", "%s has no effect: %s", name,
                 key.status == KEY_JVM_ONLY ? "it configures a JVM, and this application runs without one"
                                            : key.reason);
}

const char *key_suggestion(const char *name)
{
        const size_t len = strlen(name);
        struct deprecated old;
        const char *nearest = NULL;
        if (!text_starts_with(name, "spark.") || key_position(name) >= 0 || key_position_of_older(name) >= 0 ||
            deprecated_find(name, &old))
                return NULL;
        int limit = edit_distance_limit(len);
        for (size_t i = 0; i < ARRAY_SIZE(rows) && limit > 0; i++) {
                int distance = edit_distance(name, len, key_name_at(i), rows[i].name_size - 1u, limit);
                if (distance <= limit) {
                        nearest = key_name_at(i);
                        limit = distance - 1;
                }
        }
        return nearest;
}

void key_warn_misspelled(const char *name)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static struct string_list told;
        const char *meant = key_suggestion(name);
        if (!meant)
                return;
        pthread_mutex_lock(&lock);
        bool repeated = false;
        for (size_t i = 0; i < told.len && !repeated; i++)
                repeated = strcmp(told.data[i], name) == 0;
        if (!repeated)
                string_list_add(&told, name);
        pthread_mutex_unlock(&lock);
        if (!repeated)
                log_warn("SparkConf", "%s is not a known key. Did you mean %s?", name, meant);
}

const char *key_type_name(enum key_type type)
{
        static const char names[][8] = {
                [KEY_STRING] = "string", [KEY_BOOL] = "bool",  [KEY_INT] = "int",   [KEY_LONG] = "long",
                [KEY_DOUBLE] = "double", [KEY_BYTES] = "size", [KEY_TIME] = "time", [KEY_LIST] = "list",
        };
        return names[type];
}
