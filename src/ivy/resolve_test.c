/* The walk alone: modules are lines of a table, and no file is read. */
#include "ivy/resolve.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/*
 * "name revision: needed needed …", each needed as name:revision, followed by "!" if its own dependencies are excluded.
 */
struct resolve_world {
        struct names names;
        const char *const *lines;
        struct ivy_module *modules[64];
        size_t n;
};

static struct revision_name *id_of(struct resolve_world *w, const char *name, size_t name_len, const char *revision,
                                   size_t len)
{
        char a[64], b[64];
        snprintf(a, sizeof(a), "%.*s", (int)name_len, name);
        snprintf(b, sizeof(b), "%.*s", (int)len, revision);
        return names_revision(&w->names, names_module(&w->names, "g", a), b);
}

static void add_needs(struct resolve_world *w, struct ivy_module *m, const char *text, bool force, const char *to)
{
        for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
                size_t len = strcspn(at, " "), name = strcspn(at, ":");
                bool alone = at[len - 1] == '!';
                struct dependency *d = module_new(&w->names, struct dependency);
                d->of = m;
                d->id = id_of(w, at, name, at + name + 1, len - name - 1 - alone);
                d->force = force;
                d->not_transitive = alone;
                module_add_mapping(&w->names, d, "default", to);
                list_append(&m->dependencies, d);
                at += len;
        }
}

static int find(void *context, const struct dependency *d, struct found *found, struct fst_error *error)
{
        struct resolve_world *w = context;
        for (size_t i = 0; i < w->n; i++)
                if (w->modules[i]->id == d->id) {
                        *found = (struct found){.module = w->modules[i], .searched = true};
                        return 0;
                }
        return error_set(error, -ENOENT, "not found");
}

static void say(void *context, const char *line)
{
}

static bool exists(void *context, const struct node *node, const struct artifact *a)
{
        return true;
}

/* The remaining modules as "name:revision" in order, missing ones with "?". */
static char *outcome(const char *const *lines, const char *asked)
{
        struct resolve_world w = {.n = 0};
        const struct module_source source = {&w, find, say, exists};
        for (size_t i = 0; lines[i]; i++) {
                size_t name = strcspn(lines[i], " "), revision = strcspn(lines[i] + name + 1, ":");
                struct ivy_module *m =
                        module_default(&w.names, id_of(&w, lines[i], name, lines[i] + name + 1, revision));
                m->is_default = false;
                add_needs(&w, m, lines[i] + name + revision + 2, true, "default");
                w.modules[w.n++] = m;
        }
        struct graph g = {.names = &w.names};
        struct ivy_module *root = module_default(&w.names, id_of(&w, "root", 4, "1", 1));
        add_needs(&w, root, asked, false, "default");
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        assert_int_equal(resolve(&g, root, &source, NULL), 0);
        struct nodes all = resolve_nodes(&g);
        for (size_t i = 0; i < all.len; i++) {
                struct node *n = all.data[i];
                if (n->problem)
                        buf_printf(&out, "%s%s:%s?", out.len ? " " : "", n->id->module->name, n->id->revision);
                else if (resolve_artifacts(n, &source))
                        buf_printf(&out, "%s%s:%s", out.len ? " " : "", n->id->module->name,
                                   node_resolved_id(n)->revision);
        }
        nodes_deinit(&all);
        graph_deinit(&g);
        names_deinit(&w.names);
        return buf_steal(&out);
}

static void check(const char *const *lines, const char *asked, const char *expected)
{
        _cleanup_free_ char *is = outcome(lines, asked);
        assert_string_equal(is, expected);
}

static const char *const conflicts[] = {"a 1: x:1", "b 1: x:2", "x 1: old:1", "x 2: new:1", "old 1:", "new 1:", NULL};

static void latest_wins(void **state)
{
        check(conflicts, "a:1 b:1", "a:1 b:1 x:2 new:1");
        check(conflicts, "b:1 a:1", "b:1 a:1 x:2 new:1");
        check(conflicts, "x:1 b:1", "b:1 x:2 new:1");
        check(conflicts, "x:2 a:1", "x:2 a:1 new:1");
}

static void own_choice_wins_below(void **state)
{
        static const char *const lines[] = {"a 1: x:1 b:1", "b 1: x:2", "x 1:", "x 2:", NULL};
        check(lines, "a:1", "a:1 x:1 b:1");
        /* As in Ivy, an evicted node is not visited again when another caller requires it. */
        check(lines, "a:1 b:1", "a:1 b:1 x:1");
        check(lines, "b:1 a:1", "b:1 a:1 x:2");
}

/* The dependencies of the evicted revision are dropped, at several levels, except those that others need. */
static void evicted_modules_drop_their_dependencies(void **state)
{
        static const char *const lines[] = {
                "a 1: x:1", "x 1: p:1", "p 1: q:1 shared:1", "q 1:", "shared 1:", "b 1: x:2 shared:1", "x 2:", NULL};
        check(lines, "a:1 b:1", "a:1 b:1 shared:1 x:2");
}

static void reports_missing_modules(void **state)
{
        static const char *const lines[] = {"a 1: b:1 no:1", "b 1: no:2", NULL};
        check(lines, "a:1", "a:1 b:1 no:1?");
        check(lines, "nowhere:1", "nowhere:1?");
}

static void circles(void **state)
{
        static const char *const lines[] = {"a 1: b:1", "b 1: c:1", "c 1: a:1 b:2", "b 2: a:1", NULL};
        check(lines, "a:1", "a:1 b:1 c:1");
}

static void not_transitive(void **state)
{
        static const char *const lines[] = {"a 1: b:1! c:1", "b 1: d:1", "c 1:", "d 1:", NULL};
        check(lines, "a:1", "a:1 b:1 c:1");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(latest_wins),
                cmocka_unit_test(own_choice_wins_below),
                cmocka_unit_test(evicted_modules_drop_their_dependencies),
                cmocka_unit_test(reports_missing_modules),
                cmocka_unit_test(circles),
                cmocka_unit_test(not_transitive),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
