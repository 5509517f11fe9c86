/* The staging directory on local files: what is uploaded, under which links, what is refused, what goes at the end. */
#include "yarn/application/staging.h"

#include "yarn/application/cluster_file.h"
#include "yarn/application/conf_archive.h"
#include "yarn/application/conf_secrets.h"
#include "yarn/application/yarn_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "hadoop/credentials.h"
#include "io/codec/zip_file.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "unit/temp_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct fst_conf conf;
static struct hadoop_conf hadoop;
static struct yarn_settings settings;
static const char *main_jar, *main_python;
static struct string_list archives;
static struct staging staging;
static struct fst_error error;
static char *spark_home, *hadoop_dir;
static bool native;
static const char *owner;
static struct hadoop_credentials credentials;

static const char *env(const char *name)
{
        return strcmp(name, "SPARK_HOME") == 0        ? spark_home
               : strcmp(name, "HADOOP_CONF_DIR") == 0 ? hadoop_dir
               : strcmp(name, "HOME") == 0            ? temp_dir
                                                      : NULL;
}

/* A path below the test's directory. It lives until the next test. */
static const char *at(const char *name)
{
        static char *made[64];
        static size_t n;
        char **slot = &made[n++ % ARRAY_SIZE(made)];
        free(*slot);
        return *slot = mem_printf("%s/%s", temp_dir, name);
}

static const char *file(const char *name, const char *content)
{
        const char *path = at(name);
        _cleanup_free_ char *directory = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
        assert_int_equal(make_dirs(directory, 0777), 0);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(content, f);
        fclose(f);
        return path;
}

static int setup(void **state)
{
        if (temp_dir_make(NULL))
                return -1;
        conf_init(&conf);
        spark_home = mem_strdup(at("spark"));
        hadoop_dir = mem_strdup(at("hadoop"));
        hadoop_conf_init(&hadoop, env);
        file("spark/jars/spark-launcher_2.13-4.3.0.jar", "jar one");
        file("spark/jars/b.JAR", "jar two");
        file("spark/jars/notes.txt", "no jar");
        file("hadoop/core-site.xml", "<configuration><property><name>a&amp;b</name><value>x &lt; ${user.name}</value>"
                                     "<final>true</final></property></configuration>");
        file("hadoop/more.properties", "p");
        file("spark/conf/log4j2.properties", "rootLogger.level = warn");
        file("spark/conf/extra.xml", "<configuration/>");
        file("spark/conf/ignored.txt", "");
        return 0;
}

static int teardown(void **state)
{
        staging_deinit(&staging);
        conf_deinit(&conf);
        hadoop_conf_deinit(&hadoop);
        yarn_settings_deinit(&settings);
        main_jar = main_python = owner = NULL;
        native = false;
        hadoop_credentials_deinit(&credentials);
        string_list_deinit(&archives);
        error_deinit(&error);
        free(spark_home);
        free(hadoop_dir);
        temp_dir_remove(NULL);
        return 0;
}

static int fill_staging(bool with_program)
{
        const struct staging_options options = {.conf = &conf,
                                                .hadoop = &hadoop,
                                                .settings = &settings,
                                                .jar = main_jar,
                                                .python = main_python,
                                                .python_archives = &archives,
                                                .env = env,
                                                .user = "me",
                                                .application_id = "application_1_0002",
                                                .native = native,
                                                .owner = owner,
                                                .credentials = &credentials};
        staging_deinit(&staging);
        const int r = staging_init(&staging, &options, &error);
        if (r == 0 && with_program)
                staging.program = (struct local_resource){.link = mem_strdup("__firesteel__"),
                                                          .path = mem_strdup("file:/firesteel.tar.gz")};
        return r < 0 ? r : staging_fill(&staging, &error);
}

static int fill(void)
{
        yarn_settings_deinit(&settings);
        assert_int_equal(yarn_settings_read(&settings, &conf, &error), 0);
        return fill_staging(false);
}

