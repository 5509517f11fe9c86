/* The pyspark package; see python_package.h. */
#include "pyspark_driver/python_package.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "process/command.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_VERSION_FILE 65536
#define LATEST_MAJOR 4
#define LATEST_MINOR 3

char *python_package_parse_version(const char *text)
{
        const char *at = strstr(text, "__version__");
        at = at ? strchr(at, '=') : NULL;
        if (!at)
                return NULL;
        do
                at++;
        while (*at == ' ');
        size_t n = *at == '"' || *at == '\'' ? strcspn(at + 1, "\"'\n") : 0;
        return n > 0 && isdigit((unsigned char)at[1]) ? mem_strndup(at + 1, n) : NULL;
}

/* Whether @folder has pyspark, and then fills @package. */
static bool package_is_in(const char *folder, struct python_package *package)
{
        _cleanup_free_ char *path = mem_printf("%s/pyspark/version.py", folder);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (file_text_read(path, MAX_VERSION_FILE, &text, NULL) < 0)
                return false;
        package->folder = mem_strdup(folder);
        package->version = python_package_parse_version(buf_text(&text));
        return true;
}

static bool package_has_py4j(const char *folder)
{
        _cleanup_free_ char *path = mem_printf("%s/py4j", folder);
        return access(path, R_OK) == 0;
}

/* Looks in the directories of @list up to the first archive, of which only Python knows the content. */
static bool package_find_in_path(const char *list, struct python_package *package, bool *has_archive)
{
        _cleanup_free_ char *copy = mem_strdup(list);
        for (char *rest, *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
                if ((*has_archive = text_ends_with(folder, ".zip") || text_ends_with(folder, ".egg")))
                        return false;
                if (package_is_in(folder, package))
                        return true;
        }
        return false;
}

/* The path of @python, which PATH may have. Owned by the caller; NULL if it is not found. */
static char *package_interpreter(const char *python)
{
        const char *path = getenv("PATH");
        if (strchr(python, '/') || !path)
                return mem_strdup(python);
        _cleanup_free_ char *copy = mem_strdup(path);
        for (char *rest, *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
                _cleanup_free_ char *file = mem_printf("%s/%s", folder, python);
                if (access(file, X_OK) == 0)
                        return steal(file);
        }
        return NULL;
}

/* The site-packages beside a virtual environment's bin/python. */
static bool package_find_beside(const char *interpreter, struct python_package *package)
{
        const char *name = strrchr(interpreter, '/');
        bool found = false;
        glob_t folders;
        if (!name)
                return false;
        _cleanup_free_ char *pattern =
                mem_printf("%.*s/../lib/python3*/site-packages", (int)(name - interpreter), interpreter);
        if (glob(pattern, 0, NULL, &folders) != 0)
                return false;
        for (size_t i = 0; i < folders.gl_pathc && !found; i++) {
                _cleanup_free_ char *folder = realpath(folders.gl_pathv[i], NULL);
                found = folder && package_is_in(folder, package);
        }
        globfree(&folders);
        return found;
}

#define ANSWER_MARK "pyspark-is-in\t"

/* Prints one line: the folder or zip file of each package, and the line with the version. */
static const char package_question[] =
        "import importlib.util as u\n"
        "def place(m):\n"
        "    return m.submodule_search_locations[0].rpartition('/')[0] if m else ''\n"
        "s = u.find_spec('pyspark')\n"
        "if s:\n"
        "    text = s.loader.get_data(s.submodule_search_locations[0] + '/version.py').decode()\n"
        "    version = [line for line in text.splitlines() if line.startswith('__version__')]\n"
        "    print('pyspark-is-in', place(s), place(u.find_spec('py4j')), *version, '', sep='\\t')\n";

/* Asks the interpreter, which takes some 20 ms. */
static bool package_ask(const char *interpreter, struct python_package *package)
{
        char *const words[] = {(char *)interpreter, "-c", (char *)package_question, NULL};
        _cleanup_(buf_deinit) struct buf answer = BUF_INIT;
        int status;
        if (command_run(&(struct command){.words = words, .captured = &answer, .no_input = true}, &status) < 0)
                return false;
        char *line = strstr((char *)buf_text(&answer), ANSWER_MARK); /* warnings may come before it */
        if (!line)
                return false;
        line += strlen(ANSWER_MARK);
        const char *folder = strsep(&line, "\t"), *py4j = strsep(&line, "\t"), *version = strsep(&line, "\t");
        if (!version || !*folder)
                return false;
        package->folder = mem_strdup(folder);
        package->py4j_folder = *py4j ? mem_strdup(py4j) : NULL;
        package->version = python_package_parse_version(version);
        return true;
}

/* Adds the file @path, or the first that matches if it is a pattern. */
static bool package_add_archive(const char *path, struct string_list *out)
{
        glob_t found;
        if (glob(path, 0, NULL, &found) != 0)
                return false;
        string_list_add(out, found.gl_pathv[0]);
        globfree(&found);
        return true;
}

bool python_package_archives(const struct python_package *package, struct string_list *out)
{
        static const char *const names[] = {"pyspark.zip", "py4j-*-src.zip"};
        const char *const folders[] = {package->folder, package->py4j_folder};
        _cleanup_(string_list_deinit) struct string_list list = {0};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (!package->folder || !folders[i])
                        return false;
                _cleanup_free_ char *path = text_ends_with(folders[i], ".zip")
                                                    ? mem_strdup(folders[i])
                                                    : mem_printf("%s/pyspark/python/lib/%s", package->folder, names[i]);
                if (!package_add_archive(path, &list))
                        return false;
        }
        for (size_t i = 0; i < list.len; i++)
                string_list_add(out, list.data[i]);
        return true;
}

void python_package_find(const char *python, struct python_package *package)
{
        const char *list = getenv("PYTHONPATH");
        _cleanup_free_ char *interpreter = package_interpreter(python);
        bool has_archive = false;
        char *end;
        *package = (struct python_package){0};
        if (!(list && package_find_in_path(list, package, &has_archive)) && interpreter &&
            (has_archive || !package_find_beside(interpreter, package)))
                package_ask(interpreter, package);
        if (package->folder && !package->py4j_folder && package_has_py4j(package->folder))
                package->py4j_folder = mem_strdup(package->folder);
        if (!package->version)
                package->version = mem_strdup("");
        package->major = (int)strtol(package->version, &end, 10);
        package->minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
        if (!package->major) {
                package->major = LATEST_MAJOR;
                package->minor = LATEST_MINOR;
        }
}

void python_package_deinit(struct python_package *package)
{
        free(package->folder);
        free(package->py4j_folder);
        free(package->version);
        *package = (struct python_package){0};
}
