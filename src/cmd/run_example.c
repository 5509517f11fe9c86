/*
 * See run_example.h. As in Spark, options of spark-submit may precede and follow the example's name. The remaining
 * words are the example's arguments.
 */
#include "cmd/run_example.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "exec/app/app_compiler.h"
#include "submit/options/options.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define EXAMPLE_PACKAGE "org.apache.spark.examples."

/* Names of Spark's examples, and the files of ours that do the same. */
static const struct {
        const char *class, *file;
} example_classes[] = {
        {"BroadcastTest", "broadcast_test"},
        {"GroupByTest", "group_by"},
        {"JavaWordCount", "wordcount"},
        {"LogQuery", "log_query"},
        {"MultiBroadcastTest", "multi_broadcast"},
        {"SkewedGroupByTest", "skewed_group_by"},
        {"SparkKMeans", "kmeans"},
        {"SparkLR", "logistic_regression"},
        {"SparkPageRank", "pagerank"},
        {"SparkPi", "spark_pi"},
        {"SparkTC", "transitive_closure"},
};

/* A command line, divided. The words are borrowed. */
struct example_line {
        VEC(char *) options, arguments;
        const char *name; /* NULL: none */
        bool is_complete; /* without a name: --help, --version, or options that spark-submit will refuse */

        char *const *rest; /* where the parser stopped; NULL: at the end */
        int n_rest;
};

static int example_line_on_option(void *context, enum submit_field field, const char *value, struct fst_error *error)
{
        struct example_line *line = context;
        line->is_complete |= field == SUBMIT_HELP || field == SUBMIT_VERSION || field == SUBMIT_USAGE_ERROR;
        return 0;
}

static int example_line_on_word(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error)
{
        struct example_line *line = context;
        line->rest = rest;
        line->n_rest = n_rest;
        return 1;
}

static void example_line_read(struct example_line *line, int n, char *const *words)
{
        static const struct submit_visitor visitor = {.option = example_line_on_option,
                                                      .application = example_line_on_word};
        while (n > 0) {
                line->rest = NULL;
                int r = submit_options_read(n, words, &visitor, line, NULL);
                line->is_complete |= r < 0; /* a value is missing */
                int n_options = line->rest ? n - line->n_rest - 1 : n;
                for (int i = 0; i < n_options; i++)
                        vec_push(&line->options, words[i]);
                if (n_options == n)
                        return;
                char *word = words[n_options];
                if (line->name) {
                        vec_push(&line->arguments, word);
                } else if (word[0] == '-') {
                        vec_push(&line->options, word); /* unknown */
                        line->is_complete = true;
                        return;
                } else {
                        line->name = word;
                }
                words = line->rest;
                n = line->n_rest;
        }
}

static void example_line_deinit(struct example_line *line)
{
        vec_deinit(&line->options);
        vec_deinit(&line->arguments);
}

/* The path of the C file of @stem, which the caller owns, or NULL if there is none. */
static char *example_file(const char *stem)
{
        const char *home = app_compiler_home();
        _cleanup_free_ char *path =
                home && stem[0] && !strchr(stem, '/') ? mem_printf("%s/examples/%s.c", home, stem) : NULL;
        return path && access(path, R_OK) == 0 ? steal(path) : NULL;
}

/* As example_file, for "pi", "wordcount" and "wordcount.c", and with @classes for the names of Spark's examples. */
static char *example_find(const char *name, bool classes)
{
        if (strcmp(name, "pi") == 0)
                return example_file("spark_pi");
        _cleanup_free_ char *stem = mem_strndup(name, strlen(name) - (text_ends_with(name, ".c") ? strlen(".c") : 0));
        char *path = example_file(stem);
        if (path || !classes)
                return path;
        const char *class = text_starts_with(name, EXAMPLE_PACKAGE) ? name + strlen(EXAMPLE_PACKAGE) : name;
        for (size_t i = 0; i < ARRAY_SIZE(example_classes); i++)
                if (strcmp(example_classes[i].class, class) == 0)
                        return example_file(example_classes[i].file);
        return NULL;
}

static bool example_has_spark(void)
{
        const char *home = getenv("SPARK_HOME");
        return home && home[0];
}

bool run_example_is_native(int n, char *const *words)
{
        struct example_line line = {0};
        if (!example_has_spark())
                return true;
        example_line_read(&line, n, words);
        _cleanup_free_ char *path = line.name ? example_find(line.name, false) : NULL;
        example_line_deinit(&line);
        return path != NULL;
}

static int example_is_source(const struct dirent *entry)
{
        return text_ends_with(entry->d_name, ".c");
}

static void example_put_names(struct buf *out)
{
        const char *home = app_compiler_home();
        _cleanup_free_ char *directory = home ? mem_printf("%s/examples", home) : NULL;
        struct dirent **entries;
        int n = directory ? scandir(directory, &entries, example_is_source, alphasort) : -1;
        for (int i = 0; i < n; i++) {
                buf_printf(out, "%s%.*s", i ? ", " : "", (int)strlen(entries[i]->d_name) - 2, entries[i]->d_name);
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
}

/* Reports that there is no example @name (NULL: that a name is missing). */
static int example_refuse(const char *name)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        example_put_names(&names);
        if (name)
                fprintf(stderr, "Error: '%s' is not an example of Firesteel", name);
        else
                fputs("Error: the name of an example is missing, such as run-example pi", stderr);
        if (names.len)
                fprintf(stderr, ". The examples are %s", buf_text(&names));
        else
                fputs(". No examples are installed: FIRESTEEL_HOME names the directory that contains examples/",
                      stderr);
        fputs(name ? ". Spark's own need Spark itself: set SPARK_HOME to where Spark is installed\n" : "\n", stderr);
        return 1;
}

int run_example(int n, char *const *words)
{
        struct example_line line = {0};
        VEC(char *) all = {0};
        int status;
        example_line_read(&line, n, words);
        _cleanup_free_ char *path =
                line.name && !line.is_complete ? example_find(line.name, !example_has_spark()) : NULL;
        vec_push(&all, (char *)"spark-submit");
        for (size_t i = 0; i < line.options.len; i++)
                vec_push(&all, line.options.data[i]);
        if (path)
                vec_push(&all, path);
        for (size_t i = 0; path && i < line.arguments.len; i++)
                vec_push(&all, line.arguments.data[i]);
        size_t n_all = all.len;
        vec_push(&all, NULL);
        status = path || line.is_complete ? command_submit((int)n_all, all.data) : example_refuse(line.name);
        vec_deinit(&all);
        example_line_deinit(&line);
        return status;
}
