/* See hadoop_conf.h. The parser is expat. Entity declarations are rejected, so that a small file cannot expand. */
#include "io/fs/hadoop_conf.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "process/os_user.h"
#include "net/kerberos.h"

#include <expat.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#define MAX_INCLUDES 8 /* nesting depth */
#define MAX_SUBSTITUTIONS 20
#define MAX_VALUE (1 << 20)

/* Deprecated keys and their newer names. */
static const char *const renamed[][2] = {
        {"fs.default.name", "fs.defaultFS"},
        {"dfs.http.address", "dfs.namenode.http-address"},
        {"dfs.https.address", "dfs.namenode.https-address"},
        {"dfs.federation.nameservices", "dfs.nameservices"},
};

static const char *hadoop_conf_new_name(const char *key)
{
        for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
                if (strcmp(key, renamed[i][0]) == 0)
                        return renamed[i][1];
        return key;
}

void hadoop_conf_init(struct hadoop_conf *conf, const char *(*env)(const char *name))
{
        *conf = (struct hadoop_conf){.env = env};
}

void hadoop_conf_deinit(struct hadoop_conf *conf)
{
        strmap_deinit(&conf->values);
        strmap_deinit(&conf->final);
}

void hadoop_conf_set(struct hadoop_conf *conf, const char *key, const char *value)
{
        strmap_set(&conf->values, hadoop_conf_new_name(key), value);
}

enum hadoop_conf_field { FIELD_NONE, FIELD_NAME, FIELD_VALUE, FIELD_FINAL, N_FIELDS };

/* The state of reading one file. */
struct hadoop_conf_reader {
        struct hadoop_conf *conf;
        XML_Parser parser;
        const char *name;
        int includes; /* nesting depth of this file */
        bool in_property, entity;
        enum hadoop_conf_field field;
        struct buf text[N_FIELDS];
        bool has[N_FIELDS];
        int result; /* result of an include */
        struct fst_error *error;
};

static int hadoop_conf_read_file(struct hadoop_conf *conf, const char *path, int includes, struct fst_error *error);

static enum hadoop_conf_field hadoop_conf_field_of(const char *name)
{
        return strcmp(name, "name") == 0    ? FIELD_NAME
               : strcmp(name, "value") == 0 ? FIELD_VALUE
               : strcmp(name, "final") == 0 ? FIELD_FINAL
                                            : FIELD_NONE;
}

static void hadoop_conf_include(struct hadoop_conf_reader *r, const char **attributes)
{
        const char *href = NULL;
        for (int i = 0; attributes[i]; i += 2)
                if (strcmp(attributes[i], "href") == 0)
                        href = attributes[i + 1];
        const char *slash = r->name ? strrchr(r->name, '/') : NULL;
        if (!href || !r->name || r->result < 0)
                return;
        if (r->includes >= MAX_INCLUDES) {
                r->result = error_set(r->error, -EINVAL, "%s: more than %d files include each other", r->name,
                                      MAX_INCLUDES);
        } else {
                const char *file = strncmp(href, "file:", 5) == 0 ? href + 5 : href;
                _cleanup_free_ char *path = slash && *file != '/'
                                                    ? mem_printf("%.*s/%s", (int)(slash - r->name), r->name, file)
                                                    : mem_strdup(file);
                r->result = hadoop_conf_read_file(r->conf, path, r->includes + 1, r->error);
        }
        if (r->result < 0)
                XML_StopParser(r->parser, XML_FALSE);
}

static void hadoop_conf_start_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
        struct hadoop_conf_reader *r = data;
        const char *colon = strchr(name, ':');
        if (strcmp(colon ? colon + 1 : name, "include") == 0) {
                hadoop_conf_include(r, attributes);
        } else if (strcmp(name, "property") == 0) {
                r->in_property = true;
                for (int i = 0; i < N_FIELDS; i++) {
                        buf_reset(&r->text[i]);
                        r->has[i] = false;
                }
                for (int i = 0; attributes[i]; i += 2) {
                        enum hadoop_conf_field field = hadoop_conf_field_of(attributes[i]);
                        r->has[field] = true;
                        buf_reset(&r->text[field]);
                        buf_puts(&r->text[field], attributes[i + 1]);
                }
        } else if (r->in_property && hadoop_conf_field_of(name) != FIELD_NONE) {
                r->field = hadoop_conf_field_of(name);
                r->has[r->field] = true;
                buf_reset(&r->text[r->field]);
        }
}

