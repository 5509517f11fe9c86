/* firesteel yarn-am: started by YARN for an application, and by drivers to write the archive of Firesteel. */
#include "cmd/command.h"

#include "base/error.h"
#include "yarn/application/program_archive.h"

#include <stdio.h>
#include <string.h>

const char command_yarn_am_help[] = "Usage: firesteel yarn-am --write-archive FILE\n"
                                    "\n"
                                    "Write this Firesteel with its modules and libraries as an archive (.tar.gz) that "
                                    "YARN's containers unpack,\n"
                                    "and print its SHA-256. Drivers start this command.\n";

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

int command_yarn_am(int argc, char **argv)
{
        if (argc == 3 && strcmp(argv[1], "--write-archive") == 0)
                return yarn_am_write_archive(argv[2]);
        fprintf(stderr, "Error: yarn-am needs --write-archive FILE\n\n%s", command_yarn_am_help);
        return 1;
}
