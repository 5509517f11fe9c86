/* The commands of `firesteel operator` that users call for applications and schedules of a cluster. */
#include "cmd/operator_cluster.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "cmd/operator_forward.h"
#include "cmd/text_table.h"
#include "operator/apache/apache_application.h"
#include "operator/apache/apache_status.h"
#include "operator/commands/operator_client.h"
#include "operator/schedule/rfc3339.h"
#include "text/json.h"
#include "text/yaml.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MAX_OBJECT_FILE (4u << 20)

struct objects_command {
        const char *word;
        struct operator_client *client;
        const char *namespace; /* NULL: of the context */
        const char *kubeconfig, *executor, *from, *image, *port;
        const char *name; /* the first argument */
        bool all, json, follow;
        struct fst_error error;
};

static int objects_usage(const char *word, const char *problem, const char *what)
{
        fprintf(stderr, "Error: operator %s: %s%s%s (see `firesteel help operator`)\n", word, problem, what ? " " : "",
                what ? what : "");
        return 2;
}

static int objects_print_json(const json_t *json)
{
        int r = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
        putchar('\n');
        return r < 0 ? -EIO : 0;
}

/* ----------------------------------------------------------------------------------------------------------- list */

static bool objects_is_apache(const json_t *object)
{
        return strncmp(json_text_or_empty(object, "apiVersion"), APACHE_GROUP "/", sizeof(APACHE_GROUP)) == 0;
}

static const char *objects_state(const json_t *object)
{
        const char *state =
                json_text_or_empty(object, objects_is_apache(object) ? "status.currentState.currentStateSummary"
                                                                     : "status.applicationState.state");
        return *state ? state : "NEW";
}

static const char *objects_submitted(const json_t *object)
{
        return objects_is_apache(object) ? apache_status_submitted(json_object_get(object, "status"))
                                         : json_text_at(object, "status.lastSubmissionAttemptTime");
}

static const char *objects_ended(const json_t *object)
{
        return objects_is_apache(object) ? apache_status_ended(json_object_get(object, "status"))
                                         : json_text_at(object, "status.terminationTime");
}

static void objects_add_age(struct text_table *t, const char *time)
{
        int64_t ms = rfc3339_parse(time);
        text_table_add_duration(t, ms > 0 ? MAX(time_of_day_ms() - ms, (int64_t)0) : -1);
}

/* Appends the objects of a kind. Those of spark.apache.org may be unknown to the cluster, or to the user. */
static int objects_add_kind(struct objects_command *c, enum application_kind kind, json_t *all)
{
        json_t *items = NULL, *item;
        size_t i;
        int r = operator_client_list(c->client, kind, c->all ? NULL : c->namespace, &items, &c->error);
        json_array_foreach(items, i, item) {
                if (!json_object_get(item, "kind")) /* items of a list have none */
                        json_object_set_new(item, "kind", json_string(application_kind_of(kind)));
                if (!json_object_get(item, "apiVersion"))
                        json_object_set_new(item, "apiVersion", json_string(application_kind_api(kind)));
                json_array_append(all, item);
        }
        json_decref(items);
        return r;
}

static int objects_list_all(struct objects_command *c, json_t *all)
{
        int r = objects_add_kind(c, KIND_SPARK_APPLICATION, all), more = 0;
        for (int k = KIND_APACHE_APPLICATION; k <= KIND_SPARK_CLUSTER && (r == 0 || r == -ENOENT); k++) {
                _cleanup_(error_deinit) struct fst_error first = c->error;
                c->error = FST_ERROR_INIT;
                more = objects_add_kind(c, (enum application_kind)k, all);
                if (r == -ENOENT && more == 0)
                        r = 0; /* only Apache's kinds are installed */
                if (r == -ENOENT || more == -ENOENT || more == -EACCES) {
                        error_deinit(&c->error);
                        c->error = first;
                        first = FST_ERROR_INIT;
                } else if (more < 0) {
                        r = more;
                }
        }
        return r;
}

