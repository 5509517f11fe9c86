/* Custom resource definitions: their shape. tests/operator/operator_crd_test.py compares them with the genuine ones. */
#include "operator/resources/crd.h"

#include "operator/resources/operator_fixture.h"
#include "text/json.h"

#define MAX_ANNOTATION 262144 /* of an object: kubectl apply keeps the object in one */

static void fits_kubectl_apply(void **state)
{
        json_t *list = crd_list(), *crd;
        size_t i;
        assert_int_equal(json_array_size(list), 2);
        json_array_foreach(list, i, crd) {
                _cleanup_free_ char *text = json_dumps(crd, JSON_COMPACT);
                assert_true(strlen(text) < MAX_ANNOTATION / 4);
                assert_string_equal(json_text_at(crd, "kind"), "CustomResourceDefinition");
        }
        json_decref(list);
}

static void describes_fields(void **state)
{
        json_t *list = crd_list();
        const json_t *version = json_array_get(json_at(json_array_get(list, 0), "spec.versions"), 0);
        const json_t *spec = json_at(version, "schema.openAPIV3Schema.properties.spec");
        assert_non_null(spec);
        assert_non_null(json_object_get(json_at(json_array_get(list, 0), "metadata.annotations"),
                                        "api-approved.kubernetes.io"));
        assert_string_equal(json_text_at(spec, "properties.restartPolicy.properties.onFailureRetryInterval.format"),
                            "int64");
        assert_int_equal(json_int_at(spec, "properties.driver.properties.cores.minimum"), 1);
        assert_int_equal(json_array_size(json_at(spec, "properties.type.enum")), 4);
        assert_int_equal(json_array_size(json_at(spec, "required")), 5);
        assert_null(json_at(spec, "properties.initContainerImage"));
        const json_t *old = json_array_get(json_at(json_array_get(list, 0), "spec.versions"), 1);
        assert_string_equal(json_text_at(old, "name"), "v1beta1");
        assert_true(json_is_true(json_object_get(old, "served")) && json_is_false(json_object_get(old, "storage")));
        assert_true(json_equal(json_object_get(old, "schema"), json_object_get(version, "schema")));
        assert_string_equal(json_text_at(spec, "properties.driver.properties.cores.type"), "integer");
        assert_true(json_is_true(json_object_get(json_at(spec, "properties.driver.properties.affinity"),
                                                 "x-kubernetes-preserve-unknown-fields")));
        assert_string_equal(json_text_at(json_array_get(list, 1), "spec.names.listKind"),
                            "ScheduledSparkApplicationList");
        json_decref(list);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(fits_kubectl_apply), cmocka_unit_test(describes_fields)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
