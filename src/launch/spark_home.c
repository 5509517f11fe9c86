/* An installation of Spark; see spark_home.h. Matches findJarsDir and getScalaVersion of Spark's launcher. */
#include "launch/spark_home.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool spark_home_is_dir(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool spark_home_is_file(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *spark_home_file(const char *parent, const char *child)
{
        char cwd[PATH_MAX];
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        const char *start = parent ? parent : child;
        if (start[0] != '/' && getcwd(cwd, sizeof(cwd)))
                buf_printf(&out, "%s/", cwd);
        if (parent)
                buf_printf(&out, "%s/", parent);
        buf_puts(&out, child);
        size_t n = 0;
        for (size_t i = 0; i < out.len; i++) {
                if (out.data[i] != '/' || n == 0 || out.data[n - 1] != '/')
                        out.data[n++] = out.data[i];
        }
        while (n > 1 && out.data[n - 1] == '/')
                n--;
        return mem_strndup(buf_text(&out), n);
}

int spark_home_list(const char *path, struct option_words *out)
{
        DIR *dir = opendir(path);
        if (!dir)
                return -errno;
        for (struct dirent *e; (e = readdir(dir));) {
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        option_words_take(out, mem_printf("%s/%s", path, e->d_name));
        }
        closedir(dir);
        return 0;
}

/* spark-launcher_2.13-4.3.0.jar contains both versions. */
static void spark_home_read_versions(struct spark_home *home)
{
        DIR *dir = home->jars ? opendir(home->jars) : NULL;
        if (!dir)
                return;
        for (struct dirent *e; (e = readdir(dir));) {
                char scala[8];
                int major, minor;
                if (sscanf(e->d_name, "spark-launcher_%7[0-9.]-%d.%d", scala, &major, &minor) != 3)
                        continue;
                home->major = major;
                home->minor = minor;
                if (!home->scala)
                        home->scala = mem_strdup(scala);
        }
        closedir(dir);
}

int spark_home_find(struct spark_home *home, const char *(*env)(const char *name), struct fst_error *error)
{
        const char *path = env("SPARK_HOME"), *scala = env("SPARK_SCALA_VERSION");
        if (!path || !path[0])
                return error_set(error, -ENOENT,
                                 "Spark home not found; set it explicitly or use the SPARK_HOME environment variable.");
        *home = (struct spark_home){.path = mem_strdup(path), .major = 4, .minor = INT_MAX};
        home->scala = scala && scala[0] ? mem_strdup(scala) : NULL;
        if (home->scala && strcmp(home->scala, "2.13") < 0) { /* 4.x supports only 2.13 */
                home->major = 3;
                home->minor = 5;
        }
        _cleanup_free_ char *jars = spark_home_file(path, "jars");
        if (spark_home_is_dir(jars))
                home->jars = mem_strdup(jars);
        spark_home_read_versions(home);
        if (!home->scala) {
                _cleanup_free_ char *built = spark_home_file(path, "launcher/target/scala-2.13");
                home->scala = spark_home_is_dir(built) ? mem_strdup("2.13") : NULL;
        }
        if (!home->jars) {
                _cleanup_free_ char *assembly =
                        mem_printf("assembly/target/scala-%s/jars", home->scala ? home->scala : "2.13");
                home->jars_wanted = spark_home_file(path, assembly);
                home->jars = spark_home_is_dir(home->jars_wanted) ? mem_strdup(home->jars_wanted) : NULL;
                spark_home_read_versions(home);
        } else {
                home->jars_wanted = mem_strdup(home->jars);
        }
        return 0;
}

bool spark_home_has_jvm(const char *(*env)(const char *name))
{
        struct spark_home home = {0};
        bool has = spark_home_find(&home, env, NULL) == 0 && home.jars;
        spark_home_deinit(&home);
        return has;
}

void spark_home_deinit(struct spark_home *home)
{
        free(home->path);
        free(home->jars);
        free(home->jars_wanted);
        free(home->scala);
        *home = (struct spark_home){0};
}

bool spark_home_since(const struct spark_home *home, int major, int minor)
{
        return home->major > major || (home->major == major && home->minor >= minor);
}