static void objects_print_list(const struct objects_command *c, const json_t *items)
{
        static const char *const columns[] = {"NAMESPACE", "NAME", "STATE", "SUBMISSION AGE", "COMPLETION AGE", "KIND"};
        struct text_table t = {0};
        json_t *item;
        size_t i;
        bool kinds = false; /* there are objects of spark.apache.org */
        json_array_foreach((json_t *)items, i, item)
                kinds = kinds || objects_is_apache(item);
        text_table_add_heading(&t, columns + !c->all, ARRAY_SIZE(columns) - !c->all - !kinds);
        json_array_foreach((json_t *)items, i, item) {
                if (c->all)
                        text_table_add_text(&t, json_text_at(item, "metadata.namespace"));
                text_table_add_text(&t, json_text_at(item, "metadata.name"));
                text_table_add_text(&t, objects_state(item));
                objects_add_age(&t, objects_submitted(item));
                objects_add_age(&t, objects_ended(item));
                if (kinds) {
                        _cleanup_free_ char *kind = mem_printf("%s%s", json_text_or_empty(item, "kind"),
                                                               objects_is_apache(item) ? "." APACHE_GROUP : "");
                        text_table_add_text(&t, kind);
                }
        }
        text_table_print(&t);
        text_table_deinit(&t);
}

static int objects_list(struct objects_command *c)
{
        json_t *items = json_array();
        int r = objects_list_all(c, items);
        if (r == 0 && c->json) {
                json_t *list = json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items", items);
                r = objects_print_json(list);
                json_decref(list);
        } else if (r == 0) {
                objects_print_list(c, items);
        }
        json_decref(items);
        return r;
}

/* ------------------------------------------------------------------------------------------------------------ get */

static void objects_print_line(const char *name, const char *value)
{
        if (value && *value)
                printf("%-12s %s\n", name, value);
}

static void objects_print_state(const json_t *object)
{
        const char *state = objects_state(object);
        bool unseen = strcmp(state, "NEW") == 0;
        objects_print_line("State:", unseen ? "NEW (no operator has seen it: does one watch this namespace?)" : state);
}

static void objects_print_names(const char *name, const json_t *names)
{
        const json_t *value;
        size_t i;
        json_array_foreach((json_t *)names, i, value)
                objects_print_line(i == 0 ? name : "", json_string_value(value));
}

static void objects_print_application(const json_t *object)
{
        const char *pod;
        json_t *state;
        objects_print_line("Name:", json_text_at(object, "metadata.name"));
        objects_print_state(object);
        objects_print_line("Error:", json_text_at(object, "status.applicationState.errorMessage"));
        objects_print_line("Id:", json_text_at(object, "status.sparkApplicationId"));
        objects_print_line("Submitted:", json_text_at(object, "status.lastSubmissionAttemptTime"));
        objects_print_line("Ended:", json_text_at(object, "status.terminationTime"));
        printf("%-12s %" JSON_INTEGER_FORMAT " executions, %" JSON_INTEGER_FORMAT " submissions\n",
               "Attempts:", json_int_at(object, "status.executionAttempts"),
               json_int_at(object, "status.submissionAttempts"));
        objects_print_line("Driver:", json_text_at(object, "status.driverInfo.podName"));
        objects_print_line("UI:", json_text_at(object, "status.driverInfo.webUIAddress"));
        objects_print_line("Ingress:", json_text_at(object, "status.driverInfo.webUIIngressAddress"));
        json_object_foreach(json_at(object, "status.executorState"), pod, state)
                printf("%-12s %s %s\n", "Executor:", pod, json_string_value(state) ? json_string_value(state) : "");
        json_t *condition;
        size_t i;
        json_array_foreach(json_at(object, "status.conditions"), i, condition)
                objects_print_line("Reason:", json_text_at(condition, "message"));
}

static void objects_print_schedule(const json_t *object)
{
        objects_print_line("Name:", json_text_at(object, "metadata.name"));
        objects_print_line("Schedule:", json_text_at(object, "spec.schedule"));
        objects_print_line("Time zone:", json_text_at(object, "spec.timeZone"));
        objects_print_line("Suspended:", json_is_true(json_at(object, "spec.suspend")) ? "yes" : NULL);
        objects_print_line("State:", json_text_at(object, "status.scheduleState"));
        objects_print_line("Reason:", json_text_at(object, "status.reason"));
        objects_print_line("Next run:", json_text_at(object, "status.nextRun"));
        objects_print_line("Last run:", json_text_at(object, "status.lastRun"));
        objects_print_line("", json_text_at(object, "status.lastRunName"));
        objects_print_names("Succeeded:", json_at(object, "status.pastSuccessfulRunNames"));
        objects_print_names("Failed:", json_at(object, "status.pastFailedRunNames"));
}