static void hadoop_conf_characters(void *data, const XML_Char *text, int length)
{
        struct hadoop_conf_reader *r = data;
        if (r->field != FIELD_NONE)
                buf_append(&r->text[r->field], text, (size_t)length);
}

/* Trims blanks around @text in place. */
static char *hadoop_conf_trim(char *text)
{
        text += strspn(text, " \t\r\n\f\v");
        size_t n = strlen(text);
        while (n > 0 && strchr(" \t\r\n\f\v", text[n - 1]))
                n--;
        text[n] = '\0';
        return text;
}

static void hadoop_conf_end_property(struct hadoop_conf_reader *r)
{
        _cleanup_free_ char *name_text = buf_steal(&r->text[FIELD_NAME]);
        _cleanup_free_ char *final_text = buf_steal(&r->text[FIELD_FINAL]);
        const char *key = hadoop_conf_new_name(hadoop_conf_trim(name_text));
        if (!*key || strmap_get(&r->conf->final, key))
                return;
        if (r->has[FIELD_VALUE])
                strmap_set(&r->conf->values, key, buf_text(&r->text[FIELD_VALUE]));
        if (strcmp(hadoop_conf_trim(final_text), "true") == 0)
                strmap_set(&r->conf->final, key, "");
}

static void hadoop_conf_end_element(void *data, const XML_Char *name)
{
        struct hadoop_conf_reader *r = data;
        if (strcmp(name, "property") == 0 && r->in_property) {
                hadoop_conf_end_property(r);
                r->in_property = false;
        }
        /* As in Hadoop, an empty element does not set a value, so that of an earlier file stays. */
        if (r->field == FIELD_VALUE && !r->text[FIELD_VALUE].len)
                r->has[FIELD_VALUE] = false;
        r->field = FIELD_NONE;
}

static void hadoop_conf_entity_declared(void *data, const XML_Char *name, int is_parameter, const XML_Char *value,
                                        int length, const XML_Char *base, const XML_Char *system,
                                        const XML_Char *public_id, const XML_Char *notation)
{
        struct hadoop_conf_reader *r = data;
        r->entity = true;
        XML_StopParser(r->parser, XML_FALSE);
}

static int hadoop_conf_parse_file(struct hadoop_conf *conf, const char *text, size_t len, const char *name,
                                  int includes, bool beside, struct fst_error *error)
{
        if (len > HADOOP_CONF_MAX_FILE)
                return error_set(error, -EINVAL, "%s: it has %zu bytes, more than %d; is it the right file?", name, len,
                                 HADOOP_CONF_MAX_FILE);
        struct hadoop_conf_reader r = {
                .conf = conf, .name = beside ? name : NULL, .includes = includes, .error = error};
        r.parser = XML_ParserCreate(NULL);
        if (!r.parser)
                return error_set(error, -ENOMEM, "no memory to read %s", name);
        XML_SetUserData(r.parser, &r);
        XML_SetElementHandler(r.parser, hadoop_conf_start_element, hadoop_conf_end_element);
        XML_SetCharacterDataHandler(r.parser, hadoop_conf_characters);
        XML_SetEntityDeclHandler(r.parser, hadoop_conf_entity_declared);
        bool good = XML_Parse(r.parser, text, (int)len, XML_TRUE) == XML_STATUS_OK;
        if (r.result == 0 && !good)
                r.result = error_set(error, -EINVAL, "error parsing conf %s: line %lu: %s", name,
                                     XML_GetCurrentLineNumber(r.parser),
                                     r.entity ? "entity declarations are not accepted; remove the DOCTYPE"
                                              : XML_ErrorString(XML_GetErrorCode(r.parser)));
        XML_ParserFree(r.parser);
        for (int i = 0; i < N_FIELDS; i++)
                buf_deinit(&r.text[i]);
        return r.result;
}

int hadoop_conf_parse(struct hadoop_conf *conf, const char *text, size_t len, const char *name, struct fst_error *error)
{
        return hadoop_conf_parse_file(conf, text, len, name, 0, false, error);
}

