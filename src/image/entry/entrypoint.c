/* See entrypoint.h. */
#include "image/entry/entrypoint.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/shell_words.h"

#include <dirent.h>
#include <stdio.h>

#define JAVA_OPTION "SPARK_JAVA_OPT_"

enum entrypoint_role entrypoint_role_of(const char *word)
{
        static const struct {
                const char *word;
                enum entrypoint_role role;
        } roles[] = {
                {"driver", ENTRYPOINT_DRIVER},     {"driver-py", ENTRYPOINT_DRIVER}, {"driver-r", ENTRYPOINT_DRIVER},
                {"executor", ENTRYPOINT_EXECUTOR}, {"init", ENTRYPOINT_INIT},
        };
        for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
                if (strcmp(roles[i].word, word) == 0)
                        return roles[i].role;
        return ENTRYPOINT_COMMAND;
}

static const char *entrypoint_variable(char *const *environment, const char *name)
{
        size_t n = strlen(name);
        for (; *environment; environment++)
                if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
                        return *environment + n + 1;
        return NULL;
}

static void entrypoint_add_pair(struct string_list *out, const char *option, const char *value)
{
        string_list_add(out, option);
        string_list_add(out, value);
}

static void entrypoint_add_setting(struct string_list *out, const char *key, const char *value)
{
        string_list_add(out, "--conf");
        string_list_take(out, mem_printf("%s=%s", key, value));
}

struct java_option {
        long number;
        const char *text;
};

static int entrypoint_by_number(const void *a, const void *b)
{
        const struct java_option *x = a, *y = b;
        return (x->number > y->number) - (x->number < y->number);
}

/* -Dspark.KEY=VALUE, in the order of their numbers. Other options are for a JVM and are skipped. */
static void entrypoint_add_java_options(char *const *environment, struct string_list *out)
{
        size_t most = 0, n = 0, prefix = strlen(JAVA_OPTION);
        while (environment[most])
                most++;
        struct java_option *options = new_array(struct java_option, most + 1);
        for (size_t i = 0; i < most; i++) {
                const char *equals = strchr(environment[i], '=');
                if (text_starts_with(environment[i], JAVA_OPTION) && equals)
                        options[n++] = (struct java_option){strtol(environment[i] + prefix, NULL, 10), equals + 1};
        }
        qsort(options, n, sizeof(*options), entrypoint_by_number);
        for (size_t i = 0; i < n; i++)
                if (text_starts_with(options[i].text, "-Dspark.") && strchr(options[i].text, '='))
                        entrypoint_add_pair(out, "--conf", options[i].text + 2);
        free(options);
}

/* ----------------------------------------------------------------------------------------------------------- driver */

