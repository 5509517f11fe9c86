/* Added directories; see added_directory.h. */
#include "pyspark_driver/added_directory.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "process/command.h"
#include "py4j/collections.h"
#include "pyspark_driver/errors.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Packs @path into the new file @archive. */
static bool directory_pack(const char *path, const char *archive)
{
        char *words[] = {"tar", "-C", (char *)path, "-cf", (char *)archive, ".", NULL};
        int status;
        return command_run(&(struct command){.words = words, .no_input = true}, &status) == 0 && WIFEXITED(status) &&
               WEXITSTATUS(status) == 0;
}

static void directory_add(struct py4j_call *call, struct driver_session *session, const char *path)
{
        char folder[] = "/tmp/added-directory-XXXXXX";
        if (!mkdtemp(folder)) {
                py4j_throw(call, "java.io.IOException", "%s: %s", folder, strerror(errno));
                return;
        }
        const char *name = text_base_name(path);
        _cleanup_free_ char *archive = mem_printf("%s/directory.tar", folder);
        _cleanup_free_ char *named = mem_printf("%s#%s", archive, name);
        if (!directory_pack(path, archive))
                py4j_throw(call, "java.io.IOException", "tar could not pack the directory %s", path);
        else if (fst_add_archive(session->sc, named) < 0)
                throw_failure(call, "the directory cannot be added");
        else
                py4j_add(session->directories, py4j_string(name));
        unlink(archive);
        rmdir(folder);
}

bool added_directory(struct py4j_call *call, struct driver_session *session, const char *path, bool recursive)
{
        struct stat st;
        _cleanup_free_ char *plain = mem_strdup(text_starts_with(path, "file:") ? path + strlen("file:") : path);
        for (size_t n = strlen(plain); n > 1 && plain[n - 1] == '/';)
                plain[--n] = 0;
        if (stat(plain, &st) < 0 || !S_ISDIR(st.st_mode))
                return false;
        if (recursive)
                directory_add(call, session, plain);
        else
                py4j_throw(call, "org.apache.spark.SparkException",
                           "Added file file:%s is a directory and recursive is not turned on.", plain);
        return true;
}