static int hadoop_conf_read_file(struct hadoop_conf *conf, const char *path, int includes, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        char piece[8192];
        ssize_t n = -1;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0 && text.len <= HADOOP_CONF_MAX_FILE)
                buf_append(&text, piece, (size_t)n);
        int r = n < 0 ? error_errno(error, "reading %s", path) : 0;
        if (fd >= 0)
                close(fd);
        return r < 0 ? r : hadoop_conf_parse_file(conf, buf_text(&text), text.len, path, includes, true, error);
}

/* Loads @file from the first directory of Spark's class path that has it. */
static int hadoop_conf_load_file(struct hadoop_conf *conf, const char *file, struct fst_error *error)
{
        const char *home = conf->env("SPARK_HOME"), *spark_conf_dir = conf->env("SPARK_CONF_DIR");
        _cleanup_free_ char *at_home = home && *home ? mem_printf("%s/conf", home) : NULL;
        const char *const folders[] = {spark_conf_dir && *spark_conf_dir ? spark_conf_dir : at_home,
                                       conf->env("HADOOP_CONF_DIR"), conf->env("YARN_CONF_DIR")};
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                if (!folders[i] || !*folders[i])
                        continue;
                _cleanup_free_ char *path = mem_printf("%s/%s", folders[i], file);
                if (access(path, F_OK) == 0)
                        return hadoop_conf_read_file(conf, path, 0, error);
        }
        return 0;
}

static void hadoop_conf_set_from_env(struct hadoop_conf *conf, const char *name, const char *const *keys)
{
        const char *value = conf->env(name);
        for (; value && *keys; keys++)
                hadoop_conf_set(conf, *keys, value);
}

static void hadoop_conf_load_aws(struct hadoop_conf *conf)
{
        static const char *const id[] = {"fs.s3.awsAccessKeyId", "fs.s3n.awsAccessKeyId", "fs.s3a.access.key", NULL};
        static const char *const secret[] = {"fs.s3.awsSecretAccessKey", "fs.s3n.awsSecretAccessKey",
                                             "fs.s3a.secret.key", NULL};
        static const char *const endpoint[] = {"fs.s3a.endpoint", NULL}, *const token[] = {"fs.s3a.session.token",
                                                                                           NULL};
        if (!conf->env("AWS_ACCESS_KEY_ID") || !conf->env("AWS_SECRET_ACCESS_KEY"))
                return;
        hadoop_conf_set_from_env(conf, "AWS_ACCESS_KEY_ID", id);
        hadoop_conf_set_from_env(conf, "AWS_SECRET_ACCESS_KEY", secret);
        hadoop_conf_set_from_env(conf, "AWS_ENDPOINT_URL", endpoint);
        hadoop_conf_set_from_env(conf, "AWS_SESSION_TOKEN", token);
}

static int hadoop_conf_load_files(struct hadoop_conf *conf, const char *const *files, const struct strmap *spark,
                                  struct fst_error *error)
{
        int r = 0;
        for (; r == 0 && *files; files++)
                r = hadoop_conf_load_file(conf, *files, error);
        if (r < 0)
                return r;
        hadoop_conf_load_aws(conf);
        for (struct strmap_entry *e = NULL; spark && (e = strmap_next(spark, e));)
                if (strncmp(e->key, "spark.hadoop.", 13) == 0)
                        hadoop_conf_set(conf, e->key + 13, e->value);
        return 0;
}

int hadoop_conf_load(struct hadoop_conf *conf, const struct strmap *spark, struct fst_error *error)
{
        static const char *const files[] = {"core-site.xml", "hdfs-site.xml", NULL};
        return hadoop_conf_load_files(conf, files, spark, error);
}

int hadoop_conf_load_yarn(struct hadoop_conf *conf, const struct strmap *spark, struct fst_error *error)
{
        static const char *const files[] = {"core-site.xml", "hdfs-site.xml",      "mapred-site.xml",
                                            "yarn-site.xml", "resource-types.xml", NULL};
        return hadoop_conf_load_files(conf, files, spark, error);
}

bool hadoop_conf_is_secure(const struct hadoop_conf *conf)
{
        _cleanup_free_ char *how = hadoop_conf_get(conf, "hadoop.security.authentication");
        return how && strcasecmp(hadoop_conf_trim(how), "kerberos") == 0;
}

char *hadoop_conf_proxy_user(const struct hadoop_conf *conf)
{
        const char *name = strmap_get(&conf->values, HADOOP_CONF_PROXY_USER);
        return name && *name ? mem_strdup(name) : NULL;
}

