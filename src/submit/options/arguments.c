/*
 * Parses the command line; see arguments.h. arguments_completion.c adds files and the environment,
 * arguments_validation.c validates the result, arguments_report.c prints it.
 *
 * An error that Spark's launcher finds is returned while parsing. An error that only SparkSubmit finds is stored,
 * because the launcher first opens the files and checks that there is an application.
 */
#include "submit/options/arguments.h"

#include "base/error.h"
#include "base/mem.h"
#include "submit/options/application_kind.h"

void submit_arguments_init(struct submit_arguments *a)
{
        *a = (struct submit_arguments){0};
}

static void arguments_free_all(char **data, size_t len)
{
        for (size_t i = 0; i < len; i++)
                free(data[i]);
}

void submit_arguments_deinit(struct submit_arguments *a)
{
        arguments_free_all(a->value, SUBMIT_FIELDS);
        arguments_free_all(a->application_arguments.data, a->application_arguments.len);
        arguments_free_all(a->extra_properties_files.data, a->extra_properties_files.len);
        arguments_free_all(a->messages.data, a->messages.len);
        vec_deinit(&a->application_arguments);
        vec_deinit(&a->extra_properties_files);
        vec_deinit(&a->messages);
        free(a->submission);
        free(a->kubernetes_namespace);
        free(a->application);
        free(a->primary_resource);
        free(a->conflict);
        free(a->remedy);
        strmap_deinit(&a->properties);
}

static void arguments_replace(char **field, char *value)
{
        free(*field);
        *field = value;
}

/* A command line being parsed. */
struct arguments_reading {
        struct submit_arguments *a;
        bool mixes; /* application arguments may stand among the options */
        bool ended; /* after --version and similar options, or an error: only early options still count */

        /* The word at which parsing stopped because it is not an option, or NULL. */
        const char *word;
        int n_rest;
        char *const *rest;
};

/* Copies a word as Spark's scripts pass it, without a Windows line end. */
static char *arguments_copy_word(const char *word, size_t n)
{
        return mem_strndup(word, n - (n > 0 && word[n - 1] == '\r'));
}

static char *arguments_copy_value(const char *value)
{
        return arguments_copy_word(value, strlen(value));
}

/* Stores the error for later. Only the last deploy mode counts, so its errors are not stored here. */
static void arguments_set_action(struct arguments_reading *r, enum submit_action action, const char *submission)
{
        static const char *const names[] = {[SUBMIT_ACTION_KILL] = "KILL", [SUBMIT_ACTION_STATUS] = "REQUEST_STATUS"};
        struct submit_arguments *a = r->a;
        a->is_special = true;
        if (r->ended)
                return;
        if (a->action != SUBMIT_ACTION_SUBMIT) {
                a->conflict = mem_printf("Action cannot be both %s and %s.", names[a->action], names[action]);
                r->ended = true;
                return;
        }
        a->action = action;
        arguments_replace(&a->submission, arguments_copy_value(submission));
}

static void arguments_end_parsing(struct arguments_reading *r, enum submit_action action)
{
        r->a->is_special = true;
        if (!r->ended)
                r->a->action = action;
        r->ended = true;
}

static int arguments_add_property(struct submit_arguments *a, const char *pair, struct fst_error *error)
{
        const char *equals = strchr(pair, '=');
        if (!equals)
                return error_set(error, -EINVAL, "Invalid argument to --conf: %s", pair);
        _cleanup_free_ char *key = mem_strndup(pair, (size_t)(equals - pair));
        _cleanup_free_ char *value = arguments_copy_value(equals + 1);
        strmap_set(&a->properties, key, value);
        return 0;
}

/*
 * The classes that allow application arguments among the options, and the resource that each one sets. Spark 2.4 does
 * not know Connect's class. Its rules must be selected before --class.
 */
static const char *arguments_class_resource(const struct submit_arguments *a, const char *class)
{
        static const struct {
                const char *class, *resource;
                bool is_connect;
        } classes[] = {
                {"org.apache.spark.repl.Main", "spark-shell"},
                {"org.apache.spark.sql.application.ConnectRepl", "connect-shell", true},
                {"org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal"},
                {"org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "spark-internal"},
                {"org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal", true},
        };
        const char *compat = strmap_get(&a->properties, "spark.firesteel.compat");
        bool without_connect = compat && strcmp(compat, "2.4") == 0;
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
                if (strcmp(classes[i].class, class) == 0 && !(classes[i].is_connect && without_connect))
                        return classes[i].resource;
        }
        return NULL;
}

static void arguments_set_application(struct submit_arguments *a, char *word)
{
        arguments_replace(&a->application, word);
        arguments_replace(&a->primary_resource, mem_strdup(word));
}

static void arguments_take_value(struct arguments_reading *r, enum submit_field field, const char *value)
{
        struct submit_arguments *a = r->a;
        const struct submit_option *o = submit_option_of(field);
        /* The launcher opens the file by its literal name. */
        _cleanup_free_ char *copy = field == SUBMIT_PROPERTIES_FILE ? mem_strdup(value) : arguments_copy_value(value);
        if (o->is_conf) {
                strmap_set(&a->properties, o->keys[0], copy);
                return;
        }
        arguments_replace(&a->value[field], mem_strdup(copy));
        const char *resource = field == SUBMIT_CLASS ? arguments_class_resource(a, value) : NULL;
        if (resource) {
                r->mixes = true;
                arguments_set_application(a, mem_strdup(resource));
        }
}

