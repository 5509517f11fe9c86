/*
 * Reads pools with expat, and tracks the element path down to a pool's properties. As in Spark, the texts of repeated
 * properties are concatenated ("1" and "2" make 12), the case of the mode does not matter, a number may have a sign,
 * and other elements are ignored.
 *
 * Invariant: depth counts open elements. pool_depth is that of the innermost open pool, or 0.
 */
#include "sched/tasks/pool_file.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"

#include <ctype.h>
#include <expat.h>
#include <limits.h>
#include <string.h>

#define LOG "FairSchedulableBuilder"

enum property { PROPERTY_MODE, PROPERTY_MIN_SHARE, PROPERTY_WEIGHT, N_PROPERTIES };

static const char *const property_names[N_PROPERTIES] = {
        [PROPERTY_MODE] = "schedulingMode",
        [PROPERTY_MIN_SHARE] = "minShare",
        [PROPERTY_WEIGHT] = "weight",
};

/* A pool whose element is open. */
struct open_pool {
        int depth;
        size_t index; /* index in the pools, in the order of their opening tags */
        struct buf text[N_PROPERTIES];
};

struct pool_file_reader {
        XML_Parser parser;
        const char *file;
        int depth;
        int property; /* property whose text is read, -1 if none */
        int property_depth;
        bool entity;
        VEC(struct open_pool) open;
        VEC(struct pool_spec) pools;
};

static void pool_file_start_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
        struct pool_file_reader *r = data;

        r->depth++;
        if (strcmp(name, "pool") == 0) {
                const char *pool = "";

                for (int i = 0; attributes[i]; i += 2)
                        if (strcmp(attributes[i], "name") == 0)
                                pool = attributes[i + 1];
                vec_push(&r->open, (struct open_pool){.depth = r->depth, .index = r->pools.len});
                vec_push(&r->pools, (struct pool_spec){.name = mem_strdup(pool), .weight = 1});
                return;
        }
        if (r->property >= 0 || r->open.len == 0 || r->open.data[r->open.len - 1].depth != r->depth - 1)
                return;
        for (int i = 0; i < N_PROPERTIES; i++)
                if (strcmp(name, property_names[i]) == 0) {
                        r->property = i;
                        r->property_depth = r->depth;
                }
}

static void pool_file_characters(void *data, const XML_Char *text, int length)
{
        struct pool_file_reader *r = data;

        if (r->property >= 0 && r->open.len > 0)
                buf_append(&r->open.data[r->open.len - 1].text[r->property], text, (size_t)length);
}

/* Returns the text without surrounding white space. */
static char *pool_file_trimmed(struct buf *b)
{
        char *text = b->data ? b->data : "";
        size_t length = b->len;

        while (length > 0 && isspace((unsigned char)*text)) {
                text++;
                length--;
        }
        while (length > 0 && isspace((unsigned char)text[length - 1]))
                length--;
        return mem_strndup(text, length);
}

static void pool_file_read_mode(const struct pool_file_reader *r, struct pool_spec *pool, struct buf *text)
{
        _cleanup_free_ char *mode = pool_file_trimmed(text);

        for (char *c = mode; *c; c++)
                *c = (char)toupper((unsigned char)*c);
        if (strcmp(mode, "FAIR") == 0)
                pool->mode = SCHEDULING_FAIR;
        else if (strcmp(mode, "FIFO") == 0)
                pool->mode = SCHEDULING_FIFO;
        else
                log_warn(LOG,
                         "Unsupported schedulingMode: %s found in Fair Scheduler configuration file: %s, using the "
                         "default schedulingMode: FIFO for pool: %s",
                         mode, r->file, pool->name);
}

static void pool_file_read_int(const struct pool_file_reader *r, const struct pool_spec *pool, enum property property,
                               struct buf *text, int *value)
{
        _cleanup_free_ char *data = pool_file_trimmed(text);
        char *end;

        errno = 0;
        long number = strtol(data, &end, 10);

