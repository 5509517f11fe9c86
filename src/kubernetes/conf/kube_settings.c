/* Reads settings for pods with the checks of Spark's Config.scala. */
#include "kubernetes/conf/kube_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/keys.h"
#include "conf/units.h"
#include "kubernetes/conf/kube_conf.h"
#include "text/number_format.h"

#include <errno.h>
#include <math.h>

#define INVALID "[INVALID_CONF_VALUE.%s] The value '%s' in the config \"%s\" is invalid. "
#define STATE " SQLSTATE: 22022"

static const struct {
        const char *key;
        const char *choices[5];
} choices[] = {
        {"spark.kubernetes.container.image.pullPolicy", {"Always", "Never", "IfNotPresent"}},
        {"spark.kubernetes.driver.service.ipFamilies", {"IPv4", "IPv6", "IPv4,IPv6", "IPv6,IPv4"}},
        {"spark.kubernetes.driver.service.ipFamilyPolicy", {"SingleStack", "PreferDualStack", "RequireDualStack"}},
        {"spark.kubernetes.resource.type", {"java", "python", "r"}},
};

static const struct {
        const char *key;
        double least, most;
        bool more_than_least;
        const char *requirement;
} ranges[] = {
        {"spark.driver.memoryOverheadFactor", 0, HUGE_VAL, true,
         "Ensure that memory overhead is a double greater than 0"},
        {"spark.executor.memoryOverheadFactor", 0, HUGE_VAL, true,
         "Ensure that memory overhead is a double greater than 0"},
        {"spark.kubernetes.configMap.maxSize", -HUGE_VAL, 1048576, false, "Must have at most 1048576 bytes"},
        {"spark.kubernetes.executor.terminationGracePeriodSeconds", 0, HUGE_VAL, false,
         "terminationGracePeriodSeconds must be non-negative"},
        {"spark.kubernetes.memoryOverheadFactor", 0, HUGE_VAL, false, "Ensure that memory overhead is non-negative"},
};

/* An alias is reported under the key whose value it takes, as in Spark. */
static int kube_settings_mismatch(const char *key, const char *value, const char *type, struct fst_error *error)
{
        struct key row;
        while (key_find(key, &row) && row.same_as)
                key = row.same_as;
        return error_set(error, -EINVAL, INVALID "It should be a/an '%s' value." STATE, "TYPE_MISMATCH", value, key,
                         type);
}

static int kube_settings_check_range(const char *key, const char *value, double number, struct fst_error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
                if (strcmp(ranges[i].key, key) != 0)
                        continue;
                if (number < ranges[i].least || number > ranges[i].most ||
                    (ranges[i].more_than_least && number <= ranges[i].least))
                        return error_set(error, -EINVAL, INVALID "%s" STATE, "REQUIREMENT", value, key,
                                         ranges[i].requirement);
        }
        return 0;
}

/* Whether @text is a DNS subdomain: labels of a-z, 0-9 and inner dashes, joined by dots. */
static bool is_subdomain(const char *text)
{
        for (;;) {
                size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
                if (n == 0 || text[0] == '-' || text[n - 1] == '-')
                        return false;
                if (!text[n])
                        return true;
                if (text[n] != '.')
                        return false;
                text += n + 1;
        }
}

static int check_choice(const char *key, const char *value, struct fst_error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
                if (strcmp(choices[i].key, key) != 0)
                        continue;
                _cleanup_(buf_deinit) struct buf all = BUF_INIT;
                for (size_t k = 0; choices[i].choices[k]; k++) {
                        if (strcmp(choices[i].choices[k], value) == 0)
                                return 0;
                        buf_printf(&all, "%s%s", k ? ", " : "", choices[i].choices[k]);
                }
                return error_set(error, -EINVAL, INVALID "It should be one of '%s'." STATE, "OUT_OF_RANGE_OF_OPTIONS",
                                 value, key, buf_text(&all));
        }
        if (strcmp(key, "spark.kubernetes.executor.podNamePrefix") == 0 &&
            (strlen(value) > 237 || !is_subdomain(value)))
                return error_set(error, -EINVAL,
                                 INVALID
                                 "must conform https://kubernetes.io/docs/concepts/overview/"
                                 "working-with-objects/names/#dns-subdomain-names and the value length <= 237" STATE,
                                 "REQUIREMENT", value, key);
        return 0;
}