static int arguments_take_output(struct submit_arguments *a, const char *value, struct fst_error *error)
{
        static const char *const names[] = {
                [SUBMIT_OUTPUT_TEXT] = "text", [SUBMIT_OUTPUT_JSON] = "json", [SUBMIT_OUTPUT_OBJECTS] = "objects"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(value, names[i]) != 0)
                        continue;
                a->output = (enum submit_output)i;
                a->has_output = true;
                return 0;
        }
        return error_set(error, -EINVAL, "--output must be \"text\", \"json\" or \"objects\", but is '%s'", value);
}

static int arguments_take_option(void *context, enum submit_field field, const char *value, struct fst_error *error)
{
        struct arguments_reading *r = context;
        struct submit_arguments *a = r->a;
        const struct submit_option *o = submit_option_of(field);
        if (a->action == SUBMIT_ACTION_VERSION && !o->is_early) {
                vec_push(&a->application_arguments, mem_strdup(o->name));
                if (value)
                        vec_push(&a->application_arguments, arguments_copy_value(value));
                return 0;
        }
        switch (field) {
        case SUBMIT_CONF:
                return arguments_add_property(a, value, error);
        case SUBMIT_EXTRA_PROPERTIES_FILE:
                vec_push(&a->extra_properties_files, mem_strdup(value));
                return 0;
        case SUBMIT_KILL:
        case SUBMIT_STATUS:
                arguments_set_action(r, field == SUBMIT_KILL ? SUBMIT_ACTION_KILL : SUBMIT_ACTION_STATUS, value);
                return 0;
        case SUBMIT_SUPERVISE:
                a->supervise |= !r->ended;
                return 0;
        case SUBMIT_VERBOSE:
                a->verbose |= !r->ended;
                return 0;
        case SUBMIT_LOAD_SPARK_DEFAULTS:
                a->load_spark_defaults = true;
                return 0;
        case SUBMIT_VERSION:
                arguments_end_parsing(r, SUBMIT_ACTION_VERSION);
                return 0;
        case SUBMIT_USAGE_ERROR:
        case SUBMIT_HELP:
                a->usage_error |= field == SUBMIT_USAGE_ERROR && !r->ended;
                arguments_end_parsing(r, SUBMIT_ACTION_HELP);
                return 0;
        case SUBMIT_DRY_RUN:
                a->dry_run = true;
                return 0;
        case SUBMIT_OUTPUT:
                return arguments_take_output(a, value, error);
        case SUBMIT_KUBERNETES_NAMESPACE:
                arguments_replace(&a->kubernetes_namespace, arguments_copy_value(value));
                return 0;
        default:
                if (!r->ended || o->is_early)
                        arguments_take_value(r, field, value);
                return 0;
        }
}

/* Stores where parsing stopped, for read_words. */
static int arguments_stop_at(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error)
{
        struct arguments_reading *r = context;
        r->word = word;
        r->n_rest = n_rest;
        r->rest = rest;
        return 0;
}

static int arguments_read_words(struct arguments_reading *r, int n, char *const *words, struct fst_error *error)
{
        static const struct submit_visitor visitor = {.option = arguments_take_option,
                                                      .application = arguments_stop_at};
        for (;;) {
                r->word = NULL;
                int e = submit_options_read(n, words, &visitor, r, error);
                if (e < 0 || !r->word)
                        return e;
                size_t length = submit_option_name_length(r->word);
                if (!r->mixes)
                        break;
                vec_push(&r->a->application_arguments, arguments_copy_word(r->word, length));
                n = r->n_rest;
                words = r->rest;
        }
        size_t length = submit_option_name_length(r->word);
        if (r->word[0] == '-') {
                const char *meant = submit_option_suggestion(r->word, length);
                if (meant)
                        arguments_replace(&r->a->remedy, mem_printf("Did you mean %s?", meant));
                return error_set(error, -EINVAL, "Unrecognized option: %.*s", (int)length, r->word);
        }
        if (r->a->action == SUBMIT_ACTION_VERSION)
                vec_push(&r->a->application_arguments, arguments_copy_word(r->word, length));
        else
                arguments_set_application(r->a, arguments_copy_word(r->word, length));
        for (int i = 0; i < r->n_rest; i++)
                vec_push(&r->a->application_arguments, arguments_copy_value(r->rest[i]));
        return 0;
}

int submit_arguments_parse(struct submit_arguments *a, int n, char *const *words, struct fst_error *error)
{
        struct arguments_reading r = {.a = a};
        int e = arguments_read_words(&r, n, words, error);
        if (e == 0 && a->has_output && !a->dry_run)
                e = error_set(error, -EINVAL, "--output is for --dry-run: add --dry-run to see what would be run");
        a->usage_error |= e < 0;
        return e;
}

const char *submit_arguments_master(const struct submit_arguments *a)
{
        return a->value[SUBMIT_MASTER] ? a->value[SUBMIT_MASTER] : "local[*]";
}