static int entrypoint_by_name(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

static int entrypoint_is_module(const struct dirent *entry)
{
        return text_ends_with(entry->d_name, ".so");
}

/*
 * Finds the application in a class path entry: the entry itself, or the first module of a directory ("/jars/" and a
 * star).
 */
static int entrypoint_find_application(const char *entry, size_t n, char **out, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_strndup(entry, n);
        if (text_ends_with(path, ".so") || text_ends_with(path, ".c") || text_ends_with(path, ".jar")) {
                *out = steal(path);
                return 0;
        }
        if (!text_ends_with(path, "/*"))
                return 0;
        path[n - 2] = '\0';
        struct dirent **names;
        int count = scandir(path, &names, entrypoint_is_module, entrypoint_by_name);
        if (count < 0)
                return errno == ENOENT ? 0 : error_errno(error, "SPARK_MOUNTED_CLASSPATH: %s", path);
        if (count > 0)
                *out = mem_printf("%s/%s", path, names[0]->d_name);
        for (int i = 0; i < count; i++)
                free(names[i]);
        free(names);
        return 0;
}

static int entrypoint_add_older_driver(char *const *environment, struct string_list *out, struct fst_error *error)
{
        const char *class = entrypoint_variable(environment, "SPARK_DRIVER_CLASS");
        const char *memory = entrypoint_variable(environment, "SPARK_DRIVER_MEMORY");
        const char *path = entrypoint_variable(environment, "SPARK_MOUNTED_CLASSPATH");
        _cleanup_free_ char *application = NULL;
        struct option_words arguments = {0};
        int r = 0;
        for (const char *at = path ? path : ""; *at && !application && r == 0;) {
                size_t n = strcspn(at, ":");
                r = entrypoint_find_application(at, n, &application, error);
                at += n + (at[n] == ':');
        }
        if (r == 0 && !application)
                r = error_set(error, -EINVAL,
                              "no application found: SPARK_MOUNTED_CLASSPATH (%s) must name a shared object",
                              path ? path : "not set");
        if (r == 0)
                r = option_string_split(entrypoint_variable(environment, "SPARK_DRIVER_ARGS"), &arguments, error);
        if (r == 0) {
                entrypoint_add_java_options(environment, out);
                entrypoint_add_pair(out, "--class", class);
                if (memory && *memory)
                        entrypoint_add_pair(out, "--driver-memory", memory);
                string_list_add(out, application);
                for (size_t i = 0; i < arguments.len; i++)
                        string_list_add(out, arguments.data[i]);
        }
        option_words_deinit(&arguments);
        return r;
}

static int entrypoint_driver_command(int argc, char *const *argv, char *const *environment, struct string_list *out,
                                     struct fst_error *error)
{
        const char *address = entrypoint_variable(environment, "SPARK_DRIVER_BIND_ADDRESS");
        if (!address || !*address)
                return error_set(error, -EINVAL, "SPARK_DRIVER_BIND_ADDRESS is not set: set it to the pod's address");
        string_list_add(out, "spark-submit");
        entrypoint_add_setting(out, "spark.driver.bindAddress", address);
        entrypoint_add_setting(out, "spark.executorEnv.SPARK_DRIVER_POD_IP", address);
        entrypoint_add_pair(out, "--deploy-mode", "client");
        if (argc == 1 && entrypoint_variable(environment, "SPARK_DRIVER_CLASS"))
                return entrypoint_add_older_driver(environment, out, error);
        if (argc == 1)
                return error_set(error, -EINVAL,
                                 "the driver has no application: give arguments or set "
                                 "SPARK_DRIVER_CLASS");
        for (int i = 1; i < argc; i++)
                string_list_add(out, argv[i]);
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- executor */

static int entrypoint_executor_command(char *const *environment, struct string_list *out, struct fst_error *error)
{
        static const struct {
                const char *option, *variable;
                int needed;
        } parts[] = {
                {"--driver-url", "SPARK_DRIVER_URL", 1},    {"--executor-id", "SPARK_EXECUTOR_ID", 1},
                {"--cores", "SPARK_EXECUTOR_CORES", 1},     {"--app-id", "SPARK_APPLICATION_ID", 1},
                {"--hostname", "SPARK_EXECUTOR_POD_IP", 1}, {"--resourceProfileId", "SPARK_RESOURCE_PROFILE_ID", 0},
        };
        entrypoint_add_pair(out, "firesteel", "executor");
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                const char *value = entrypoint_variable(environment, parts[i].variable);
                if (value && *value)
                        entrypoint_add_pair(out, parts[i].option, value);
                else if (parts[i].needed)
                        return error_set(error, -EINVAL, "%s is not set: an executor needs it in its environment",
                                         parts[i].variable);
        }
        entrypoint_add_java_options(environment, out);
        return 0;
}

int entrypoint_command(int argc, char *const *argv, char *const *environment, struct string_list *out,
                       struct fst_error *error)
{
        if (argc == 0)
                return error_set(error, -EINVAL,
                                 "this container has no command: its first argument must be driver, executor, init, "
                                 "or a command such as 'firesteel master'");
        switch (entrypoint_role_of(argv[0])) {
        case ENTRYPOINT_DRIVER:
                return entrypoint_driver_command(argc, argv, environment, out, error);
        case ENTRYPOINT_EXECUTOR:
                return entrypoint_executor_command(environment, out, error);
        default:
                for (int i = 0; i < argc; i++)
                        string_list_add(out, argv[i]);
                return 0;
        }
}
