/* The driver of a submission, as a standalone master stores it. See rest_driver.h. */
#include "standalone/rest/rest_driver.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "rest/rest_messages.h"
#include "rest/rest_request.h"
#include "standalone/wire/standalone_wire.h"
#include "text/shell_words.h"

#include <stdio.h>
#include <strings.h>

#define DEFAULT_MEMORY 1024 /* MiB */
#define SPARK_SUBMIT_CLASS "org.apache.spark.deploy.SparkSubmit"

static char *arena_keep_text(struct arena *memory, const char *text)
{
        return arena_copy(memory, text, strlen(text));
}

static void *allocate_list(struct arena *memory, size_t n)
{
        return arena_alloc(memory, (n ? n : 1) * sizeof(void *));
}

/* "{{NAME}}" is replaced by this process's variable of that name, if it exists. Variables that hold secrets are not.
 */
static const char *resolve_variables(const char *value)
{
        size_t n = strlen(value);
        if (n < 4 || !text_starts_with(value, "{{") || !text_ends_with(value, "}}"))
                return value;
        _cleanup_free_ char *name = mem_strndup(value + 2, n - 4);
        const char *found = text_starts_with(name, "_SPARK_") ? NULL : getenv(name);
        return found ? found : value;
}

static Firesteel__Standalone__Property **put_map(struct arena *memory, const struct strmap *map, size_t *n,
                                                 bool (*left_out)(const char *key))
{
        Firesteel__Standalone__Property **list = allocate_list(memory, map->count);
        *n = 0;
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));) {
                if (left_out && left_out(e->key))
                        continue;
                Firesteel__Standalone__Property *p = arena_alloc(memory, sizeof(*p));
                firesteel__standalone__property__init(p);
                p->key = arena_keep_text(memory, e->key);
                p->value = arena_keep_text(memory, resolve_variables(e->value));
                list[(*n)++] = p;
        }
        return list;
}

static bool is_of_a_host(const char *name)
{
        return strcmp(name, "SPARK_LOCAL_IP") == 0 || strcmp(name, "SPARK_LOCAL_HOSTNAME") == 0;
}

/* The client's own credential, which the driver and its worker do not need. */
static bool is_rest_token(const char *key)
{
        return strcmp(key, REST_TOKEN_KEY) == 0;
}

static const char *rest_request_property(const struct rest_request *q, const char *key)
{
        const char *value = strmap_get(&q->properties, key);
        return value ? resolve_variables(value) : NULL;
}

/* Splits at colons and drops trailing empty parts, as Java's split does. */
static char **put_paths(struct arena *memory, const char *text, size_t *n)
{
        size_t most = 1;
        *n = 0;
        for (const char *p = text; p && *p; p++)
                most += *p == ':';
        char **list = allocate_list(memory, most);
        size_t filled = 0;
        for (const char *p = text; p && *p;) {
                size_t len = strcspn(p, ":");
                list[filled++] = arena_copy(memory, p, len);
                if (len)
                        *n = filled;
                p += len + (p[len] == ':');
        }
        return list;
}

static int put_java_options(const struct rest_request *q, Firesteel__Standalone__Command *c, struct arena *memory,
                            struct fst_error *error)
{
        static const char *const keys[] = {"spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"};
        struct option_words words = {0};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                int r = option_string_split(rest_request_property(q, keys[i]), &words, error);
                if (r < 0) {
                        option_words_deinit(&words);
                        return error_wrap(error, -EBADMSG, "%s", keys[i]);
                }
        }
        c->java_options = allocate_list(memory, words.len);
        c->n_java_options = words.len;
        for (size_t i = 0; i < words.len; i++)
                c->java_options[i] = arena_keep_text(memory, words.data[i]);
        option_words_deinit(&words);
        return 0;
}