int kube_string(const struct kube_conf *c, const char *key, char **out, struct fst_error *error)
{
        char *value = NULL;
        int r = conf_get_string(c->conf, key, &value, error);
        if (r == 0 && value)
                r = check_choice(key, value, error);
        if (r < 0) {
                free(value);
                return r;
        }
        *out = value;
        return 0;
}

int kube_bool(const struct kube_conf *c, const char *key, bool *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = kube_string(c, key, &value, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *copy = mem_strdup(value ? value : "");
        const char *text = conf_trim(copy);
        if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
                return kube_settings_mismatch(key, value ? value : "", "boolean", error);
        *out = strcasecmp(text, "true") == 0;
        return 0;
}

static bool kube_settings_read_number(char *text, int64_t least, int64_t most, int64_t *out)
{
        const char *digits = text + (*text == '-' || *text == '+');
        errno = 0;
        int64_t number = strtoll(text, NULL, 10);
        if (!*digits || digits[strspn(digits, "0123456789")] || errno || number < least || number > most)
                return false;
        *out = number;
        return true;
}

int kube_int(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error)
{
        struct key row;
        bool is_long = key_find(key, &row) && row.type == KEY_LONG;
        _cleanup_free_ char *value = NULL;
        int64_t number;
        int r = kube_string(c, key, &value, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *copy = mem_strdup(value ? value : "");
        if (!kube_settings_read_number(conf_trim(copy), is_long ? INT64_MIN : INT32_MIN,
                                       is_long ? INT64_MAX : INT32_MAX, &number))
                return kube_settings_mismatch(key, value ? value : "", is_long ? "long" : "int", error);
        r = kube_settings_check_range(key, value, (double)number, error);
        if (r == 0)
                *out = number;
        return r;
}

int kube_double(const struct kube_conf *c, const char *key, double *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = kube_string(c, key, &value, error);
        if (r < 0)
                return r;
        _cleanup_(error_deinit) struct fst_error unread = FST_ERROR_INIT;
        double number;
        if (conf_get_double(c->conf, key, &number, &unread) < 0)
                return kube_settings_mismatch(key, value ? value : "", "double", error);
        _cleanup_free_ char *shown = kube_show_double(number);
        r = kube_settings_check_range(key, shown, number, error);
        if (r == 0)
                *out = number;
        return r;
}

int kube_mib(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = kube_string(c, key, &value, error);
        if (r < 0)
                return r;
        _cleanup_(error_deinit) struct fst_error unread = FST_ERROR_INIT;
        if (!value || units_parse_bytes(value, UNIT_MIB, UNIT_MIB, out, &unread) < 0)
                return kube_settings_mismatch(key, value ? value : "", "bytes in MiB", error);
        return 0;
}

int kube_seconds(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int64_t seconds;
        int r = kube_string(c, key, &value, error);
        if (r < 0)
                return r;
        _cleanup_(error_deinit) struct fst_error unread = FST_ERROR_INIT;
        if (!value || units_parse_time(value, UNIT_S, UNIT_S, &seconds, &unread) < 0)
                return kube_settings_mismatch(key, value ? value : "", "time in SECONDS", error);
        _cleanup_free_ char *shown = mem_printf("%lldms", (long long)seconds * 1000);
        r = kube_settings_check_range(key, shown, (double)seconds, error);
        if (r == 0)
                *out = seconds;
        return r;
}

int kube_list(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error)
{
        _cleanup_free_ char *value = NULL;
        int r = kube_string(c, key, &value, error);
        char *rest = value, *word;
        while (r == 0 && rest && (word = strsep(&rest, ",")))
                if (*(word = conf_trim(word)))
                        string_list_add(out, word);
        return r;
}

int kube_number(const struct kube_conf *c, const char *key, int64_t otherwise, int64_t *out, struct fst_error *error)
{
        const char *value = conf_get_raw(c->conf, key);
        _cleanup_free_ char *copy = mem_strdup(value ? value : "");
        if (!value)
                *out = otherwise;
        else if (!kube_settings_read_number(copy, INT32_MIN, INT32_MAX, out))
                return error_set(error, -EINVAL, "Illegal value for config key %s: For input string: \"%s\"", key,
                                 value);
        return 0;
}

char *kube_show_double(double number)
{
        char text[NUMBER_F64_SIZE];
        return mem_strndup(text, number_format_f64(text, number));
}

bool kube_is_set(const struct kube_conf *c, const char *key)
{
        return conf_contains(c->conf, key);
}
