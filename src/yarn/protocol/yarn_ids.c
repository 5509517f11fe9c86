/* See yarn_ids.h. */
#include "yarn/protocol/yarn_ids.h"

#include "base/error.h"
#include "base/hash_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_SHIFT 40
#define NUMBER_MASK (((int64_t)1 << EPOCH_SHIFT) - 1)

const char *yarn_application_text(struct yarn_application_id id, char text[static YARN_ID_TEXT])
{
        snprintf(text, YARN_ID_TEXT, "application_%" PRId64 "_%04" PRId32, id.cluster_timestamp, id.id);
        return text;
}

const char *yarn_container_text(struct yarn_container_id id, char text[static YARN_ID_TEXT])
{
        char epoch[24] = "";
        if (id.id >> EPOCH_SHIFT > 0)
                snprintf(epoch, sizeof(epoch), "e%02" PRId64 "_", id.id >> EPOCH_SHIFT);
        snprintf(text, YARN_ID_TEXT, "container_%s%" PRId64 "_%04" PRId32 "_%02" PRId32 "_%06" PRId64, epoch,
                 id.application.cluster_timestamp, id.application.id, id.attempt, id.id & NUMBER_MASK);
        return text;
}

/* Reads @before (unless it is NUL) and a number of at most @most; moves *@p behind it. False: the text goes on
 * otherwise. */
static bool id_number(const char **p, char before, int64_t most, int64_t *out)
{
        char *end;
        if (before && *(*p)++ != before)
                return false;
        if (!isdigit((unsigned char)**p))
                return false;
        errno = 0;
        const long long value = strtoll(*p, &end, 10);
        if (errno || value > most)
                return false;
        *p = end;
        *out = value;
        return true;
}

static bool id_prefix(const char **p, const char *prefix)
{
        const size_t len = strlen(prefix);
        if (strncmp(*p, prefix, len) != 0)
                return false;
        *p += len;
        return true;
}

int yarn_application_parse(const char *text, struct yarn_application_id *out, struct fst_error *error)
{
        const char *p = text;
        int64_t timestamp, id;
        if (!id_prefix(&p, "application_") || !id_number(&p, '\0', INT64_MAX, &timestamp) ||
            !id_number(&p, '_', INT32_MAX, &id) || *p)
                return error_set(error, -EINVAL,
                                 "\"%s\" is not a valid application id (write application_TIMESTAMP_NUMBER)", text);
        *out = (struct yarn_application_id){.cluster_timestamp = timestamp, .id = (int32_t)id};
        return 0;
}

int yarn_container_parse(const char *text, struct yarn_container_id *out, struct fst_error *error)
{
        const char *p = text;
        int64_t epoch = 0, timestamp, application, attempt, number;
        bool valid = id_prefix(&p, "container_");
        if (valid && id_prefix(&p, "e"))
                valid = id_number(&p, '\0', INT32_MAX >> 8, &epoch) && *p++ == '_';
        if (!valid || !id_number(&p, '\0', INT64_MAX, &timestamp) || !id_number(&p, '_', INT32_MAX, &application) ||
            !id_number(&p, '_', INT32_MAX, &attempt) || !id_number(&p, '_', NUMBER_MASK, &number) || *p)
                return error_set(error, -EINVAL,
                                 "\"%s\" is not a valid container id (write "
                                 "container_TIMESTAMP_APPLICATION_ATTEMPT_NUMBER)",
                                 text);
        *out = (struct yarn_container_id){.application = {.cluster_timestamp = timestamp, .id = (int32_t)application},
                                          .attempt = (int32_t)attempt,
                                          .id = epoch << EPOCH_SHIFT | number};
        return 0;
}

bool yarn_container_is_master(struct yarn_container_id id)
{
        return (id.id & (((int64_t)1 << EPOCH_SHIFT) - 1)) == 1;
}

bool yarn_container_ids_are_equal(struct yarn_container_id a, struct yarn_container_id b)
{
        return a.id == b.id && a.attempt == b.attempt && a.application.id == b.application.id &&
               a.application.cluster_timestamp == b.application.cluster_timestamp;
}

uint64_t yarn_container_hash(struct yarn_container_id id)
{
        return object_hash_number((uint64_t)id.id ^ (uint64_t)id.attempt << 52);
}