static void put_arguments(const struct rest_request *q, Firesteel__Standalone__Command *c, struct arena *memory)
{
        const char *name = rest_request_property(q, "spark.app.name");
        c->arguments = allocate_list(memory, q->app_args.len + 5);
        c->arguments[c->n_arguments++] = arena_keep_text(memory, "{{WORKER_URL}}");
        c->arguments[c->n_arguments++] = arena_keep_text(memory, "{{USER_JAR}}");
        c->arguments[c->n_arguments++] = arena_keep_text(memory, q->main_class);
        if (strcmp(q->main_class, SPARK_SUBMIT_CLASS) == 0 && name) {
                _cleanup_free_ char *setting = mem_printf("spark.app.name=%s", name);
                c->arguments[c->n_arguments++] = arena_keep_text(memory, "-c");
                c->arguments[c->n_arguments++] = arena_keep_text(memory, setting);
        }
        for (size_t i = 0; i < q->app_args.len; i++)
                c->arguments[c->n_arguments++] = arena_keep_text(memory, q->app_args.data[i]);
}

static int port_of(const char *url)
{
        const char *colon = strrchr(url, ':');
        return colon ? atoi(colon + 1) : 0;
}

/* The masters for the driver: the client's list with the masters' own port in place of their REST servers'. */
static char *master_of(const struct rest_request *q, const char *master_url, int rest_port)
{
        const char *given = rest_request_property(q, "spark.master");
        struct buf out = BUF_INIT;
        char from[16];
        int n = snprintf(from, sizeof(from), ":%d", rest_port);
        for (const char *p = given ? given : master_url; *p;) {
                if (given && strncmp(p, from, (size_t)n) == 0) {
                        buf_printf(&out, ":%d", port_of(master_url));
                        p += n;
                } else {
                        buf_putc(&out, *p++);
                }
        }
        return buf_steal(&out);
}

static void set_property(Firesteel__Standalone__Command *c, struct arena *memory, const char *key, const char *value)
{
        for (size_t i = 0; i < c->n_properties; i++)
                if (strcmp(c->properties[i]->key, key) == 0) {
                        c->properties[i]->value = arena_keep_text(memory, value);
                        return;
                }
        Firesteel__Standalone__Property **list = allocate_list(memory, c->n_properties + 1);
        memcpy(list, c->properties, c->n_properties * sizeof(*list));
        c->properties = list;
        Firesteel__Standalone__Property *p = arena_alloc(memory, sizeof(*p));
        firesteel__standalone__property__init(p);
        p->key = arena_keep_text(memory, key);
        p->value = arena_keep_text(memory, value);
        list[c->n_properties++] = p;
}

static int put_command(const struct rest_request *q, const char *master_url, int rest_port,
                       Firesteel__Standalone__Command *c, struct arena *memory, struct fst_error *error)
{
        _cleanup_free_ char *master = master_of(q, master_url, rest_port);
        firesteel__standalone__command__init(c);
        c->main_class = arena_keep_text(memory, STANDALONE_DRIVER_CLASS);
        put_arguments(q, c, memory);
        c->environment = put_map(memory, &q->environment, &c->n_environment, is_of_a_host);
        c->properties = put_map(memory, &q->properties, &c->n_properties, is_rest_token);
        set_property(c, memory, "spark.master", master);
        c->class_path = put_paths(memory, rest_request_property(q, "spark.driver.extraClassPath"), &c->n_class_path);
        c->library_path =
                put_paths(memory, rest_request_property(q, "spark.driver.extraLibraryPath"), &c->n_library_path);
        return put_java_options(q, c, memory, error);
}

/* Parses a 32-bit integer as Java does. */
static bool read_int(const char *text, int32_t *out)
{
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (!*text || *end || errno || (*text != '-' && *text != '+' && (*text < '0' || *text > '9')) ||
            value < INT32_MIN || value > INT32_MAX)
                return false;
        *out = (int32_t)value;
        return true;
}

static int not_a_number(const char *key, const char *value, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "java.lang.NumberFormatException: For input string: \"%s\" (%s)", value, key);
}

