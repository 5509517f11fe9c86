/* firesteel yarn-am: started by YARN for an application, and by drivers to write the archive of Firesteel. */
#include "cmd/command.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "yarn/application/program_archive.h"
#include "yarn/backend/cluster_driver.h"
#include "yarn/backend/executor_launcher.h"

#include <stdio.h>
#include <string.h>

const char command_yarn_am_help[] =
        "Usage: firesteel yarn-am --arg HOST:PORT [--conf KEY=VALUE]...\n"
        "       firesteel yarn-am --class NAME --jar FILE [--arg WORD]... [OPTIONS]\n"
        "       firesteel yarn-am --class NAME --primary-py-file FILE [--pyspark FILE]... [--arg WORD]... [OPTIONS]\n"
        "       firesteel yarn-am --class NAME --primary-r-file FILE [--arg WORD]... [OPTIONS]\n"
        "       firesteel yarn-am --write-archive FILE\n"
        "\n"
        "The ApplicationMaster of an application on YARN, which YARN starts in a container: in client mode for the driver\n"
        "at HOST:PORT, in cluster mode as the driver.\n"
        "\n"
        "  --arg HOST:PORT        the driver\n"
        "  --class NAME           cluster mode: the application's function, or Spark's class that runs Python or R\n"
        "  --jar FILE             its shared object\n"
        "  --primary-py-file FILE the program in Python\n"
        "  --primary-r-file FILE  the program in R\n"
        "  --pyspark FILE         a zip file with pyspark or py4j, for a Python that has no pyspark\n"
        "  --arg WORD             one of its arguments\n"
        "  --properties-file FILE Spark's configuration\n"
        "  --dist-cache-conf FILE the files that the submission has distributed\n"
        "  --conf KEY=VALUE       a setting for the start (spark.rpc.*, spark.ssl.*, spark.authenticate, ...)\n"
        "  --write-archive FILE   write this Firesteel with its modules and libraries as an archive (.tar.gz) that\n"
        "                         containers unpack, and print its SHA-256\n";

static int yarn_am_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s%s%s\n\n%s", problem, word ? " " : "", word ? word : "", command_yarn_am_help);
        return YARN_AM_EXIT_UNCAUGHT_EXCEPTION;
}

static int yarn_am_write_archive(const char *path)
{
        struct fst_error error = FST_ERROR_INIT;
        char sha256[PROGRAM_ARCHIVE_DIGEST];
        const int r = program_archive_write(path, sha256, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        else
                puts(sha256);
        error_deinit(&error);
        return r < 0 ? 1 : 0;
}

static int yarn_am_set(struct fst_conf *conf, const char *setting)
{
        const char *equals = strchr(setting, '=');
        if (!equals)
                return yarn_am_usage("--conf needs KEY=VALUE, not", setting);
        _cleanup_free_ char *key = mem_strndup(setting, (size_t)(equals - setting));
        conf_set(conf, key, equals + 1);
        return 0;
}

static int yarn_am_launch(int argc, char **argv)
{
        struct fst_conf conf;
        struct cluster_driver_options cluster = {0};
        _cleanup_(string_list_deinit) struct string_list words = {0}, archives = {0};
        const struct {
                const char *name, **value;
        } texts[] = {{"--class", &cluster.entry},
                     {"--jar", &cluster.application},
                     {"--primary-py-file", &cluster.python},
                     {"--primary-r-file", &cluster.r},
                     {"--properties-file", &cluster.properties_file},
                     {"--dist-cache-conf", &cluster.cache_file}};
        int r = 0;
        conf_init(&conf);
        for (int i = 1; i < argc && r == 0; i += 2) {
                size_t k = 0;
                while (k < ARRAY_SIZE(texts) && strcmp(texts[k].name, argv[i]) != 0)
                        k++;
                if (i + 1 == argc)
                        r = yarn_am_usage("a value is missing for", argv[i]);
                else if (k < ARRAY_SIZE(texts))
                        *texts[k].value = argv[i + 1];
                else if (strcmp(argv[i], "--arg") == 0)
                        string_list_add(&words, argv[i + 1]);
                else if (strcmp(argv[i], "--pyspark") == 0)
                        string_list_add(&archives, argv[i + 1]);
                else if (strcmp(argv[i], "--conf") == 0)
                        r = yarn_am_set(&conf, argv[i + 1]);
                else
                        r = yarn_am_usage("unknown option", argv[i]);
        }
        cluster.arguments = string_list_argv(&words);
        cluster.n = words.len;
        cluster.pyspark = string_list_argv(&archives);
        if (r == 0 && !cluster.entry && words.len != 1)
                r = yarn_am_usage("--arg with the driver's address is missing", NULL);
        else if (r == 0 && cluster.entry && !!cluster.application + !!cluster.python + !!cluster.r != 1)
                r = yarn_am_usage("--class needs one of --jar, --primary-py-file and --primary-r-file", NULL);
        else if (r == 0 && cluster.entry)
                r = cluster_driver_run(&cluster);
        else if (r == 0)
                r = executor_launcher_run(&(struct executor_launcher_options){.driver = words.data[0], .conf = &conf});
        conf_deinit(&conf);
        return r;
}

int command_yarn_am(int argc, char **argv)
{
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_yarn_am_help, stdout) < 0 || fflush(stdout) != 0;
        if (argc == 3 && strcmp(argv[1], "--write-archive") == 0)
                return yarn_am_write_archive(argv[2]);
        return yarn_am_launch(argc, argv);
}
