/* The pyspark package; see python_package.h. */
#include "pyspark_driver/python_package.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"

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

static bool package_find_in_path(const char *list, struct python_package *package)
{
        _cleanup_free_ char *copy = mem_strdup(list);
        for (char *rest, *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest))
                if (package_is_in(folder, package))
                        return true;
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

/* Asks the interpreter, which takes some 20 ms. */
static bool package_ask(const char *interpreter, struct python_package *package)
{
        char line[4096] = "";
        /* The path is passed in the environment, because popen's shell would split it. */
        setenv("_FIRESTEEL_PYTHON", interpreter, 1);
        FILE *answer =
                popen("exec \"$_FIRESTEEL_PYTHON\" -c 'import importlib.util as u\n"
                      "for m in (\"pyspark\", \"py4j\"):\n"
                      "    s = u.find_spec(m)\n"
                      "    print(s.submodule_search_locations[0].rpartition(\"/\")[0] if s else \"\")' 2>/dev/null",
                      "re");
        unsetenv("_FIRESTEEL_PYTHON");
        bool found = answer && fgets(line, sizeof(line), answer);
        line[strcspn(line, "\n")] = 0;
        found = found && line[0] && package_is_in(line, package);
        if (found && fgets(line, sizeof(line), answer) && line[0] != '\n') {
                line[strcspn(line, "\n")] = 0;
                package->py4j_folder = mem_strdup(line);
        }
        if (answer)
                pclose(answer);
        return found;
}

void python_package_find(const char *python, struct python_package *package)
{
        const char *list = getenv("PYTHONPATH");
        _cleanup_free_ char *interpreter = package_interpreter(python);
        char *end;
        *package = (struct python_package){0};
        if (!(list && package_find_in_path(list, package)) && interpreter && !package_find_beside(interpreter, package))
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