        if (*data && !*end && errno == 0 && number >= INT_MIN && number <= INT_MAX && !isspace((unsigned char)*data)) {
                *value = (int)number;
                return;
        }
        log_warn(LOG,
                 "Error while loading fair scheduler configuration from %s: %s is blank or invalid: %s, using the "
                 "default %s: %d for pool: %s",
                 r->file, property_names[property], data, property_names[property], *value, pool->name);
}

static void close_pool(struct pool_file_reader *r)
{
        struct open_pool *open = &r->open.data[r->open.len - 1];
        struct pool_spec *pool = &r->pools.data[open->index];

        pool_file_read_mode(r, pool, &open->text[PROPERTY_MODE]);
        pool_file_read_int(r, pool, PROPERTY_MIN_SHARE, &open->text[PROPERTY_MIN_SHARE], &pool->min_share);
        pool_file_read_int(r, pool, PROPERTY_WEIGHT, &open->text[PROPERTY_WEIGHT], &pool->weight);
        for (int i = 0; i < N_PROPERTIES; i++)
                buf_deinit(&open->text[i]);
        r->open.len--;
}

static void pool_file_end_element(void *data, const XML_Char *name)
{
        struct pool_file_reader *r = data;

        if (r->open.len > 0 && r->open.data[r->open.len - 1].depth == r->depth)
                close_pool(r);
        if (r->property >= 0 && r->property_depth == r->depth)
                r->property = -1;
        r->depth--;
}

static void pool_file_entity_declared(void *data, const XML_Char *name, int is_parameter, const XML_Char *value,
                                      int length, const XML_Char *base, const XML_Char *system,
                                      const XML_Char *public_id, const XML_Char *notation)
{
        struct pool_file_reader *r = data;

        r->entity = true;
        XML_StopParser(r->parser, XML_FALSE);
}

static int pool_file_parse_text(struct pool_file_reader *r, const char *text, size_t length, struct fst_error *error)
{
        if (length > POOL_FILE_MAX)
                return error_set(error, -EINVAL,
                                 "Error while building the fair scheduler pools from %s: it has %zu bytes, more than "
                                 "%d; is it the right file?",
                                 r->file, length, POOL_FILE_MAX);
        XML_SetUserData(r->parser, r);
        XML_SetElementHandler(r->parser, pool_file_start_element, pool_file_end_element);
        XML_SetCharacterDataHandler(r->parser, pool_file_characters);
        XML_SetEntityDeclHandler(r->parser, pool_file_entity_declared);
        if (XML_Parse(r->parser, text, (int)length, XML_TRUE) == XML_STATUS_OK)
                return 0;
        return error_set(error, -EINVAL, "Error while building the fair scheduler pools from %s: line %lu: %s", r->file,
                         XML_GetCurrentLineNumber(r->parser),
                         r->entity ? "entity declarations are not accepted; remove the DOCTYPE"
                                   : XML_ErrorString(XML_GetErrorCode(r->parser)));
}

int pool_file_parse(struct pool_file *file, const char *text, size_t length, const char *name, struct fst_error *error)
{
        struct pool_file_reader r = {.file = name, .property = -1, .parser = XML_ParserCreate(NULL)};
        int result;

        if (!r.parser)
                return error_set(error, -ENOMEM, "no memory to read %s", name);
        result = pool_file_parse_text(&r, text, length, error);
        XML_ParserFree(r.parser);
        for (; r.open.len > 0; r.open.len--)
                for (int i = 0; i < N_PROPERTIES; i++)
                        buf_deinit(&r.open.data[r.open.len - 1].text[i]);
        vec_deinit(&r.open);
        struct pool_file read = {.pools = r.pools.data, .n_pools = (int)r.pools.len};

        if (result == 0)
                *file = read;
        else
                pool_file_deinit(&read);
        return result;
}

void pool_file_deinit(struct pool_file *file)
{
        if (!file)
                return;
        for (int i = 0; i < file->n_pools; i++)
                free(file->pools[i].name);
        free(file->pools);
        *file = POOL_FILE_INIT;
}
