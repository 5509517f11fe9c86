/* firesteel yarn-am: started by YARN for an application, and by drivers to write the archive of Firesteel. */
#include "cmd/command.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/application/program_archive.h"
#include "yarn/backend/executor_launcher.h"

#include <stdio.h>
#include <string.h>

const char command_yarn_am_help[] =
        "Usage: firesteel yarn-am --arg HOST:PORT [--conf KEY=VALUE]...\n"
        "       firesteel yarn-am --write-archive FILE\n"
        "\n"
        "The ApplicationMaster of an application on YARN in client mode, for the driver at HOST:PORT. YARN starts this\n"
        "program in a container.\n"
        "\n"
        "  --arg HOST:PORT        the driver\n"
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
        struct executor_launcher_options options = {.conf = &conf};
        int r = 0;
        conf_init(&conf);
        for (int i = 1; i < argc && r == 0; i += 2) {
                if (i + 1 == argc)
                        r = yarn_am_usage("a value is missing for", argv[i]);
                else if (strcmp(argv[i], "--arg") == 0)
                        options.driver = argv[i + 1];
                else if (strcmp(argv[i], "--conf") == 0)
                        r = yarn_am_set(&conf, argv[i + 1]);
                else
                        r = yarn_am_usage("unknown option", argv[i]);
        }
        if (r == 0 && !options.driver)
                r = yarn_am_usage("--arg with the driver's address is missing", NULL);
        if (r == 0)
                r = executor_launcher_run(&options);
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
