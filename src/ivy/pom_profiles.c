/* Which profiles of a POM are active. */
#include "ivy/pom_internal.h"

#include "base/mem.h"

#include <unistd.h>

bool pom_is_true(const char *text)
{
        return text && strcasecmp(text, "true") == 0;
}

/* Compares dotted numbers, as far as they are numbers. */
static int pom_compare_dotted(const char *a, const char *b)
{
        for (;;) {
                char *a_end, *b_end;
                long x = strtol(a, &a_end, 10), y = strtol(b, &b_end, 10);
                if (x != y)
                        return x < y ? -1 : 1;
                a = *a_end == '.' ? a_end + 1 : "";
                b = *b_end == '.' ? b_end + 1 : "";
                if (!*a && !*b)
                        return 0;
        }
}

/* "[1.8,)", "17", "(,9)", "!1.8": one range, or several in a row. */
static bool pom_jdk_matches(const char *range)
{
        _cleanup_free_ char *text = mem_strdup(range);
        bool found = false, negate = false;
        char *at = text + strspn(text, " \t\r\n");
        if (*at == '!') {
                negate = true;
                at++;
        }
        while (*at && !found) {
                at += strspn(at, " \t\r\n,");
                bool open_low = *at == '(', open_high;
                at += *at == '(' || *at == '[';
                size_t low_len = strcspn(at, ",)]");
                _cleanup_free_ char *low = mem_strndup(at, low_len), *high = NULL;
                at += low_len;
                if (*at == ',') {
                        size_t len = strcspn(++at, ")],");
                        high = mem_strndup(at, len);
                        at += len;
                } else {
                        high = mem_strdup(low);
                }
                open_high = *at == ')';
                at += *at == ')' || *at == ']';
                if (!low[strspn(low, " ")] && !high[strspn(high, " ")])
                        continue;
                int below = low[strspn(low, " ")] ? pom_compare_dotted(low, POM_JAVA_VERSION) : -1;
                int above = high[strspn(high, " ")] ? pom_compare_dotted(POM_JAVA_VERSION, high) : -1;
                found = (below < 0 || (below == 0 && !open_low)) && (above < 0 || (above == 0 && !open_high));
        }
        return found != negate;
}

static bool pom_os_matches(struct pom_reader *r, const struct xml_node *os)
{
        static const char *const parts[][2] = {{"name", "os.name"}, {"arch", "os.arch"}, {"version", "os.version"}};
        bool any = false;
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                const char *text = xml_child_text(os, parts[i][0]);
                if (!text)
                        continue;
                any = true;
                if (strcmp(pom_trimmed(r->names, text), pom_system_property(r, parts[i][1])) != 0)
                        return false;
        }
        const char *family = xml_child_text(os, "family");
        if (family && !strstr(pom_system_property(r, "os.name"), pom_trimmed(r->names, family)))
                return false;
        return any || family;
}

static bool pom_file_matches(struct pom_reader *r, const struct xml_node *file)
{
        const char *missing = xml_child_text(file, "missing"), *exists = xml_child_text(file, "exists");
        if (missing && access(pom_trimmed(r->names, missing), F_OK) == 0)
                return false;
        if (exists && access(pom_trimmed(r->names, exists), F_OK) != 0)
                return false;
        return missing || exists;
}

static bool pom_property_matches(struct pom_reader *r, const struct xml_node *rule)
{
        const char *name = xml_child_text(rule, "name"), *wanted = xml_child_text(rule, "value");
        bool negate = name && *name == '!';
        if (negate)
                name++;
        if (!name || !*name)
                return false;
        const char *is = pom_property(r, name);
        bool matched = wanted && *wanted ? is && strcmp(is, wanted) == 0 : is != NULL;
        return matched != negate;
}

bool pom_profile_is_active(struct pom_reader *r, const struct xml_node *profile)
{
        const struct xml_node *activation = xml_child(profile, "activation");
        if (!activation)
                return false;
        const struct xml_node *os = xml_child(activation, "os"), *file = xml_child(activation, "file");
        const char *jdk = xml_child_text(activation, "jdk");
        return pom_is_true(xml_child_text(activation, "activeByDefault")) ||
               pom_property_matches(r, xml_child(activation, "property")) || (os && pom_os_matches(r, os)) ||
               (jdk && pom_jdk_matches(jdk)) || (file && pom_file_matches(r, file));
}
