/* Setup for the tests of steps: a configuration, an environment, an empty pod. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/feature_step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct step_fixture {
        struct fst_conf conf;
        struct kube_conf c;
        struct spark_pod pod;
        json_t *resources;
        struct strmap properties;
        struct fst_error error;
};

static struct strmap step_environment;

static inline const char *step_variable(const char *name)
{
        return strmap_get(&step_environment, name);
}

/* @settings are "key=value", ended by NULL. */
static inline void step_begin(struct step_fixture *f, enum kube_role role, const char *const *settings)
{
        *f = (struct step_fixture){.pod = spark_pod_new(), .resources = json_array()};
        step_environment = STRMAP_INIT;
        conf_init(&f->conf);
        strmap_set(&f->conf.set, "spark.app.name", "pi");
        strmap_set(&f->conf.set, "spark.kubernetes.container.image", "spark:1");
        for (; settings && *settings; settings++) {
                size_t n = strcspn(*settings, "=");
                _cleanup_free_ char *key = mem_strndup(*settings, n);
                strmap_set(&f->conf.set, key, *settings + n + 1);
        }
        f->c = (struct kube_conf){
                .role = role,
                .conf = &f->conf,
                .env = step_variable,
                .app_id = "app-1",
                .unique = "0123456789abcdef",
                .uuid = "01234567-89ab-4def-8123-456789abcdef",
                .user = "me",
                .main_class = "a.B",
                .executor_id = "3",
        };
        if (kube_conf_complete(&f->c, &f->error))
                fail_msg("%s", error_message(&f->error));
}

static inline void step_end(struct step_fixture *f)
{
        kube_conf_deinit(&f->c);
        conf_deinit(&f->conf);
        spark_pod_deinit(&f->pod);
        json_decref(f->resources);
        strmap_deinit(&f->properties);
        error_deinit(&f->error);
        strmap_deinit(&step_environment);
}

/* Runs all functions of the step. Returns the first error. */
static inline int step_run(struct step_fixture *f, const struct feature_step *step)
{
        int r = step->check ? step->check(&f->c, &f->error) : 0;
        if (r == 0 && step->configure)
                r = step->configure(&f->c, &f->pod, &f->error);
        if (r == 0 && step->properties)
                r = step->properties(&f->c, &f->properties, &f->error);
        if (r == 0 && step->pre_resources)
                r = step->pre_resources(&f->c, f->resources, &f->error);
        return r == 0 && step->resources ? step->resources(&f->c, f->resources, &f->error) : r;
}

static inline void step_works(struct step_fixture *f, const struct feature_step *step)
{
        if (step_run(f, step))
                fail_msg("%s", error_message(&f->error));
}

/* Asserts that the step fails with the message @sentence, and ends the fixture. */
static inline void step_refuses(enum kube_role role, const char *const *settings, const struct feature_step *step,
                                const char *sentence)
{
        struct step_fixture f;
        step_begin(&f, role, settings);
        assert_int_not_equal(step_run(&f, step), 0);
        assert_string_equal(error_message(&f.error), sentence);
        step_end(&f);
}

/* Asserts that @value equals @text, JSON with ' in place of ". */
static inline void assert_json(const json_t *value, const char *text)
{
        _cleanup_free_ char *quoted = mem_strdup(text);
        json_error_t at;
        for (char *p = quoted; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        json_t *expected = json_loads(quoted, JSON_DECODE_ANY, &at);
        char *shown = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        if (!expected || !value || !json_equal((json_t *)value, expected))
                fail_msg("%s\nis not %s", shown ? shown : "nothing", text);
        free(shown);
        json_decref(expected);
}

/* Return the member @name of the pod's spec, its metadata, and the container. */
static inline json_t *spec_of(struct step_fixture *f, const char *name)
{
        return json_object_get(pod_spec(&f->pod), name);
}

static inline json_t *metadata_of(struct step_fixture *f, const char *name)
{
        return json_object_get(pod_metadata(&f->pod), name);
}

static inline json_t *container_of_pod(struct step_fixture *f, const char *name)
{
        return json_object_get(f->pod.container, name);
}

/* Returns the value of the variable @name of the container, or NULL. */
static inline const char *variable_of(struct step_fixture *f, const char *name)
{
        json_t *variable;
        size_t i;
        json_array_foreach(container_of_pod(f, "env"), i, variable) {
                if (strcmp(json_string_value(json_object_get(variable, "name")), name) == 0)
                        return json_string_value(json_object_get(variable, "value"));
        }
        return NULL;
}

#define settings(...) ((const char *const[]){__VA_ARGS__, NULL})
#define assert_property(f, key, value) assert_string_equal(strmap_get(&(f)->properties, (key)), (value))