static void objects_print_apache(const json_t *object)
{
        struct apache_status status;
        apache_status_read(json_object_get(object, "status"), &status);
        objects_print_line("Name:", json_text_at(object, "metadata.name"));
        objects_print_state(object);
        objects_print_line("Reason:", json_text_at(object, "status.currentState.message"));
        objects_print_line("Since:", json_text_at(object, "status.currentState.lastTransitionTime"));
        objects_print_line("Submitted:", objects_submitted(object));
        objects_print_line("Ended:", objects_ended(object));
        if (status.restarted)
                printf("%-12s %lld\n", "Restarts:", (long long)status.attempt.restarts);
        if (strcmp(json_text_or_empty(object, "kind"), "SparkApplication") != 0)
                return;
        _cleanup_free_ char *id = NULL, *pod = NULL;
        apache_object_names(object, &id, &pod);
        objects_print_line("Id:", id);
        objects_print_line("Driver:", pod);
}

static int objects_get(struct objects_command *c)
{
        enum application_kind kind;
        json_t *object;
        int r = operator_client_find(c->client, c->namespace, c->name, &kind, &object, &c->error);
        if (r < 0)
                return r;
        if (c->json)
                r = objects_print_json(object);
        else if (kind == KIND_SCHEDULE)
                objects_print_schedule(object);
        else if (kind >= KIND_APACHE_APPLICATION)
                objects_print_apache(object);
        else
                objects_print_application(object);
        json_decref(object);
        return r;
}

/* --------------------------------------------------------------------------------------------------- logs, events */

static int objects_write(void *owner, const char *data, size_t n)
{
        return fwrite(data, 1, n, stdout) == n && fflush(stdout) == 0 ? 0 : -EPIPE;
}

static int objects_logs(struct objects_command *c)
{
        return operator_client_logs(c->client, c->namespace, c->name, c->executor, c->follow, objects_write, NULL,
                                    &c->error);
}

static void objects_print_events(const json_t *events)
{
        static const char *const columns[] = {"TYPE", "REASON", "MESSAGE"};
        struct text_table t = {0};
        json_t *event;
        size_t i;
        text_table_add_heading(&t, columns, ARRAY_SIZE(columns));
        json_array_foreach((json_t *)events, i, event) {
                text_table_add_text(&t, json_text_at(event, "type"));
                text_table_add_text(&t, json_text_at(event, "reason"));
                text_table_add_text(&t, json_text_at(event, "message"));
        }
        text_table_print(&t);
        text_table_deinit(&t);
}

/*
 * Prints the events that are not in *@seen, by uid and version: an event that occurs again is printed again, and those
 * that the API server forgets change nothing. Replaces *@seen, which the caller owns.
 */
static void objects_print_new_events(const json_t *events, bool as_json, json_t **seen)
{
        json_t *now = json_object(), *event;
        size_t i;
        json_array_foreach((json_t *)events, i, event) {
                _cleanup_free_ char *key = mem_printf("%s/%s", json_text_or_empty(event, "metadata.uid"),
                                                      json_text_or_empty(event, "metadata.resourceVersion"));
                json_object_set_new(now, key, json_true());
                if (json_object_get(*seen, key))
                        continue;
                if (as_json)
                        objects_print_json(event);
                else
                        printf("%s %s: %s\n", json_text_or_empty(event, "type"), json_text_or_empty(event, "reason"),
                               json_text_or_empty(event, "message"));
        }
        json_decref(*seen);
        *seen = now;
}

static int objects_events(struct objects_command *c)
{
        json_t *seen = NULL;
        int r;
        do {
                json_t *events;
                r = operator_client_events(c->client, c->namespace, c->name, &events, &c->error);
                if (r < 0)
                        break;
                if (c->json || c->follow)
                        objects_print_new_events(events, c->json, &seen);
                else
                        objects_print_events(events);
                json_decref(events);
                r = fflush(stdout) != 0 ? -EPIPE : 0;
                if (c->follow && r == 0)
                        sleep(1);
        } while (c->follow && r == 0);
        json_decref(seen);
        return r;
}

static int objects_forward(struct objects_command *c)
{
        return operator_forward_run(steal(c->client), c->namespace, c->name, c->port, &c->error);
}

/* --------------------------------------------------------------------------------------------------------- changes */

static int objects_kill(struct objects_command *c)
{
        int r = operator_client_kill(c->client, c->namespace, c->name, &c->error);
        if (r == 0)
                printf("The driver of \"%s\" is deleted.\n", c->name);
        return r;
}

static int objects_restart(struct objects_command *c)
{
        int r = operator_client_restart(c->client, c->namespace, c->name, &c->error);
        if (r == 0)
                printf("\"%s\" will be submitted again.\n", c->name);
        return r;
}

