/* See block_name.h. A name has one spelling: no signs, no leading zeros, no suffix. */
#include "store/block_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
        const char *before, *between; /* NULL: there is one number */
        int64_t most;                 /* maximum of the first number */
} forms[] = {
        [BLOCK_RDD] = {"rdd_", "_", INT32_MAX},
        [BLOCK_BROADCAST] = {"broadcast_", "_piece", INT64_MAX},
        [BLOCK_TASK_RESULT] = {"taskresult_", NULL, INT64_MAX},
        [BLOCK_PARALLEL] = {"parallel_", "_", INT32_MAX},
};

static bool parse_name_number(const char **at, int64_t most, int64_t *out)
{
        const char *p = *at;
        uint64_t x = 0;
        if (*p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
                return false;
        for (; *p >= '0' && *p <= '9'; p++) {
                if (x > (uint64_t)most / 10)
                        return false;
                x = x * 10 + (uint64_t)(*p - '0');
                if (x > (uint64_t)most)
                        return false;
        }
        *out = (int64_t)x;
        *at = p;
        return true;
}

static bool skip_name_text(const char **at, const char *text)
{
        size_t n = strlen(text);
        if (strncmp(*at, text, n) != 0)
                return false;
        *at += n;
        return true;
}

bool block_name_parse(const char *text, struct block_name *name)
{
        for (int kind = BLOCK_RDD; kind <= BLOCK_PARALLEL; kind++) {
                const char *at = text;
                int64_t id, part = 0;
                if (!skip_name_text(&at, forms[kind].before) || !parse_name_number(&at, forms[kind].most, &id) ||
                    (forms[kind].between &&
                     (!skip_name_text(&at, forms[kind].between) || !parse_name_number(&at, INT32_MAX, &part))) ||
                    *at)
                        continue;
                *name = (struct block_name){(enum block_kind)kind, id, (int32_t)part};
                return true;
        }
        return false;
}

const char *block_name_format(struct block_name name, char out[static BLOCK_NAME_SIZE])
{
        if (name.kind < BLOCK_RDD || name.kind > BLOCK_PARALLEL)
                snprintf(out, BLOCK_NAME_SIZE, "none");
        else if (forms[name.kind].between)
                snprintf(out, BLOCK_NAME_SIZE, "%s%" PRId64 "%s%" PRId32, forms[name.kind].before, name.id,
                         forms[name.kind].between, name.part);
        else
                snprintf(out, BLOCK_NAME_SIZE, "%s%" PRId64, forms[name.kind].before, name.id);
        return out;
}
