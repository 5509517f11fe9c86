/* firesteel compile: compiles C files into a shared object, with the flags that submit uses and the user's flags. */
#include "base/error.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "exec/app/app_compiler.h"
#include "exec/app/module.h"

#include <stdio.h>

const char command_compile_help[] =
        "Usage: firesteel compile FILE.c... -o APP.so [-- CC-FLAGS...]\n"
        "\n"
        "Compile an application into a shared object for `firesteel submit APP.so`, with the system's C compiler\n"
        "(CC, or cc, gcc, clang from PATH). Arguments after -- go to the compiler: -O3, -march=native, -lfoo, …\n"
        "\n"
        "You need not compile an application of one file: `firesteel submit FILE.c` compiles it and caches the result.\n";

int command_compile(int argc, char **argv)
{
        VEC(const char *) sources = {0};
        const char *output = NULL;
        char **flags = NULL;
        int i;
        for (i = 1; i < argc && !flags; i++) {
                if (strcmp(argv[i], "--") == 0)
                        flags = &argv[i + 1];
                else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(command_compile_help, stdout) < 0 || fflush(stdout) != 0;
                else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
                        output = argv[++i];
                else if (strncmp(argv[i], "-o", 2) == 0 && argv[i][2])
                        output = argv[i] + 2;
                else if (argv[i][0] == '-')
                        return command_usage(command_compile_help, "write compiler flags after --:", argv[i]);
                else
                        vec_push(&sources, argv[i]);
        }
        if (sources.len == 0)
                return command_usage(command_compile_help, "no C file is given", NULL);
        if (!output)
                return command_usage(command_compile_help, "-o APP.so is missing", NULL);
        struct fst_error error = FST_ERROR_INIT;
        struct module_info info;
        int r = app_compiler_build(sources.data, (int)sources.len, output, flags, &error);
        /* Loads the result now, because the user's flags may undo what submit needs. */
        if (r == 0)
                r = module_inspect_file(output, &info, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        vec_deinit(&sources);
        return r < 0;
}