static int objects_reschedule(struct objects_command *c)
{
        _cleanup_free_ char *run = NULL;
        int r = operator_client_reschedule(c->client, c->namespace, c->name, &run, &c->error);
        if (r == 0)
                printf("%s\n", run);
        return r;
}

static int objects_set_suspend(struct objects_command *c)
{
        bool suspend = strcmp(c->word, "suspend") == 0;
        int r = operator_client_suspend(c->client, c->namespace, c->name, suspend, &c->error);
        if (r == 0)
                printf("\"%s\" is %s.\n", c->name, suspend ? "suspended" : "resumed");
        return r;
}

static int objects_delete(struct objects_command *c)
{
        int r = operator_client_delete(c->client, c->namespace, c->name, &c->error);
        if (r == 0)
                printf("\"%s\" is deleted.\n", c->name);
        return r;
}

/* --------------------------------------------------------------------------------------------------------- create */

/* Returns the object of a C file that is in an image under /opt/app, as `firesteel image build --add` puts it there. */
static int objects_of_source(struct objects_command *c, json_t **out)
{
        if (!c->image)
                return error_set(&c->error, -EINVAL,
                                 "%s: name the image that has it with --image, and build that image with `firesteel "
                                 "image build --tag IMAGE --add %s`",
                                 c->name, c->name);
        const char *base = text_base_name(c->name);
        _cleanup_free_ char *stem = mem_strndup(base, strlen(base) - 2), *name = mem_strdup(stem);
        for (char *p = name; *p; p++)
                if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9')))
                        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : '-';
        if (!(*name >= 'a' && *name <= 'z') || access(c->name, R_OK) != 0)
                return error_set(&c->error, -EINVAL, "%s: %s", c->name,
                                 access(c->name, R_OK) != 0 ? strerror(errno) : "its name must begin with a letter");
        _cleanup_free_ char *file = mem_printf("local:///opt/app/%s.so", stem);
        *out = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s, s:s, s:s, s:{s:i, s:s, s:s}, s:{s:i, s:i, s:s}}}",
                         "apiVersion", "sparkoperator.k8s.io/v1beta2", "kind", "SparkApplication", "metadata", "name",
                         name, "spec", "type", "Scala", "mode", "cluster", "sparkVersion", "4.0.0", "image", c->image,
                         "mainApplicationFile", file, "driver", "cores", 1, "memory", "512m", "serviceAccount", "spark",
                         "executor", "instances", 2, "cores", 1, "memory", "512m");
        return 0;
}

static bool objects_is_ours(const json_t *object)
{
        static const char *const kinds[] = {"SparkApplication", "ScheduledSparkApplication", "SparkCluster"};
        const char *kind = json_text_or_empty(object, "kind");
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(kind, kinds[i]) == 0)
                        return true;
        return false;
}

/* Also creates the config maps, secrets and the like beside them. A file without any of our kinds is a mistake. */
static int objects_create_all(struct objects_command *c, const json_t *objects)
{
        json_t *object;
        size_t i, n_ours = 0;
        int r = 0;
        json_array_foreach((json_t *)objects, i, object)
                n_ours += objects_is_ours(object);
        if (n_ours == 0)
                return error_set(
                        &c->error, -EINVAL,
                        "%s: it has no SparkApplication, ScheduledSparkApplication or SparkCluster, but a '%s'",
                        c->name, json_text_or_empty(json_array_get(objects, 0), "kind"));
        json_array_foreach((json_t *)objects, i, object) {
                if (!*json_text_or_empty(object, "kind") || !*json_text_or_empty(object, "apiVersion"))
                        return error_set(&c->error, -EINVAL, "%s: document %zu has no kind or no apiVersion", c->name,
                                         i + 1);
        }
        json_array_foreach((json_t *)objects, i, object) {
                r = c->json ? objects_print_json(object)
                            : operator_client_create(c->client, c->namespace, object, &c->error);
                if (r < 0)
                        return r;
                if (!c->json)
                        printf("%s \"%s\" is created.\n", json_text_or_empty(object, "kind"),
                               json_text_or_empty(object, "metadata.name"));
        }
        return 0;
}