/* The short name of a principal: "hdfs/host@REALM" gives "hdfs". NULL without tickets. */
static char *hadoop_conf_ticket_user(void)
{
        _cleanup_free_ char *principal = kerberos_principal();
        return principal ? mem_strndup(principal, strcspn(principal, "/@")) : NULL;
}

static char *hadoop_conf_account(const struct hadoop_conf *conf)
{
        const char *account = os_user_name(), *name = account ? account : conf->env("USER");
        return mem_strdup(name && *name ? name : "nobody");
}

char *hadoop_conf_real_user(const struct hadoop_conf *conf)
{
        const char *configured = strmap_get(&conf->values, HADOOP_CONF_USER), *name = conf->env("HADOOP_USER_NAME");
        const char *in_container = conf->env("CONTAINER_ID") ? conf->env("SPARK_USER") : NULL;
        if (configured && *configured)
                return mem_strdup(configured);
        if (in_container && *in_container)
                return mem_strdup(in_container);
        const char *how = strmap_get(&conf->values, "hadoop.security.authentication");
        const bool secure = how && strcasecmp(how, "kerberos") == 0; /* plain: a value may refer to ${user.name} */
        char *of_ticket = secure ? hadoop_conf_ticket_user() : NULL;
        if (of_ticket)
                return of_ticket;
        return name && *name && !secure ? mem_strdup(name) : hadoop_conf_account(conf);
}

char *hadoop_conf_user(const struct hadoop_conf *conf)
{
        char *other = hadoop_conf_proxy_user(conf);
        return other ? other : hadoop_conf_real_user(conf);
}

/* The value of the variable ${NAME}, owned by the caller, or NULL. */
static char *hadoop_conf_variable(const struct hadoop_conf *conf, const char *name)
{
        const char *value;
        if (strncmp(name, "env.", 4) == 0) {
                const char *text = strchr(name, '-');
                bool or_empty = text && text > name + 4 && text[-1] == ':';
                _cleanup_free_ char *key =
                        mem_strndup(name + 4, text ? (size_t)(text - name - 4 - or_empty) : strlen(name + 4));
                value = conf->env(key);
                if (text && (!value || (or_empty && !*value)))
                        value = text + 1;
        } else if (strcmp(name, "user.name") == 0) {
                return hadoop_conf_user(conf);
        } else if (strcmp(name, "user.home") == 0) {
                value = conf->env("HOME");
        } else if (strcmp(name, "java.io.tmpdir") == 0) {
                value = "/tmp";
        } else {
                value = strmap_get(&conf->values, hadoop_conf_new_name(name));
        }
        return value ? mem_strdup(value) : NULL;
}

/* The innermost "${…}" of @text and the length *@n of its name, or NULL. */
static const char *hadoop_conf_find_variable(const char *text, size_t *n)
{
        for (const char *at = text; (at = strstr(at, "${")); at += 2) {
                *n = strcspn(at + 2, "}$ ");
                if (at[2 + *n] == '}' && *n > 0)
                        return at;
        }
        return NULL;
}

char *hadoop_conf_get(const struct hadoop_conf *conf, const char *key)
{
        const char *raw = strmap_get(&conf->values, hadoop_conf_new_name(key));
        if (!raw)
                return NULL;
        char *text = mem_strdup(raw);
        const char *at;
        size_t n;
        for (int i = 0; i < MAX_SUBSTITUTIONS && (at = hadoop_conf_find_variable(text, &n)); i++) {
                _cleanup_free_ char *name = mem_strndup(at + 2, n), *value = hadoop_conf_variable(conf, name);
                if (!value || strlen(text) + strlen(value) > MAX_VALUE)
                        break;
                char *next = mem_printf("%.*s%s%s", (int)(at - text), text, value, at + n + 3);
                free(text);
                text = next;
        }
        return text;
}

bool hadoop_conf_flag(const struct hadoop_conf *conf, const char *key, bool otherwise)
{
        _cleanup_free_ char *value = hadoop_conf_get(conf, key);
        if (!value)
                return otherwise;
        const char *text = hadoop_conf_trim(value);
        return strcasecmp(text, "true") == 0 ? true : strcasecmp(text, "false") == 0 ? false : otherwise;
}
