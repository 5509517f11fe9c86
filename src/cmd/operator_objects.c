/* firesteel operator crds and render: print objects as YAML or JSON. */
#include "cmd/operator_objects.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/apache/apache_cluster.h"
#include "operator/apache/apache_crd.h"
#include "operator/apache/apache_objects.h"
#include "operator/render/application_objects.h"
#include "operator/resources/crd.h"
#include "operator/schedule/cron.h"
#include "text/json.h"
#include "text/yaml.h"
#include "text/yaml_writer.h"

#include <stdio.h>
#include <unistd.h>

static int operator_objects_usage(const char *word, const char *problem, const char *argument)
{
        fprintf(stderr, "Error: %s %s; see firesteel operator --help for %s\n", problem, argument, word);
        return 2;
}

/* Returns @object with its members in the order in which people read them. The caller owns it. */
static json_t *operator_order_members(const json_t *object)
{
        static const char *const first[] = {"apiVersion", "kind", "metadata"};
        json_t *ordered = json_object();
        for (size_t i = 0; i < ARRAY_SIZE(first); i++)
                if (json_object_get(object, first[i]))
                        json_object_set(ordered, first[i], json_object_get(object, first[i]));
        json_object_update(ordered, (json_t *)object);
        return ordered;
}

/* Prints the elements of @list as documents of YAML, or as one JSON List for kubectl. Returns the exit status. */
static int operator_print_objects(const json_t *list, bool as_json)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        json_t *object;
        size_t i;
        if (as_json) {
                json_t *whole = json_pack("{s:s,s:s,s:O}", "apiVersion", "v1", "kind", "List", "items", list);
                _cleanup_free_ char *text = json_dumps(whole, JSON_INDENT(2));
                buf_printf(&out, "%s\n", text ? text : "");
                json_decref(whole);
        } else {
                json_array_foreach((json_t *)list, i, object) {
                        buf_puts(&out, i > 0 ? "---\n" : "");
                        json_t *ordered = operator_order_members(object);
                        yaml_write(&out, ordered);
                        json_decref(ordered);
                }
        }
        return fputs(buf_text(&out), stdout) < 0 || fflush(stdout) != 0;
}

/* --------------------------------------------------------------------------------------------------------- options */

/* The words after the command: options with a value ("--x=v" or "--x v"), flags ("--x", "--x=false") and one file. */
struct objects_option {
        const char *name; /* without dashes */
        const char **text;
        bool *flag;
};

/* Returns 0, or 2 after a message. @file NULL: no file is allowed. */
static int objects_options_parse(int argc, char **argv, const struct objects_option *options, size_t n,
                                 const char **file)
{
        for (int i = 1; i < argc; i++) {
                const struct objects_option *found = NULL;
                const char *value = NULL;
                if (!text_starts_with(argv[i], "--")) {
                        if (!file || *file)
                                return operator_objects_usage(argv[0], "one more argument than expected:", argv[i]);
                        *file = argv[i];
                        continue;
                }
                for (size_t k = 0; k < n && !found; k++) {
                        size_t len = strlen(options[k].name);
                        if (strncmp(argv[i] + 2, options[k].name, len) == 0 &&
                            (argv[i][2 + len] == '=' || argv[i][2 + len] == '\0')) {
                                found = &options[k];
                                value = argv[i][2 + len] ? argv[i] + 3 + len : NULL;
                        }
                }
                if (!found)
                        return operator_objects_usage(argv[0], "unknown option", argv[i]);
                if (found->flag) {
                        if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
                                return operator_objects_usage(argv[0], "true or false is needed in", argv[i]);
                        *found->flag = !value || strcmp(value, "true") == 0;
                        continue;
                }
                if (!value && i + 1 == argc)
                        return operator_objects_usage(argv[0], "a value is missing for", argv[i]);
                *found->text = value ? value : argv[++i];
        }
        return 0;
}

/* Returns 0 with *@as_json, or 2 after a message. */
static int objects_form_parse(const char *word, const char *form, bool *as_json)
{
        *as_json = strcmp(form, "json") == 0;
        return *as_json || strcmp(form, "yaml") == 0
                       ? 0
                       : operator_objects_usage(word, "--output needs yaml or json, not", form);
}

int operator_crds(int argc, char **argv)
{
        const char *form = "yaml", *group = OPERATOR_GROUP;
        bool as_json = false;
        const struct objects_option options[] = {{"output", &form, NULL}, {"group", &group, NULL}};
        int status = objects_options_parse(argc, argv, options, ARRAY_SIZE(options), NULL);
        if (status == 0)
                status = objects_form_parse(argv[0], form, &as_json);
        if (status != 0)
                return status;
        bool is_apache = strcmp(group, APACHE_GROUP) == 0;
        if (!is_apache && strcmp(group, OPERATOR_GROUP) != 0)
                return operator_objects_usage(argv[0], "--group needs " OPERATOR_GROUP " or " APACHE_GROUP ", not",
                                              group);
        json_t *list = is_apache ? apache_crd_list() : crd_list();
        status = operator_print_objects(list, as_json);
        json_decref(list);
        return status;
}