static int objects_create(struct objects_command *c)
{
        if (c->from) {
                int r = operator_client_create_from(c->client, c->namespace, c->from, c->name, &c->error);
                if (r == 0)
                        printf("SparkApplication \"%s\" is created.\n", c->name);
                return r;
        }
        json_t *objects = NULL, *object = NULL;
        int r;
        if (text_ends_with(c->name, ".c")) {
                r = objects_of_source(c, &object);
                objects = object ? json_pack("[o]", object) : NULL;
        } else {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                const char *path = strcmp(c->name, "-") == 0 ? "/dev/stdin" : c->name;
                r = file_text_read(path, MAX_OBJECT_FILE, &text, &c->error);
                if (r == 0)
                        r = yaml_parse_all(buf_text(&text), text.len, &objects, &c->error);
                if (r < 0 && r != -ENOENT)
                        error_wrap(&c->error, r, "%s", c->name);
                if (r == 0 && json_array_size(objects) == 0)
                        r = error_set(&c->error, -EINVAL, "%s: no object in it", c->name);
        }
        if (r == 0)
                r = objects_create_all(c, objects);
        json_decref(objects);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- commands */

static const struct {
        const char *name;
        int (*run)(struct objects_command *c);
        const char *argument; /* NULL: none */
} objects_commands[] = {
        {"create", objects_create, "a file, or a name with --from"},
        {"delete", objects_delete, "the name"},
        {"events", objects_events, "the application's name"},
        {"forward", objects_forward, "the application's name"},
        {"get", objects_get, "the name"},
        {"kill", objects_kill, "the application's name"},
        {"list", objects_list, NULL},
        {"logs", objects_logs, "the application's name"},
        {"reschedule", objects_reschedule, "the schedule's name"},
        {"restart", objects_restart, "the application's name"},
        {"resume", objects_set_suspend, "the name"},
        {"suspend", objects_set_suspend, "the name"},
};

static int objects_find(const char *word)
{
        for (size_t i = 0; i < ARRAY_SIZE(objects_commands); i++)
                if (strcmp(objects_commands[i].name, word) == 0)
                        return (int)i;
        return -1;
}

bool operator_cluster_has(const char *word)
{
        return objects_find(word) >= 0;
}

static int objects_parse(struct objects_command *c, int argc, char **argv, const char *argument)
{
        const char *output = NULL;
        const struct {
                const char *name, **value;
                bool *flag;
        } options[] = {
                {"--namespace", &c->namespace},   {"-n", &c->namespace},
                {"--kubeconfig", &c->kubeconfig}, {"--output", &output},
                {"--executor", &c->executor},     {"--from", &c->from},
                {"--image", &c->image},           {"--all-namespaces", NULL, &c->all},
                {"--follow", NULL, &c->follow},   {"--port", &c->port},
        };
        for (int i = 1; i < argc; i++) {
                size_t k = 0, n = strcspn(argv[i], "=");
                while (k < ARRAY_SIZE(options) &&
                       (strlen(options[k].name) != n || strncmp(options[k].name, argv[i], n)))
                        k++;
                if (k == ARRAY_SIZE(options) || (options[k].flag && argv[i][n])) {
                        if (*argv[i] == '-' && argv[i][1])
                                return objects_usage(c->word, "unknown option", argv[i]);
                        if (c->name || !argument)
                                return objects_usage(c->word, "unexpected argument", argv[i]);
                        c->name = argv[i];
                } else if (options[k].flag) {
                        *options[k].flag = true;
                } else if (argv[i][n]) {
                        *options[k].value = argv[i] + n + 1;
                } else if (i + 1 < argc) {
                        *options[k].value = argv[++i];
                } else {
                        return objects_usage(c->word, "a value is missing for", argv[i]);
                }
        }
        if (argument && !c->name)
                return objects_usage(c->word, "it needs", argument);
        if (output && strcmp(output, "json") != 0)
                return objects_usage(c->word, "--output can only be json, not", output);
        c->json = output != NULL;
        return 0;
}

int operator_cluster_run(int argc, char **argv)
{
        int at = objects_find(argv[0]);
        struct objects_command c = {.word = argv[0], .error = FST_ERROR_INIT};
        int r = objects_parse(&c, argc, argv, objects_commands[at].argument);
        if (r != 0)
                return r;
        bool offline = strcmp(c.word, "create") == 0 && c.json;
        if (!offline)
                r = operator_client_open(c.kubeconfig, &c.client, &c.error);
        if (r == 0 && !c.namespace && !offline)
                c.namespace = operator_client_namespace(c.client);
        if (r == 0)
                r = objects_commands[at].run(&c);
        operator_client_free(c.client);
        if (r == 0 && fflush(stdout) != 0)
                r = error_errno(&c.error, "standard output");
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&c.error));
        error_deinit(&c.error);
        return r < 0;
}
