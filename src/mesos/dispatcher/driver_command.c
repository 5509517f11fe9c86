/* See driver_command.h. */
#include "mesos/dispatcher/driver_command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/driver_settings.h"
#include "rest/rest_request.h"
#include "text/number_format.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define ENVIRONMENT_PREFIX "spark.mesos.driverEnv."
#define OPTIONS_VARIABLE "SPARK_SUBMIT_OPTS"
#define LOCAL "local://"
#define SANDBOX "$MESOS_SANDBOX"

static const char *driver_command_get(const struct driver_command *c, const char *key)
{
        return driver_description_get(c->request, key, NULL);
}

const char *driver_command_archive(const struct driver_command *c)
{
        const char *uri = driver_command_get(c, "spark.executor.uri");
        return uri ? uri : strmap_get(&c->request->environment, "SPARK_EXECUTOR_URI");
}

static bool driver_command_has_image(const struct driver_command *c)
{
        return driver_command_get(c, "spark.mesos.executor.docker.image") != NULL;
}

/* The application is a file of the image. */
static bool driver_command_is_in_container(const struct driver_command *c)
{
        const char *mode = driver_command_get(c, "spark.mesos.appJar.local.resolution.mode");
        return mode && strcmp(mode, "container") == 0 && text_starts_with(c->request->app_resource, LOCAL);
}

/* ------------------------------------------------------------------------------------------------- words */

static void driver_command_put_quoted(struct buf *out, const char *text)
{
        buf_putc(out, '"');
        for (; *text; text++) {
                if (strchr("\"`$\\", *text))
                        buf_putc(out, '\\');
                buf_putc(out, *text);
        }
        buf_putc(out, '"');
}

void driver_command_put_word(struct buf *out, const char *word)
{
        const size_t n = strlen(word);
        const bool quoted = n >= 2 && (*word == '"' || *word == '\'') && word[n - 1] == *word;
        if (quoted || (n > 0 && !strpbrk(word, " \t\r\n'<>&|?*;!#\\()\"$`[]{}~")))
                buf_puts(out, word);
        else
                driver_command_put_quoted(out, word);
}

static void driver_command_put_option(struct buf *out, const char *option, const char *value)
{
        buf_printf(out, " %s ", option);
        driver_command_put_word(out, value);
}

/* ------------------------------------------------------------------------------------------------- the program */

/* LD_LIBRARY_PATH of the archive's program. */
static void driver_command_put_library_path(const struct driver_command *c, struct buf *out)
{
        const char *own = conf_get_raw(c->conf, "spark.executor.extraLibraryPath"),
                   *driver = driver_command_get(c, "spark.driver.extraLibraryPath");
        if (own || driver)
                buf_printf(out, "LD_LIBRARY_PATH=\"%s%s%s:$LD_LIBRARY_PATH\"", own ? own : "", own && driver ? ":" : "",
                           driver ? driver : "");
}

/* Appends the program. Returns the directory of the fetched files. */
static const char *driver_command_put_program(const struct driver_command *c, struct buf *out)
{
        const char *archive = driver_command_archive(c), *home = driver_command_get(c, "spark.mesos.executor.home");
        if (driver_command_has_image(c)) {
                buf_puts(out, "./bin/spark-submit");
                return SANDBOX;
        }
        if (archive) {
                const char *name = text_base_name(archive);
                buf_printf(out, "cd %.*s*; ", (int)strcspn(name, "."), name);
                driver_command_put_library_path(c, out);
                buf_puts(out, " bin/spark-submit");
                return "..";
        }
        if (!home)
                home = c->home;
        buf_printf(out, "%s%s./bin/spark-submit", home, text_ends_with(home, "/") ? "" : "/");
        return ".";
}

/* --py-files: the names that the files have where they were fetched to. */
static void driver_command_put_python_files(const struct driver_command *c, struct buf *out, const char *sandbox)
{
        const char *files = driver_command_get(c, "spark.submit.pyFiles");
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        if (!files)
                return;
        _cleanup_free_ char *copy = mem_strdup(files);
        const bool expand = strcmp(sandbox, SANDBOX) == 0;
        for (char *at = copy, *file; (file = strsep(&at, ","));)
                buf_printf(&names, "%s%s/%s", names.len ? "," : "", expand ? "" : sandbox,
                           text_base_name(conf_trim(file)));
        if (!expand)
                return driver_command_put_option(out, "--py-files", buf_text(&names));
        buf_puts(out, " --py-files ");
        for (const char *name = buf_text(&names); *name; name += strcspn(name, ",")) { /* each quoted by itself */
                name += *name == ',';
                _cleanup_free_ char *one = mem_strndup(name, strcspn(name, ","));
                buf_printf(out, "%s" SANDBOX, name == buf_text(&names) ? "" : ",");
                driver_command_put_word(out, one);
        }
}

static bool driver_command_passes(const char *key)
{
        static const char *const left_out[] = {
                "spark.jars", "spark.submit.deployMode", "spark.master",
                "spark.mesos.driver.secret.values", /* others could read them on the agent */
        };
        for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
                if (strcmp(left_out[i], key) == 0)
                        return false;
        return true;
}

