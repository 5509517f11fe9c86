/* See python_files.h. */
#include "image/python_files.h"

#include "base/error.h"
#include "image/listed_files.h"

static const char python_files_program[] =
#include "image/python_files.inc"
        ;

int python_files_find(struct listed_files *files, const char *interpreter, struct fst_error *error)
{
        if (!*interpreter)
                return error_set(error, -EINVAL, "--python= needs an interpreter: leave the sign out for python3");
        char *words[] = {"env", "PYTHONHASHSEED=0",           (char *)interpreter, "-B",
                         "-c",  (char *)python_files_program, files->folder,       PYTHON_FOLDER,
                         NULL};
        return listed_files_run(files, words, interpreter, "Python", error);
}
