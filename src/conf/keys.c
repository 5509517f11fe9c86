/*
 * The table of configuration keys; see keys.h.
 *
 * Each .inc file is read twice: once to declare a struct with one character array per row, once to fill it.
 * offsetof then gives each row's place as a constant, which needs no relocation. A row's six texts follow one
 * another, each with its NUL.
 *
 * Invariant: names ascend within a file and from file to file in the order below; keys_test checks it.
 */
#include "conf/keys.h"

#include "base/mem.h"

#include <assert.h>

/* How a row says that there is no default, or that it is another key's value. */
#define NONE "\1"
#define AS(key) "\2" key

#define ROW(key, value, since, old, doc) key "\0" value "\0" since "\0" old "\0" doc
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#define KEY(key, type, unit, value, since, old, doc)                                                                   \
        char GLUE(FILE_LETTER, __LINE__)[sizeof(ROW(key, value, since, old, doc))];
static const struct rows {
#include "conf/keys_all.inc"
} rows = {
#undef KEY
#define KEY(key, type, unit, value, since, old, doc) ROW(key, value, since, old, doc),
#include "conf/keys_all.inc"
};
#undef KEY

struct place {
        uint32_t offset;
        uint8_t type;
        uint8_t unit;
};

#define KEY(key, type, unit, value, since, old, doc)                                                                   \
        {(uint32_t)offsetof(struct rows, GLUE(FILE_LETTER, __LINE__)), KEY_##type, UNIT_##unit},
static const struct place places[] = {
#include "conf/keys_all.inc"
};
#undef KEY

static const char *name_at(size_t position)
{
        return (const char *)&rows + places[position].offset;
}

size_t key_count(void)
{
        return ARRAY_SIZE(places);
}

void key_at(size_t position, struct key *out)
{
        assert(position < ARRAY_SIZE(places));
        const char *text[5];
        const char *next = name_at(position);
        for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
                text[i] = next;
                next += strlen(next) + 1;
        }
        *out = (struct key){
                .name = text[0],
                .value = text[1],
                .since = text[2],
                .old = text[3],
                .doc = text[4],
                .type = (enum key_type)places[position].type,
                .unit = (enum unit)places[position].unit,
        };
        if (*out->value == '\2')
                out->same_as = out->value + 1;
        if (*out->value == '\1' || *out->value == '\2')
                out->value = NULL;
}

bool key_find(const char *name, struct key *out)
{
        size_t low = 0, high = ARRAY_SIZE(places);
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(name, name_at(middle));
                if (order == 0) {
                        key_at(middle, out);
                        return true;
                }
                if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return false;
}

const char *key_type_name(enum key_type type)
{
        static const char names[][8] = {
                [KEY_STRING] = "string", [KEY_BOOL] = "bool",  [KEY_INT] = "int",   [KEY_LONG] = "long",
                [KEY_DOUBLE] = "double", [KEY_BYTES] = "size", [KEY_TIME] = "time", [KEY_LIST] = "list",
        };
        return names[type];
}
