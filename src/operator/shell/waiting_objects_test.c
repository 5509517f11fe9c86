/* Which texts of waiting applications are kept, and until when. */
#include "operator/shell/waiting_objects.h"

#include "text/json.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static json_t *object_new(const char *name, const char *uid, const char *version)
{
        return json_pack("{s:{s:s, s:s, s:s, s:s, s:[{}]}, s:{s:s}, s:{s:s}}", "metadata", "namespace", "jobs", "name",
                         name, "uid", uid, "resourceVersion", version, "managedFields", "spec", "type", "Scala",
                         "status", "a", "b");
}

static void waiting_objects_keep_new(struct waiting_objects *w, const char *name, const char *uid, const char *version)
{
        json_t *object = object_new(name, uid, version);
        waiting_objects_keep(w, object);
        assert_non_null(json_at(object, "metadata.managedFields"));
        json_decref(object);
}

static void an_object_is_taken_once(void **state)
{
        struct waiting_objects *w = waiting_objects_new(10000);
        waiting_objects_keep_new(w, "pi", "u1", "7");
        json_t *object = waiting_objects_take(w, "jobs", "pi", "u1", 7);
        assert_string_equal(json_text_at(object, "spec.type"), "Scala");
        assert_string_equal(json_text_at(object, "metadata.uid"), "u1");
        assert_null(json_at(object, "metadata.managedFields"));
        assert_null(json_object_get(object, "status"));
        json_decref(object);
        assert_null(waiting_objects_take(w, "jobs", "pi", "u1", 7));
        assert_int_equal(waiting_objects_bytes(w), 0);
        waiting_objects_free(w);
}

static void another_uid_or_version_is_not_returned(void **state)
{
        struct waiting_objects *w = waiting_objects_new(10000);
        waiting_objects_keep_new(w, "pi", "u1", "7");
        assert_null(waiting_objects_take(w, "jobs", "pi", "u2", 7));
        waiting_objects_keep_new(w, "pi", "u1", "7");
        assert_null(waiting_objects_take(w, "jobs", "pi", "u1", 8));
        assert_null(waiting_objects_take(w, "other", "pi", "u1", 7));
        assert_int_equal(waiting_objects_bytes(w), 0);
        waiting_objects_free(w);
}

static void a_later_version_replaces_an_earlier_one(void **state)
{
        struct waiting_objects *w = waiting_objects_new(10000);
        waiting_objects_keep_new(w, "pi", "u1", "7");
        size_t bytes = waiting_objects_bytes(w);
        waiting_objects_keep_new(w, "pi", "u1", "8");
        assert_int_equal(waiting_objects_bytes(w), bytes);
        json_t *object = waiting_objects_take(w, "jobs", "pi", "u1", 8);
        assert_non_null(object);
        json_decref(object);
        waiting_objects_free(w);
}

static void what_does_not_fit_is_not_kept(void **state)
{
        struct waiting_objects *w = waiting_objects_new(10000);
        waiting_objects_keep_new(w, "a", "u", "1");
        size_t bytes = waiting_objects_bytes(w);
        waiting_objects_free(w);
        w = waiting_objects_new(2 * bytes + bytes / 2);
        waiting_objects_keep_new(w, "a", "u", "1");
        waiting_objects_keep_new(w, "b", "u", "1");
        waiting_objects_keep_new(w, "c", "u", "1");
        assert_int_equal(waiting_objects_bytes(w), 2 * bytes);
        assert_null(waiting_objects_take(w, "jobs", "c", "u", 1));
        waiting_objects_drop(w, "jobs", "a");
        waiting_objects_drop(w, "jobs", "a"); /* twice */
        waiting_objects_keep_new(w, "c", "u", "1");
        json_t *object = waiting_objects_take(w, "jobs", "c", "u", 1);
        assert_non_null(object);
        json_decref(object);
        waiting_objects_free(w); /* with "b" */
        waiting_objects_free(NULL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_is_taken_once),
                cmocka_unit_test(another_uid_or_version_is_not_returned),
                cmocka_unit_test(a_later_version_replaces_an_earlier_one),
                cmocka_unit_test(what_does_not_fit_is_not_kept),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