static void driver_command_put_settings(const struct driver_command *c, struct buf *out)
{
        _cleanup_(strmap_deinit) struct strmap settings = STRMAP_INIT;
        driver_settings_merge(c, &settings);
        struct strmap_entry **sorted = strmap_sorted(&settings);
        for (size_t i = 0; i < settings.count; i++) {
                if (!driver_command_passes(sorted[i]->key))
                        continue;
                _cleanup_free_ char *setting = mem_printf("%s=%s", sorted[i]->key, sorted[i]->value);
                driver_command_put_option(out, "--conf", setting);
        }
        free(sorted);
}

static void driver_command_put_cores(struct buf *out, double cores)
{
        char text[NUMBER_F64_SIZE + 1];
        text[number_format_f64(text, cores)] = '\0';
        if (cores == floor(cores) && cores < 1e9)
                snprintf(text, sizeof(text), "%.0f", cores);
        buf_printf(out, " --driver-cores %s", text);
}

static void driver_command_put_resource(const struct driver_command *c, struct buf *out, const char *sandbox)
{
        const char *resource = c->request->app_resource;
        buf_putc(out, ' ');
        if (driver_command_is_in_container(c))
                return driver_command_put_word(out, resource + strlen(LOCAL));
        if (strcmp(sandbox, SANDBOX) == 0) {
                _cleanup_free_ char *name = mem_printf("/%s", text_base_name(resource));
                buf_puts(out, SANDBOX);
                return driver_command_put_word(out, name);
        }
        _cleanup_free_ char *path = mem_printf("%s/%s", sandbox, text_base_name(resource));
        driver_command_put_word(out, path);
}

void driver_command_put(const struct driver_command *c, struct buf *out)
{
        const struct rest_request *q = c->request;
        const char *memory = driver_command_get(c, "spark.executor.memory"),
                   *cores = driver_command_get(c, "spark.cores.max");
        const char *sandbox = driver_command_put_program(c, out);
        _cleanup_free_ char *master = mem_printf("mesos://%s", c->master);
        driver_command_put_option(out, "--name", driver_description_get(q, "spark.app.name", q->main_class));
        driver_command_put_option(out, "--master", master);
        driver_command_put_cores(out, c->cores);
        buf_printf(out, " --driver-memory %lldM", (long long)c->memory);
        if (*q->main_class)
                driver_command_put_option(out, "--class", q->main_class);
        if (memory)
                driver_command_put_option(out, "--executor-memory", memory);
        if (cores)
                driver_command_put_option(out, "--total-executor-cores", cores);
        driver_command_put_python_files(c, out, sandbox);
        driver_command_put_settings(c, out);
        driver_command_put_resource(c, out, sandbox);
        for (size_t i = 0; i < q->app_args.len; i++) {
                buf_putc(out, ' ');
                driver_command_put_word(out, q->app_args.data[i]);
        }
}

/* ------------------------------------------------------------------------------------------------- files, variables */

static void driver_command_add_list(struct string_list *out, const char *list)
{
        _cleanup_free_ char *copy = mem_strdup(list ? list : "");
        for (char *at = copy, *word; (word = strsep(&at, ","));) {
                word = conf_trim(word);
                if (*word)
                        string_list_add(out, word);
        }
}

void driver_command_uris(const struct driver_command *c, struct string_list *out)
{
        const char *resource = c->request->app_resource, *archive = driver_command_archive(c);
        if (!driver_command_is_in_container(c)) {
                resource += text_starts_with(resource, "file:") ? 5 : text_starts_with(resource, "local:") ? 6 : 0;
                string_list_add(out, resource);
        }
        driver_command_add_list(out, conf_get_raw(c->conf, "spark.mesos.uris"));
        driver_command_add_list(out, driver_command_get(c, "spark.mesos.uris"));
        driver_command_add_list(out, driver_command_get(c, "spark.submit.pyFiles"));
        if (archive)
                string_list_add(out, archive);
}

int driver_command_cache(const struct driver_command *c, bool *cache, struct fst_error *error)
{
        static const char key[] = "spark.mesos.fetcherCache.enable";
        const char *value = driver_command_get(c, key);
        int r = conf_get_bool(c->conf, key, cache, error);
        if (r == 0 && value && strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
                r = error_set(error, -EINVAL, "%s: \"%s\" is neither true nor false", key, value);
        *cache |= r == 0 && value && strcasecmp(value, "true") == 0;
        return r;
}

void driver_command_environment(const struct driver_command *c, struct strmap *out)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->request->properties, e));)
                if (text_starts_with(e->key, ENVIRONMENT_PREFIX))
                        strmap_set(out, e->key + strlen(ENVIRONMENT_PREFIX), e->value);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->request->environment, e));)
                strmap_set(out, e->key, e->value);
        const char *options = strmap_get(&c->request->environment, OPTIONS_VARIABLE);
        _cleanup_free_ char *all = mem_printf("%s -Dspark.mesos.driver.frameworkId=%s-%s", options ? options : "",
                                              c->framework_id, c->task_id);
        strmap_remove(out, OPTIONS_VARIABLE); /* the last one */
        strmap_set(out, OPTIONS_VARIABLE, all);
}
