/*
 * Deprecated keys; see deprecated.h.
 *
 * Like the table of keys (keys.c), the rows are sorted text with offsets. If the table of keys still reads an older
 * spelling, its row here names the newer key, even where Spark dropped it: the user's setting keeps working.
 */
#include "conf/deprecated.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/sorted_names.h"

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define TEXT(key, since, instead, sentence) key "\0" since "\0" instead "\0" sentence

#define KEY(key, since, instead, sentence) char GLUE(d, __LINE__)[sizeof(TEXT(key, since, instead, sentence))];
static const struct deprecated_text {
#include "conf/deprecated.inc"
} rows = {
#undef KEY
#define KEY(key, since, instead, sentence) TEXT(key, since, instead, sentence),
#include "conf/deprecated.inc"
};
#undef KEY

#define KEY(key, since, instead, sentence) (uint16_t) offsetof(struct deprecated_text, GLUE(d, __LINE__)),
static const uint16_t offsets[] = {
#include "conf/deprecated.inc"
};
#undef KEY

static bool warned[ARRAY_SIZE(offsets)]; /* atomic */

static const char *deprecated_key_at(size_t position)
{
        return (const char *)&rows + offsets[position];
}

/* Returns the position of @key, or -1. */
static ptrdiff_t deprecated_position(const char *key)
{
        return sorted_names_find(key, ARRAY_SIZE(offsets), deprecated_key_at);
}

bool deprecated_find(const char *key, struct deprecated *out)
{
        ptrdiff_t position = deprecated_position(key);
        if (position < 0)
                return false;
        out->key = deprecated_key_at((size_t)position);
        out->since = out->key + strlen(out->key) + 1;
        out->instead = out->since + strlen(out->since) + 1;
        out->sentence = out->instead + strlen(out->instead) + 1;
        if (!*out->instead)
                out->instead = NULL;
        return true;
}

void deprecated_put_warning(struct buf *out, const char *key)
{
        struct deprecated found;
        if (!deprecated_find(key, &found)) {
                if (strncmp(key, "spark.akka.", 11) == 0 || strncmp(key, "spark.ssl.akka.", 15) == 0)
                        buf_printf(out,
                                   "The configuration key %s is not supported any more because Spark doesn't use Akka "
                                   "since 2.0",
                                   key);
                return;
        }
        buf_printf(out,
                   "The configuration key '%s' has been deprecated as of Spark %s and may be removed in the future. ",
                   key, found.since);
        if (found.instead)
                buf_printf(out, "Please use the new key '%s' instead.", found.instead);
        else
                buf_puts(out, found.sentence);
}

void deprecated_warn(const char *key)
{
        ptrdiff_t position = deprecated_position(key);
        if (position >= 0 && __atomic_exchange_n(&warned[position], true, __ATOMIC_RELAXED))
                return;
        if (position < 0 && strncmp(key, "spark.akka.", 11) != 0 && strncmp(key, "spark.ssl.akka.", 15) != 0)
                return;
        _cleanup_(buf_deinit) struct buf warning = BUF_INIT;
        deprecated_put_warning(&warning, key);
        log_warn("SparkConf", "%s", buf_text(&warning));
}
