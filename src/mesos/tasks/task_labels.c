/* See task_labels.h. */
#include "mesos/tasks/task_labels.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "mesos/tasks/task_parts.h"

/* The length of @text up to the first @separator without a backslash before it, or to its end. */
static size_t label_part_length(const char *text, size_t len, char separator)
{
        for (size_t i = 0; i < len; i++)
                if (text[i] == separator && (i == 0 || text[i - 1] != '\\'))
                        return i;
        return len;
}

/* A copy of @text in which \, and \: are a comma and a colon. */
static char *label_unescape(struct arena *arena, const char *text, size_t len)
{
        char *out = arena_copy(arena, text, len), *end = out;
        for (size_t i = 0; i < len; i++) {
                if (text[i] == '\\' && i + 1 < len && (text[i + 1] == ',' || text[i + 1] == ':'))
                        i++;
                *end++ = text[i];
        }
        *end = 0;
        return out;
}

static int label_parse(struct arena *arena, const char *text, size_t len, Firesteel__Mesos__Label **out,
                       struct fst_error *error)
{
        const size_t key = label_part_length(text, len, ':');
        const size_t value = key < len ? len - key - 1 : 0;
        if (value == 0 || label_part_length(text + key + 1, value, ':') < value)
                return error_set(error, -EINVAL,
                                 "Malformed label: %.*s (labels are KEY:VALUE,KEY:VALUE; write \\: and \\, for a colon "
                                 "and a comma in them)",
                                 (int)MIN(len, (size_t)200), text);
        Firesteel__Mesos__Label *label =
                mesos_message_new(arena, Firesteel__Mesos__Label, firesteel__mesos__label__init);
        label->key = label_unescape(arena, text, key);
        label->value = label_unescape(arena, text + key + 1, value);
        *out = label;
        return 0;
}

int task_labels_parse(struct arena *arena, const char *text, Firesteel__Mesos__Labels **out, struct fst_error *error)
{
        VEC(Firesteel__Mesos__Label *) list = {0};
        size_t left = text ? strlen(text) : 0;
        int r = 0;
        while (left > 0 && text[left - 1] == ',' && (left == 1 || text[left - 2] != '\\'))
                left--; /* as Java, which drops empty elements at the end */
        for (size_t len; r == 0 && left > 0; text += len, left -= len) {
                Firesteel__Mesos__Label *label = NULL;
                len = label_part_length(text, left, ',');
                r = label_parse(arena, text, len, &label, error);
                if (r == 0)
                        vec_push(&list, label);
                len += len < left;
        }
        if (r == 0) {
                *out = mesos_message_new(arena, Firesteel__Mesos__Labels, firesteel__mesos__labels__init);
                (*out)->n_labels = list.len;
                (*out)->labels = list.len ? (void *)arena_copy(arena, list.data, list.len * sizeof(*list.data)) : NULL;
        }
        vec_deinit(&list);
        return r;
}
