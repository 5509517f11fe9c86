/*
 * See names.h.
 */
#include "ivy/names.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdarg.h>
#include <stdio.h>

void names_deinit(struct names *n)
{
        arena_deinit(&n->arena);
        free(n->slots);
        *n = NAMES_INIT;
}

const char *names_copy(struct names *n, const char *text)
{
        return text ? arena_copy(&n->arena, text, strlen(text)) : NULL;
}

const char *names_printf(struct names *n, const char *format, ...)
{
        va_list args, again;
        va_start(args, format);
        va_copy(again, args);
        int len = vsnprintf(NULL, 0, format, args);
        char *text = arena_alloc(&n->arena, (size_t)len + 1);
        vsnprintf(text, (size_t)len + 1, format, again);
        va_end(again);
        va_end(args);
        return text;
}

/* Both kinds of entry: the text is found through `text_of`. A module's text has no ';', a revision's has one. */
struct name_entry {
        const char *text;
        void *name;
};

static size_t names_hash(const char *text)
{
        size_t h = 14695981039346656037ULL;
        for (; *text; text++)
                h = (h ^ (unsigned char)*text) * 1099511628211ULL;
        return h;
}

static void **names_find_slot(struct names *n, const char *text)
{
        size_t at = names_hash(text) & (n->n_slots - 1);
        while (n->slots[at] && strcmp(((struct name_entry *)n->slots[at])->text, text) != 0)
                at = (at + 1) & (n->n_slots - 1);
        return &n->slots[at];
}

static void **names_slot_for(struct names *n, const char *text)
{
        if (2 * (n->count + 1) > n->n_slots) {
                void **old = n->slots;
                size_t n_old = n->n_slots;
                n->n_slots = n_old ? 2 * n_old : 256;
                n->slots = new_array(void *, n->n_slots);
                for (size_t i = 0; i < n_old; i++)
                        if (old[i])
                                *names_find_slot(n, ((struct name_entry *)old[i])->text) = old[i];
                free(old);
        }
        return names_find_slot(n, text);
}

static void *names_keep(struct names *n, void **slot, const char *text, void *name)
{
        struct name_entry *e = arena_alloc(&n->arena, sizeof(*e));
        *e = (struct name_entry){text, name};
        *slot = e;
        n->count++;
        return name;
}

struct module_name *names_module(struct names *n, const char *organisation, const char *name)
{
        _cleanup_free_ char *text = mem_printf("%s#%s", organisation, name);
        void **slot = names_slot_for(n, text);
        if (*slot)
                return ((struct name_entry *)*slot)->name;
        struct module_name *m = arena_alloc(&n->arena, sizeof(*m));
        *m = (struct module_name){names_copy(n, organisation), names_copy(n, name), names_copy(n, text)};
        return names_keep(n, slot, m->text, m);
}

struct revision_name *names_revision(struct names *n, struct module_name *module, const char *revision)
{
        _cleanup_free_ char *inner = NULL;
        size_t len = strlen(revision);
        if (len >= 2 && revision[0] == '[' && revision[len - 1] == ']' && !strchr(revision, ','))
                revision = inner = mem_strndup(revision + 1, len - 2);
        _cleanup_free_ char *text = mem_printf("%s;%s", module->text, revision);
        /* The key differs from that of a module whose name has a ';'. */
        _cleanup_free_ char *key = mem_printf(";%s", text);
        void **slot = names_slot_for(n, key);
        if (*slot)
                return ((struct name_entry *)*slot)->name;
        struct revision_name *r = arena_alloc(&n->arena, sizeof(*r));
        *r = (struct revision_name){module, names_copy(n, revision), names_copy(n, text)};
        return names_keep(n, slot, names_copy(n, key), r);
}

void coordinates_deinit(struct coordinates *c)
{
        for (size_t i = 0; i < c->len; i++) {
                free(c->data[i].group);
                free(c->data[i].artifact);
                free(c->data[i].version);
        }
        vec_deinit(c);
}

static bool names_blank(const char *text)
{
        return text[strspn(text, " \t\r\n\f\v")] == '\0';
}

/* Splits at ':' as Java does: drops empty parts at the end. The parts point into @text, which is modified. */
static size_t names_split_colons(char *text, char *parts[4])
{
        size_t len = strlen(text), n = 0;
        while (len > 0 && text[len - 1] == ':')
                text[--len] = '\0';
        for (char *at = text; at && n < 4; n++) {
                parts[n] = at;
                at = strchr(at, ':');
                if (at)
                        *at++ = '\0';
        }
        return n;
}

static int names_parse_one(const char *text, struct coordinates *c, struct fst_error *error)
{
        static const char *const fields[] = {"groupId", "artifactId", "version"};
        _cleanup_free_ char *copy = mem_strdup(text);
        char *parts[4];
        for (char *p = copy; *p; p++)
                if (*p == '/')
                        *p = ':';
        if (names_split_colons(copy, parts) != 3)
                return error_set(error, -EINVAL,
                                 "requirement failed: Provided Maven Coordinates must be in the form "
                                 "'groupId:artifactId:version'. The coordinate provided is: %s",
                                 text);
        for (size_t i = 0; i < 3; i++)
                if (names_blank(parts[i]))
                        return error_set(error, -EINVAL,
                                         "requirement failed: The %s cannot be null or be whitespace. The %s provided "
                                         "is: %s",
                                         fields[i], fields[i], parts[i]);
        vec_push(c, (struct coordinate){mem_strdup(parts[0]), mem_strdup(parts[1]), mem_strdup(parts[2])});
        return 0;
}

int coordinates_parse(const char *list, struct coordinates *c, struct fst_error *error)
{
        size_t end = strlen(list), before = c->len;
        while (end > 0 && list[end - 1] == ',')
                end--;
        for (size_t at = 0; at <= end;) {
                size_t n = strcspn(list + at, ",");
                n = MIN(n, end - at);
                _cleanup_free_ char *one = mem_strndup(list + at, n);
                int r = names_parse_one(one, c, error);
                if (r < 0) {
                        while (c->len > before) {
                                struct coordinate *last = &c->data[--c->len];
                                free(last->group);
                                free(last->artifact);
                                free(last->version);
                        }
                        return r;
                }
                at += n + 1;
        }
        return 0;
}

bool names_glob(const char *pattern, const char *text)
{
        const char *star = NULL, *after = NULL;
        while (*text) {
                if (*pattern == '*') {
                        star = ++pattern;
                        after = text;
                } else if (*pattern == *text || *pattern == '?') {
                        pattern++;
                        text++;
                } else if (star) {
                        pattern = star;
                        text = ++after;
                } else {
                        return false;
                }
        }
        return pattern[strspn(pattern, "*")] == '\0';
}