/* spark.driver.resource.NAME.amount */
static int put_needs(const struct rest_request *q, Firesteel__Standalone__DriverDescription *d, struct arena *memory,
                     struct fst_error *error)
{
        static const char prefix[] = "spark.driver.resource.", suffix[] = ".amount";
        d->needs = allocate_list(memory, q->properties.count);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&q->properties, e));) {
                size_t n = strlen(e->key), around = sizeof(prefix) + sizeof(suffix) - 2;
                int32_t amount;
                if (n <= around || !text_starts_with(e->key, prefix) || !text_ends_with(e->key, suffix))
                        continue;
                if (!read_int(resolve_variables(e->value), &amount) || amount < 0)
                        return not_a_number(e->key, resolve_variables(e->value), error);
                if (amount == 0)
                        continue;
                Firesteel__Standalone__ResourceNeed *need = arena_alloc(memory, sizeof(*need));
                firesteel__standalone__resource_need__init(need);
                need->name = arena_copy(memory, e->key + sizeof(prefix) - 1, n - around);
                need->amount = amount;
                d->needs[d->n_needs++] = need;
        }
        return 0;
}

static int put_size(const struct rest_request *q, Firesteel__Standalone__DriverDescription *d, struct fst_error *error)
{
        const char *cores = rest_request_property(q, "spark.driver.cores"),
                   *memory = rest_request_property(q, "spark.driver.memory");
        const char *supervise = rest_request_property(q, "spark.driver.supervise");
        d->cores = 1;
        d->memory = DEFAULT_MEMORY;
        if (cores && (!read_int(cores, &d->cores) || d->cores < 0))
                return not_a_number("spark.driver.cores", cores, error);
        if (memory && units_parse_bytes(memory, UNIT_B, UNIT_MIB, &d->memory, error) < 0)
                return error_wrap(error, -EBADMSG, "spark.driver.memory");
        if (d->memory < 0 || d->memory > INT32_MAX)
                return not_a_number("spark.driver.memory", memory, error);
        d->supervise = supervise && strcasecmp(supervise, "true") == 0;
        return 0;
}

int rest_request_driver(const struct rest_request *q, const char *master_url, int rest_port,
                        Firesteel__Standalone__DriverDescription **out, struct arena *memory, struct fst_error *error)
{
        Firesteel__Standalone__DriverDescription *d = arena_alloc(memory, sizeof(*d));
        firesteel__standalone__driver_description__init(d);
        d->jar_url = arena_keep_text(memory, q->app_resource);
        d->command = arena_alloc(memory, sizeof(*d->command));
        int r = put_size(q, d, error);
        if (r == 0)
                r = put_needs(q, d, memory, error);
        if (r == 0)
                r = put_command(q, master_url, rest_port, d->command, memory, error);
        if (r == 0)
                *out = d;
        return r;
}

int rest_request_spec(const struct rest_request *q, const char *master_url, int rest_port, struct driver_spec *spec,
                      struct arena *memory, struct fst_error *error)
{
        Firesteel__Standalone__DriverDescription *d;
        int r = rest_request_driver(q, master_url, rest_port, &d, memory, error);
        if (r < 0)
                return r;
        struct resource_need *needs = arena_alloc(memory, (d->n_needs + 1) * sizeof(*needs));
        for (size_t i = 0; i < d->n_needs; i++)
                needs[i] = (struct resource_need){d->needs[i]->name, d->needs[i]->amount};
        const size_t size = protobuf_c_message_get_packed_size(&d->base);
        uint8_t *body = arena_alloc(memory, size);
        protobuf_c_message_pack(&d->base, body);
        *spec = (struct driver_spec){.main_class = q->main_class,
                                     .cores = d->cores,
                                     .memory = d->memory,
                                     .supervise = d->supervise,
                                     .needs = needs,
                                     .n_needs = (int)d->n_needs,
                                     .body = {body, size}};
        return 0;
}