static const struct local_resource *link_of(const char *link)
{
        for (size_t i = 0; i < staging.resources.list.len; i++)
                if (strcmp(staging.resources.list.data[i].link, link) == 0)
                        return &staging.resources.list.data[i];
        return NULL;
}

static void uploads_libraries_application_and_configuration(void **state)
{
        struct stat st;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        main_jar = file("app.jar", "application");
        assert_int_equal(fill(), 0);
        assert_int_equal(staging.resources.list.len, 3);
        assert_int_equal(stat(at(".sparkStaging/application_1_0002"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);

        const struct local_resource *app = link_of("__app__.jar"), *libs = link_of("__spark_libs__");
        assert_non_null(app);
        assert_false(app->archive);
        assert_false(app->is_public);
        assert_int_equal(app->size, strlen("application"));
        assert_int_equal(stat(app->path + strlen("file:"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0644);
        assert_int_equal(app->modified_ms, (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000);

        assert_true(libs->archive);
        const char *zip = libs->path + strlen("file:");
        assert_int_equal(zip_file_read(zip, "spark-launcher_2.13-4.3.0.jar", 100, &text, &error), 0);
        assert_string_equal(buf_text(&text), "jar one");
        assert_int_equal(zip_file_read(zip, "b.JAR", 100, &text, &error), 0);
        assert_int_equal(zip_file_read(zip, "notes.txt", 100, &text, &error), -ENOENT);

        staging_remove(&staging);
        assert_int_equal(access(at(".sparkStaging/application_1_0002"), F_OK), -1);
}

static void configuration_archive_holds_what_spark_puts_there(void **state)
{
        static const char *const entries[] = {"log4j2.properties", "__hadoop_conf__/core-site.xml",
                                              "__hadoop_conf__/more.properties", "__hadoop_conf__/extra.xml",
                                              "__spark_conf__.properties"};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_(strmap_deinit) struct strmap values = STRMAP_INIT;
        conf_set(&conf, "spark.app.name", "a:b");
        conf_set(&conf, "spark.hadoop.x.y", "z");
        main_jar = file("app.jar", "application");
        assert_int_equal(fill(), 0);
        const char *zip = at(".sparkStaging/application_1_0002/__spark_conf__.zip");
        for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
                assert_int_equal(zip_file_read(zip, entries[i], 1 << 20, &text, &error), 0);
        assert_int_equal(zip_file_read(zip, "__hadoop_conf__/ignored.txt", 100, &text, &error), -ENOENT);

        buf_reset(&text);
        assert_int_equal(zip_file_read(zip, "__spark_hadoop_conf__.xml", 1 << 20, &text, &error), 0);
        assert_non_null(strstr(buf_text(&text), "<property><name>a&amp;b</name><value>x &lt; ${user.name}</value>"
                                                "<final>true</final></property>"));
        assert_non_null(strstr(buf_text(&text), "<name>x.y</name><value>z</value><final>false</final>"));
        assert_non_null(strstr(buf_text(&text), "<name>io.file.buffer.size</name><value>65536</value>"));

        buf_reset(&text);
        assert_int_equal(zip_file_read(zip, "__spark_conf__.properties", 1 << 20, &text, &error), 0);
        assert_int_equal(strncmp(buf_text(&text), "#Spark configuration.\n#", 23), 0);
        assert_int_equal(properties_parse(&values, "p", buf_text(&text), text.len, &error), 0);
        assert_string_equal(strmap_get(&values, "spark.app.name"), "a:b");

        buf_reset(&text);
        assert_int_equal(zip_file_read(zip, "__spark_dist_cache__.properties", 1 << 20, &text, &error), 0);
        assert_int_equal(properties_parse(&values, "p", buf_text(&text), text.len, &error), 0);
        assert_string_equal(strmap_get(&values, "spark.yarn.cache.types"), "ARCHIVE,FILE");
        assert_string_equal(strmap_get(&values, "spark.yarn.cache.visibilities"), "PRIVATE,PRIVATE");
        const char *names = strmap_get(&values, "spark.yarn.cache.filenames");
        assert_non_null(strstr(names, ".zip#__spark_libs__,file:"));
        assert_non_null(strstr(names, "/app.jar#__app__.jar"));
        _cleanup_free_ char *archive = mem_printf("file:%s", zip);
        assert_string_equal(strmap_get(&values, "spark.yarn.cache.confArchive"), archive);
}

static void links_follow_fragments_and_kinds(void **state)
{
        _cleanup_free_ char *files = mem_printf("%s#alias,%s", file("d/one.txt", "1"), file("d/two words.txt", "2"));
        _cleanup_free_ char *python = mem_printf("%s,%s,local:/x.zip", file("m.py", ""), file("n.zip", ""));
        _cleanup_free_ char *lib = mem_printf("file:%s/*.jar,local:/opt/x.jar", at("lib"));
        file("lib/l.jar", "");
        conf_set(&conf, "spark.yarn.jars", lib);
        conf_set(&conf, "spark.yarn.dist.files", files);
        conf_set(&conf, "spark.yarn.dist.archives", file("e.tgz", ""));
        conf_set(&conf, "spark.yarn.dist.jars", file("s.jar", ""));
        conf_set(&conf, "spark.yarn.dist.pyFiles", python);
        string_list_add(&archives, file("pyspark.zip", ""));
        main_python = file("main.py", "");
        assert_int_equal(fill(), 0);
        assert_non_null(link_of("alias"));
        assert_non_null(link_of("two words.txt"));
        assert_true(link_of("e.tgz")->archive);
        assert_non_null(link_of("__pyfiles__/m.py"));
        assert_non_null(link_of("n.zip"));
        assert_non_null(link_of("pyspark.zip"));
        assert_non_null(link_of("__spark_libs__/l.jar"));
        assert_true(link_of("main.py")->driver_only);
        assert_int_equal(staging.resources.list.len, 10);
        assert_string_equal(conf_get_raw(&conf, "spark.yarn.jars"), "local:/opt/x.jar");
        assert_string_equal(conf_get_raw(&conf, "spark.yarn.secondary.jars"), "s.jar");
        _cleanup_(strmap_deinit) struct strmap cache = STRMAP_INIT;
        local_resources_describe(&staging.resources, "x", &cache);
        assert_non_null(strstr(strmap_get(&cache, "spark.yarn.cache.filenames"), "/two%20words.txt#two%20words.txt"));
        assert_null(strstr(strmap_get(&cache, "spark.yarn.cache.filenames"), "main.py"));
}

static void refuses_libraries_that_are_missing(void **state)
{
        _cleanup_free_ char *wanted = mem_printf("Path file:%s does not exist", at("nowhere/x.jar"));
        conf_set(&conf, "spark.yarn.jars", at("nowhere/x.jar"));
        assert_int_equal(fill(), -ENOENT);
        assert_string_equal(error_message(&error), wanted);
}

static void archive_replaces_libraries(void **state)
{
        conf_set(&conf, "spark.yarn.archive", file("libs.zip", "content"));
        conf_set(&conf, "spark.yarn.submit.file.replication", "7");
        assert_int_equal(fill(), 0);
        assert_int_equal(staging.replication, 7);
        assert_true(link_of("__spark_libs__")->archive);
        assert_int_equal(link_of("__spark_libs__")->size, 7);
        assert_null(strstr(link_of("__spark_libs__")->path, "__spark_libs__")); /* not the jars of SPARK_HOME */
}

/* ------------------------------------------------------------------------------------------- native applications */

static void use_native(void)
{
        _cleanup_free_ char *cache = mem_printf("file:%s", at("cache"));
        native = true;
        conf_set(&conf, "spark.firesteel.yarn.cacheDir", cache);
        main_jar = file("app.so", "object");
}

static int fill_native(void)
{
        hadoop_credentials_deinit(&credentials);
        credentials = (struct hadoop_credentials){0};
        error_deinit(&error);
        yarn_settings_deinit(&settings);
        assert_int_equal(yarn_settings_read(&settings, &conf, &error), 0);
        return fill_staging(true);
}

static void native_applications_need_no_directory(void **state)
{
        struct stat st;
        use_native();
        conf_set(&conf, "spark.yarn.dist.files", file("data.txt", "one"));
        assert_int_equal(fill_native(), 0);
        assert_false(staging.created);
        assert_int_equal(access(at(".sparkStaging"), F_OK), -1);
        const struct local_resource *app = link_of("app.so"), *data = link_of("data.txt");
        assert_non_null(app);
        assert_false(app->is_public || data->is_public);
        assert_string_equal(path_name(data->path),
                            "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed-data.txt");
        assert_int_equal(stat(at("cache/files-me"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);

        /* The same bytes keep their file, its time and its name; others get another one. */
        _cleanup_free_ char *path = mem_strdup(data->path);
        const int64_t modified_ms = data->modified_ms;
        assert_int_equal(fill_native(), 0);
        assert_string_equal(link_of("data.txt")->path, path);
        assert_int_equal(link_of("data.txt")->modified_ms, modified_ms);
        file("data.txt", "two");
        assert_int_equal(fill_native(), 0);
        assert_string_not_equal(link_of("data.txt")->path, path);
        conf_set(&conf, "spark.yarn.dist.files", "/no/such/file");
        assert_int_equal(fill_native(), -ENOENT);
        assert_string_equal(error_message(&error), "File file:/no/such/file does not exist");
}

static void a_set_staging_directory_gets_all_files_of_a_native_application(void **state)
{
        use_native();
        conf_set(&conf, "spark.yarn.stagingDir", at("stage"));
        conf_set(&conf, "spark.yarn.dist.files", file("data.txt", "one"));
        assert_int_equal(fill_native(), 0);
        assert_true(staging.created);
        assert_int_equal(credentials.secrets.len, 0);
        assert_int_equal(access(at("cache/files-me"), F_OK), -1);
        static const char *const names[] = {"app.so", "data.txt", "__spark_conf__.zip"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *name = mem_printf("stage/me/.sparkStaging/application_1_0002/%s", names[i]);
                assert_int_equal(access(at(name), F_OK), 0);
        }
        staging_remove(&staging);
        assert_int_equal(access(at("stage/me/.sparkStaging/application_1_0002"), F_OK), -1);
}

static void files_are_remembered_until_an_application_fails(void **state)
{
        use_native();
        owner = "a cluster";
        assert_int_equal(fill_native(), 0);
        _cleanup_free_ char *path = mem_strdup(link_of("app.so")->path + strlen("file:"));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(fill_native(), 0);
        assert_int_equal(access(path, F_OK), -1); /* the file system was not asked */
        staging_forget(&staging);
        assert_int_equal(fill_native(), 0);
        assert_int_equal(access(path, F_OK), 0);
}

static void a_directory_of_another_user_is_refused(void **state)
{
        use_native();
        assert_int_equal(
                mkdir(at("cache"), 0755) || mkdir(at("cache/files-me"), 0755) || chmod(at("cache/files-me"), 0777), 0);
        assert_int_equal(fill_native(), -EACCES);
        assert_non_null(strstr(error_message(&error), "cache/files-me has the mode 777"));
}

static void the_configuration_travels_in_the_credentials(void **state)
{
        struct stat st;
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT, text = BUF_INIT;
        _cleanup_(strmap_deinit) struct strmap values = STRMAP_INIT;
        use_native();
        conf_set(&conf, "spark.app.name", "a:b");
        hadoop_conf_set(&hadoop, "x.y", "${user.name} <z>");
        hadoop_conf_set(&hadoop, HADOOP_CONF_PROXY_USER, "carol");
        assert_int_equal(fill_native(), 0);
        hadoop_credentials_write(&credentials, &stream);
        _cleanup_free_ char *tokens = mem_strdup(at("tokens"));
        FILE *out = fopen(tokens, "w");
        assert_true(out && fwrite(stream.data, 1, stream.len, out) == stream.len && fclose(out) == 0);
        for (int i = 0; i < 2; i++) /* twice, as after a restart in the same directory */
                assert_int_equal(conf_secrets_unpack(tokens, temp_dir, &error), 0);
        assert_int_equal(stat(at("__spark_conf__/__spark_conf__.properties"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0400);
        assert_int_equal(stat(at("__spark_conf__"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        assert_int_equal(properties_load(&values, at("__spark_conf__/__spark_conf__.properties"), &error), 0);
        assert_string_equal(strmap_get(&values, "spark.app.name"), "a:b");
        assert_int_equal(properties_load(&values, at("__spark_conf__/__spark_dist_cache__.properties"), &error), 0);
        assert_non_null(strstr(strmap_get(&values, "spark.yarn.cache.filenames"), "#app.so"));
        assert_int_equal(file_text_read(at("__spark_conf__/__hadoop_conf__/core-site.xml"), 1 << 20, &text, &error), 0);
        assert_non_null(strstr(buf_text(&text), "<name>x.y</name><value>${user.name} &lt;z&gt;</value>"));
        assert_null(strstr(buf_text(&text), "carol"));
}

static void a_large_configuration_or_a_keytab_is_staged(void **state)
{
        char large[70000];
        memset(large, 'x', sizeof(large) - 1);
        large[sizeof(large) - 1] = '\0';
        use_native();
        conf_set(&conf, "spark.large", large);
        assert_int_equal(fill_native(), 0);
        assert_true(staging.created);
        assert_int_equal(credentials.secrets.len, 0);
        assert_non_null(link_of("__spark_conf__"));
        staging_remove(&staging);
        conf_set(&conf, "spark.large", "");
        conf_set(&conf, "spark.kerberos.principal", "me@R");
        conf_set(&conf, "spark.kerberos.keytab", file("my.keytab", "key"));
        assert_int_equal(fill_native(), 0);
        assert_true(staging.created);
        const struct local_resource *keytab = NULL;
        for (size_t i = 0; i < staging.resources.list.len; i++)
                if (staging.resources.list.data[i].driver_only)
                        keytab = &staging.resources.list.data[i];
        assert_non_null(keytab);
        assert_non_null(strstr(keytab->path, "/.sparkStaging/application_1_0002/my.keytab"));
        staging_remove(&staging);
        assert_int_equal(access(at(".sparkStaging/application_1_0002"), F_OK), -1);
}

static void names_that_leave_the_directory_are_refused(void **state)
{
        static const char *const names[] = {"../x", "/x", "", "a/../x", "a/b/c", "a/", ".x"};
        _cleanup_free_ char *tokens = mem_strdup(at("tokens"));
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials bad = {0};
                _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
                _cleanup_free_ char *alias = mem_printf("firesteel.conf/%s", names[i]);
                hadoop_credentials_add_secret(&bad, alias, "x", 1);
                hadoop_credentials_write(&bad, &stream);
                FILE *out = fopen(tokens, "w");
                assert_true(out && fwrite(stream.data, 1, stream.len, out) == stream.len && fclose(out) == 0);
                error_deinit(&error);
                assert_int_equal(conf_secrets_unpack(tokens, temp_dir, &error), -EBADMSG);
        }
        assert_int_equal(access(at("x"), F_OK), -1);
        assert_int_equal(conf_secrets_unpack(NULL, temp_dir, &error), 0);
}

/* The submissions of several threads use one file, which is uploaded once. */
struct storing {
        pthread_t thread;
        struct cluster_folder folder;
        struct local_resource found;
        int status;
};

static void *storing_main(void *argument)
{
        struct storing *s = argument;
        char sha256[CLUSTER_FILE_DIGEST];
        const char *path = s->folder.owner + strlen("cluster:");
        s->status = cluster_file_digest(path, sha256, NULL);
        if (s->status == 0)
                s->status = cluster_file_store(&s->folder, path, sha256, "-x", &s->found, NULL);
        return NULL;
}

static void threads_store_a_file_once(void **state)
{
        struct storing all[8] = {0};
        const char *local = file("x", "shared by all");
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                all[i].folder = (struct cluster_folder){.fs = &local_fs,
                                                        .path = mem_printf("file:%s", at("cache")),
                                                        .owner = mem_printf("cluster:%s", local),
                                                        .is_private = true};
                assert_int_equal(pthread_create(&all[i].thread, NULL, storing_main, &all[i]), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                pthread_join(all[i].thread, NULL);
                assert_int_equal(all[i].status, 0);
                assert_string_equal(all[i].found.path, all[0].found.path);
                assert_int_equal(all[i].found.modified_ms, all[0].found.modified_ms);
        }
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                local_resource_deinit(&all[i].found);
                cluster_folder_deinit(&all[i].folder);
        }
        _cleanup_(file_list_deinit) struct file_list list = {0};
        _cleanup_free_ char *cache = mem_printf("file:%s", at("cache"));
        assert_int_equal(local_fs.list(&local_fs, cache, &list, &error), 0);
        assert_int_equal(list.len, 1);
}

static void a_local_jar_is_not_uploaded(void **state)
{
        main_jar = "local:/opt/app.jar";
        conf_set(&conf, "spark.yarn.archive", file("libs.zip", ""));
        assert_int_equal(fill(), 0);
        assert_int_equal(staging.resources.list.len, 2);
        assert_true(link_of("__spark_libs__")->archive);
        assert_string_equal(conf_get_raw(&conf, "spark.yarn.user.jar"), "local:/opt/app.jar");
}

static void refuses_duplicates_and_local_archives(void **state)
{
        const char *one = file("one.txt", "1");
        _cleanup_free_ char *twice = mem_printf("%s,%s", one, one);
        _cleanup_free_ char *same_name = mem_printf("%s,%s", one, file("d/one.txt", ""));
        conf_set(&conf, "spark.yarn.archive", file("libs.zip", ""));
        conf_set(&conf, "spark.yarn.dist.jars", twice);
        assert_int_equal(fill(), 0); /* of jars, the first counts */
        conf_set(&conf, "spark.yarn.dist.jars", "");
        conf_set(&conf, "spark.yarn.dist.files", same_name);
        assert_int_equal(fill(), -EINVAL);
        _cleanup_free_ char *refusal =
                mem_printf("Attempt to add (%s) multiple times to the distributed cache.", at("d/one.txt"));
        assert_string_equal(error_message(&error), refusal);
        conf_set(&conf, "spark.yarn.dist.files", "/no/such/file");
        assert_int_equal(fill(), -ENOENT);
        assert_string_equal(error_message(&error), "File file:/no/such/file does not exist");
        conf_set(&conf, "spark.yarn.archive", "local:/x.zip");
        assert_int_equal(fill(), -EINVAL);
        assert_string_equal(error_message(&error), "requirement failed: spark.yarn.archive cannot be a local URI.");
        conf_set(&conf, "spark.kerberos.keytab", "/k");
        assert_int_equal(fill(), -EINVAL);
}

static void a_pattern_may_match_no_jar(void **state)
{
        _cleanup_free_ char *none = mem_printf("%s/*.jar", at("none"));
        _cleanup_free_ char *message = mem_printf("Path file:%s does not exist", at("none/x.jar"));
        conf_set(&conf, "spark.yarn.jars", none);
        assert_int_equal(fill(), 0);
        assert_int_equal(staging.resources.list.len, 1);
        conf_set(&conf, "spark.yarn.jars", at("none/x.jar"));
        assert_int_equal(fill(), -ENOENT);
        assert_string_equal(error_message(&error), message);
        /* A "?" begins the query of a URI, and the name in the message is as it was given. */
        conf_set(&conf, "spark.yarn.jars", "file:///none/x?.jar");
        assert_int_equal(fill(), -ENOENT);
        assert_string_equal(error_message(&error), "Path file:/none/x does not exist");
}

static void jars_that_match_may_have_any_name(void **state)
{
        _cleanup_free_ char *pattern = mem_printf("%s/*", at("lib"));
        file("lib/ü b%c#.jar", "");
        conf_set(&conf, "spark.yarn.jars", pattern);
        assert_int_equal(fill(), 0);
        assert_non_null(link_of("__spark_libs__/ü b%c#.jar"));
}

static void refuses_empty_paths(void **state)
{
        static const char *const keys[] = {"spark.yarn.archive", "spark.yarn.stagingDir"};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                conf_set(&conf, keys[i], "");
                assert_int_equal(fill(), -EINVAL);
                assert_string_equal(error_message(&error), "Can not create a Path from an empty string");
        }
}

static void a_set_staging_directory_is_used_and_kept(void **state)
{
        conf_set(&conf, "spark.yarn.stagingDir", at("stage"));
        conf_set(&conf, "spark.yarn.preserve.staging.files", "true");
        conf_set(&conf, "spark.yarn.archive", file("libs.zip", ""));
        assert_int_equal(fill(), 0);
        assert_string_equal(staging.text, at("stage/me/.sparkStaging/application_1_0002"));
        assert_string_equal(link_of("__spark_conf__")->path,
                            at("stage/me/.sparkStaging/application_1_0002/__spark_conf__.zip"));
        staging_remove(&staging);
        assert_int_equal(access(at("stage/me/.sparkStaging/application_1_0002/__spark_conf__.zip"), F_OK), 0);
}

static void the_directory_is_on_the_default_file_system(void **state)
{
        static const struct {
                const char *set, *text, *path;
        } cases[] = {
                {NULL, "hdfs://nn:9000/user/me/.sparkStaging/application_1_0002",
                 "hdfs://nn:9000/user/me/.sparkStaging/application_1_0002"},
                {"/s", "/s/me/.sparkStaging/application_1_0002",
                 "hdfs://nn:9000/s/me/.sparkStaging/application_1_0002"},
                {"hdfs:///s/", "hdfs:/s/me/.sparkStaging/application_1_0002",
                 "hdfs://nn:9000/s/me/.sparkStaging/application_1_0002"},
                {"relative", "relative/me/.sparkStaging/application_1_0002",
                 "hdfs://nn:9000/user/me/relative/me/.sparkStaging/application_1_0002"},
                {"hdfs://other/s", "hdfs://other/s/me/.sparkStaging/application_1_0002",
                 "hdfs://other/s/me/.sparkStaging/application_1_0002"},
        };
        hadoop_conf_set(&hadoop, "fs.defaultFS", "hdfs://nn:9000/");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                if (cases[i].set)
                        conf_set(&conf, "spark.yarn.stagingDir", cases[i].set);
                yarn_settings_deinit(&settings);
                assert_int_equal(yarn_settings_read(&settings, &conf, &error), 0);
                const struct staging_options options = {.conf = &conf,
                                                        .hadoop = &hadoop,
                                                        .settings = &settings,
                                                        .jar = main_jar,
                                                        .python = main_python,
                                                        .env = env,
                                                        .user = "me",
                                                        .application_id = "application_1_0002",
                                                        .native = native,
                                                        .owner = owner,
                                                        .credentials = &credentials};
                staging_deinit(&staging);
                assert_int_equal(staging_init(&staging, &options, &error), 0);
                assert_string_equal(staging.text, cases[i].text);
                assert_string_equal(staging.path, cases[i].path);
        }
}

static void keytabs_and_ivy_settings_get_names_of_their_own(void **state)
{
        conf_set(&conf, "spark.yarn.archive", file("libs.zip", ""));
        conf_set(&conf, "spark.kerberos.keytab", file("k.keytab", "secret"));
        conf_set(&conf, "spark.kerberos.principal", "me@R");
        conf_set(&conf, "spark.jars.ivySettings", file("ivy.xml", "<x/>"));
        assert_int_equal(fill(), 0);
        const char *keytab = strmap_get(&staging.overrides, "spark.kerberos.keytab");
        const char *ivy = strmap_get(&staging.overrides, "spark.jars.ivySettings");
        assert_int_equal(strncmp(keytab, "k.keytab-", 9), 0);
        assert_int_equal(strncmp(ivy, "ivy.xml-", 8), 0);
        assert_true(link_of(keytab)->driver_only);
        assert_false(link_of(ivy)->driver_only);
        strmap_remove(&conf.set, "spark.kerberos.keytab");
        assert_int_equal(fill(), -EINVAL);
        assert_string_equal(error_message(&error),
                            "requirement failed: Both principal and keytab must be defined, or neither.");
        strmap_remove(&conf.set, "spark.kerberos.principal");
        conf_set(&conf, "spark.jars.ivySettings", at("none.xml"));
        assert_int_equal(fill(), -ENOENT);
        assert_non_null(strstr(error_message(&error), "none.xml does not exist"));
        conf_set(&conf, "spark.jars.ivySettings", "http://h/ivy.xml");
        assert_int_equal(fill(), -EINVAL);
        assert_string_equal(error_message(&error), "Scheme http not supported in spark.jars.ivySettings");
}

static void compares_file_systems(void **state)
{
        static const struct {
                const char *a, *b;
                bool same;
        } cases[] = {
                {"hdfs://nn:9000/a", "hdfs://NN:9000/b", true},
                {"hdfs://nn:9000/a", "hdfs://nn:8020/b", false},
                {"hdfs://nn/a", "hdfs://other/a", false},
                {"hdfs://nn/a", "s3a://nn/a", false},
                {"s3a://bucket/a", "s3a://bucket", true},
                {"file:/a", "file:/b", true},
                {"hdfs://localhost:9000/a", "hdfs://no-such-host.invalid:9000/a", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(staging_is_same_system(cases[i].a, cases[i].b), cases[i].same);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(uploads_libraries_application_and_configuration, setup, teardown),
                cmocka_unit_test_setup_teardown(configuration_archive_holds_what_spark_puts_there, setup, teardown),
                cmocka_unit_test_setup_teardown(links_follow_fragments_and_kinds, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_libraries_that_are_missing, setup, teardown),
                cmocka_unit_test_setup_teardown(archive_replaces_libraries, setup, teardown),
                cmocka_unit_test_setup_teardown(a_local_jar_is_not_uploaded, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_duplicates_and_local_archives, setup, teardown),
                cmocka_unit_test_setup_teardown(a_pattern_may_match_no_jar, setup, teardown),
                cmocka_unit_test_setup_teardown(jars_that_match_may_have_any_name, setup, teardown),
                cmocka_unit_test_setup_teardown(refuses_empty_paths, setup, teardown),
                cmocka_unit_test_setup_teardown(a_set_staging_directory_is_used_and_kept, setup, teardown),
                cmocka_unit_test_setup_teardown(the_directory_is_on_the_default_file_system, setup, teardown),
                cmocka_unit_test_setup_teardown(keytabs_and_ivy_settings_get_names_of_their_own, setup, teardown),
                cmocka_unit_test_setup_teardown(compares_file_systems, setup, teardown),
                cmocka_unit_test_setup_teardown(native_applications_need_no_directory, setup, teardown),
                cmocka_unit_test_setup_teardown(a_set_staging_directory_gets_all_files_of_a_native_application, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(files_are_remembered_until_an_application_fails, setup, teardown),
                cmocka_unit_test_setup_teardown(a_directory_of_another_user_is_refused, setup, teardown),
                cmocka_unit_test_setup_teardown(the_configuration_travels_in_the_credentials, setup, teardown),
                cmocka_unit_test_setup_teardown(a_large_configuration_or_a_keytab_is_staged, setup, teardown),
                cmocka_unit_test_setup_teardown(names_that_leave_the_directory_are_refused, setup, teardown),
                cmocka_unit_test_setup_teardown(threads_store_a_file_once, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