/* ---------------------------------------------------------------------------------------------------------- render */

static void render_warn(const struct field_problems *problems, const char *name)
{
        for (size_t i = 0; i < problems->list.len; i++)
                fprintf(stderr, "Warning: %s: %s\n", name, problems->list.data[i].message);
}

/* Appends @objects in the application's namespace. */
static void render_append(json_t *list, const json_t *objects, const char *namespace)
{
        json_t *object;
        size_t i;
        json_array_foreach((json_t *)objects, i, object) {
                json_t *metadata = json_object_get(object, "metadata");
                if (!json_object_get(metadata, "namespace"))
                        json_object_set_new(metadata, "namespace", json_string(namespace));
                json_array_append(list, object);
        }
}

/* Appends the objects of @object, a SparkApplication of spark.apache.org. */
static int render_apache_application(const json_t *object, const struct render_options *o, json_t *list,
                                     struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        _cleanup_(apache_application_deinit) struct apache_application app = {0};
        struct driver_plan plan = DRIVER_PLAN_INIT;
        const char *name = json_text_or_empty(object, "metadata.name");
        int r = apache_application_read(object, &app, &problems, error);
        render_warn(&problems, name);
        if (r == 0)
                r = apache_application_validate(&app, error);
        if (r == 0)
                r = apache_objects_make(&app, o, &plan, error);
        if (r == 0)
                render_append(list, plan.objects, app.namespace);
        driver_plan_deinit(&plan);
        return r < 0 ? error_wrap(error, r, "SparkApplication %s", name) : 0;
}

/* Appends the objects of @object, a SparkCluster. */
static int render_cluster(const json_t *object, json_t *list, struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        _cleanup_(apache_cluster_deinit) struct apache_cluster cluster = {0};
        const char *name = json_text_or_empty(object, "metadata.name");
        int r = apache_cluster_read(object, &cluster, &problems, error);
        render_warn(&problems, name);
        if (r == 0)
                r = apache_cluster_validate(&cluster, error);
        if (r < 0)
                return error_wrap(error, r, "SparkCluster %s", name);
        json_t *objects = apache_cluster_objects(&cluster);
        json_array_extend(list, objects);
        json_decref(objects);
        return 0;
}

/* Appends the objects of @object, a SparkApplication. */
static int render_application(const json_t *object, const struct render_options *o, json_t *list,
                              struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        _cleanup_(spark_application_deinit) struct spark_application app = {0};
        struct application_exposure exposure = {0};
        struct application_objects objects = {.plan = DRIVER_PLAN_INIT};
        const char *name = json_text_or_empty(object, "metadata.name");
        int r = spark_application_read(object, &app, &problems, error);
        render_warn(&problems, name);
        if (r == 0)
                r = spark_application_validate(&app, error);
        if (r == 0)
                r = application_objects_make(&app, o, &objects, error);
        render_warn(&objects.warnings, name);
        if (r == 0)
                r = application_exposure_make(&app, o, objects.plan.k.names.app_id, &exposure, error);
        if (r == 0) {
                render_append(list, objects.before, app.namespace);
                render_append(list, objects.plan.objects, app.namespace);
                render_append(list, exposure.objects, app.namespace);
        }
        application_objects_deinit(&objects);
        application_exposure_deinit(&exposure);
        return r < 0 ? error_wrap(error, r, "SparkApplication %s", name) : 0;
}

/* Returns the SparkApplication that a schedule starts. The caller owns it. */
static json_t *render_run_of(const json_t *schedule)
{
        json_t *run = json_pack("{s:O?,s:s,s:{}}", "apiVersion", json_object_get(schedule, "apiVersion"), "kind",
                                "SparkApplication", "metadata");
        json_t *metadata = json_object_get(run, "metadata");
        const char *namespace = json_text_at(schedule, "metadata.namespace");
        _cleanup_free_ char *name = mem_printf("%s-run", json_text_or_empty(schedule, "metadata.name"));
        json_object_set_new(metadata, "name", json_string(name));
        if (namespace)
                json_object_set_new(metadata, "namespace", json_string(namespace));
        json_object_set(run, "spec", json_at(schedule, "spec.template"));
        return run;
}

/* Renders a run of a schedule whose expression and time zone are valid. */
static int render_schedule(const json_t *object, const struct render_options *o, json_t *list, struct fst_error *error)
{
        const char *zone = json_text_or_empty(object, "spec.timeZone");
        struct cron *cron = NULL;
        int r = cron_parse(json_text_or_empty(object, "spec.schedule"), *zone ? zone : "Local", &cron, error);
        if (r < 0)
                return error_wrap(error, r, "ScheduledSparkApplication %s: spec.schedule",
                                  json_text_or_empty(object, "metadata.name"));
        cron_free(cron);
        json_t *run = render_run_of(object);
        r = render_application(run, o, list, error);
        json_decref(run);
        return r;
}

/* Renders applications and schedules, which it counts, and tells of other objects that it skips them. */
static int render_document(json_t *object, const char *namespace, const struct render_options *o, json_t *list,
                           size_t *n_rendered, struct fst_error *error)
{
        const char *kind = json_text_or_empty(object, "kind");
        bool scheduled = strcmp(kind, "ScheduledSparkApplication") == 0;
        json_t *metadata = json_object_get(object, "metadata");
        if (strcmp(kind, "List") == 0) {
                json_t *item;
                size_t i;
                int r = 0;
                json_array_foreach(json_object_get(object, "items"), i, item) {
                        if (r == 0 && strcmp(json_text_or_empty(item, "kind"), "List") != 0)
                                r = render_document(item, namespace, o, list, n_rendered, error);
                }
                return r;
        }
        bool cluster = strcmp(kind, "SparkCluster") == 0;
        if (*kind && !scheduled && !cluster && strcmp(kind, "SparkApplication") != 0) {
                fprintf(stderr,
                        "Note: %s %s is skipped: it is neither a SparkApplication nor a schedule nor a SparkCluster\n",
                        kind, json_text_or_empty(object, "metadata.name"));
                return 0;
        }
        ++*n_rendered;
        if (namespace && json_is_object(metadata) && !json_object_get(metadata, "namespace"))
                json_object_set_new(metadata, "namespace", json_string(namespace));
        if (cluster)
                return render_cluster(object, list, error);
        if (scheduled)
                return render_schedule(object, o, list, error);
        return apache_group_has(object) ? render_apache_application(object, o, list, error)
                                        : render_application(object, o, list, error);
}

/* Reads the standard input up to the limit of a document. */
static int render_read_input(struct buf *text, struct fst_error *error)
{
        for (;;) {
                buf_reserve(text, 65536);
                ssize_t n = read(STDIN_FILENO, text->data + text->len, 65536);
                if (n < 0 && errno != EINTR)
                        return error_errno(error, "cannot read the standard input");
                if (n == 0)
                        return 0;
                if (n > 0)
                        text->data[text->len += (size_t)n] = '\0';
                if (text->len > YAML_MAX_BYTES)
                        return error_set(error, -EFBIG, "the standard input exceeds %u bytes", YAML_MAX_BYTES);
        }
}

static int render_read(const char *path, json_t **documents, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (text_ends_with(path, ".c"))
                return error_set(
                        error, -EINVAL,
                        "%s: render reads YAML: `firesteel operator create %s --image IMAGE --output json` prints "
                        "the object of a C file",
                        path, path);
        int r = strcmp(path, "-") == 0 ? render_read_input(&text, error)
                                       : file_text_read(path, YAML_MAX_BYTES, &text, error);
        if (r == 0)
                r = yaml_parse_all(buf_text(&text), text.len, documents, error);
        return r < 0 ? error_wrap(error, r, "%s", path) : 0;
}

/* Returns the master URL as the operator finds it in its pod, or the cluster's own name. The caller owns it. */
static char *render_master(void)
{
        const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
        if (!host || !port)
                return mem_strdup("k8s://https://kubernetes.default.svc:443");
        return strchr(host, ':') ? mem_printf("k8s://https://[%s]:%s", host, port)
                                 : mem_printf("k8s://https://%s:%s", host, port);
}

int operator_render(int argc, char **argv)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *master = render_master();
        const char *form = "yaml", *namespace = NULL, *file = NULL;
        bool as_json = false;
        struct render_options o = {.master = master,
                                   .submission_id = "00000000-0000-4000-8000-000000000000",
                                   .ui_service = true,
                                   .show = true};
        const struct objects_option options[] = {
                {"output", &form, NULL},
                {"namespace", &namespace, NULL},
                {"master", &o.master, NULL},
                {"submission-id", &o.submission_id, NULL},
                {"ingress-url-format", &o.ingress_url_format, NULL},
                {"ingress-class-name", &o.ingress_class_name, NULL},
                {"default-batch-scheduler", &o.default_batch_scheduler, NULL},
                {"kube-scheduler-names", &o.kube_scheduler_names, NULL},
                {"enable-ui-service", NULL, &o.ui_service},
                {"enable-driver-pdb", NULL, &o.driver_disruption_budget},
                {"enable-batch-scheduler", NULL, &o.batch_scheduler},
        };
        int status = objects_options_parse(argc, argv, options, ARRAY_SIZE(options), &file);
        if (status == 0)
                status = objects_form_parse(argv[0], form, &as_json);
        if (status == 0 && !file)
                return operator_objects_usage(argv[0], "a file is missing, or", "- for the standard input");
        if (status != 0)
                return status;
        json_t *documents = NULL, *list = json_array(), *object;
        size_t i, n_rendered = 0;
        int r = render_read(file, &documents, &error);
        json_array_foreach(documents, i, object) {
                if (r == 0)
                        r = render_document(object, namespace, &o, list, &n_rendered, &error);
        }
        if (r == 0 && n_rendered == 0)
                r = error_set(&error, -EINVAL, "%s: it has no SparkApplication and no ScheduledSparkApplication", file);
        if (r == 0)
                status = operator_print_objects(list, as_json);
        else
                fprintf(stderr, "Error: %s\n", error_message(&error));
        json_decref(documents);
        json_decref(list);
        return r < 0 ? 1 : status;
}
