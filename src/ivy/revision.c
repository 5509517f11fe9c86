/* See revision.h. Nothing is allocated, because revisions come from repositories and may have any length. */
#include "ivy/revision.h"

#include "base/mem.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct revision_part {
        const char *text;
        size_t len;
};

static bool revision_divides(char c)
{
        return c == '.' || c == '_' || c == '-' || c == '+';
}

/*
 * Reads the next part from *@at. Returns false at the end. As with Java's split, empty parts at the end do not count.
 */
static bool revision_next_part(const char **at, struct revision_part *part)
{
        const char *p = *at;
        if (!p)
                return false;
        size_t n = 0;
        while (p[n] && !revision_divides(p[n])) {
                n++;
                if ((isalpha((unsigned char)p[n - 1]) && isdigit((unsigned char)p[n])) ||
                    (isdigit((unsigned char)p[n - 1]) && isalpha((unsigned char)p[n])))
                        break;
        }
        *part = (struct revision_part){p, n};
        const char *rest = p + n;
        if (revision_divides(*rest))
                rest++;
        else if (*rest == '\0')
                rest = NULL;
        if (rest && rest[strspn(rest, "._-+")] == '\0')
                rest = NULL;
        *at = rest;
        return !(rest == NULL && n == 0);
}

static bool revision_is_number(struct revision_part p)
{
        for (size_t i = 0; i < p.len; i++)
                if (!isdigit((unsigned char)p.text[i]))
                        return false;
        return p.len > 0;
}

static int revision_compare_numbers(struct revision_part a, struct revision_part b)
{
        while (a.len > 1 && *a.text == '0')
                a.text++, a.len--;
        while (b.len > 1 && *b.text == '0')
                b.text++, b.len--;
        if (a.len != b.len)
                return a.len < b.len ? -1 : 1;
        return memcmp(a.text, b.text, a.len);
}

/* The rank of a special word, or 0. @known says whether the word is special. */
static int revision_meaning(struct revision_part p, bool *known)
{
        static const struct {
                const char *word;
                int value;
        } meanings[] = {{"dev", -1}, {"rc", 1}, {"final", 2}};
        for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
                if (p.len == strlen(meanings[i].word) && strncasecmp(p.text, meanings[i].word, p.len) == 0) {
                        *known = true;
                        return meanings[i].value;
                }
        *known = false;
        return 0;
}

static int revision_compare_words(struct revision_part a, struct revision_part b)
{
        bool a_known, b_known;
        int a_value = revision_meaning(a, &a_known), b_value = revision_meaning(b, &b_known);
        if (a_known || b_known)
                return (a_value > b_value) - (a_value < b_value);
        int r = memcmp(a.text, b.text, MIN(a.len, b.len));
        return r ? r : (a.len > b.len) - (a.len < b.len);
}

int revision_compare(const char *a, const char *b)
{
        const char *at = a, *bt = b;
        struct revision_part p, q;
        for (;;) {
                bool more_a = revision_next_part(&at, &p), more_b = revision_next_part(&bt, &q);
                if (!more_a && !more_b)
                        return 0;
                if (!more_b)
                        return revision_is_number(p) ? 1 : -1;
                if (!more_a)
                        return revision_is_number(q) ? -1 : 1;
                if (p.len == q.len && memcmp(p.text, q.text, p.len) == 0)
                        continue;
                bool p_number = revision_is_number(p), q_number = revision_is_number(q);
                if (p_number != q_number)
                        return p_number ? 1 : -1;
                return p_number ? revision_compare_numbers(p, q) : revision_compare_words(p, q);
        }
}

/* The bounds of a range. An open one is empty. */
struct range {
        struct revision_part lower, upper;
        bool with_lower, with_upper;
};

static struct revision_part revision_limit(const char *from, const char *to)
{
        while (from < to && isspace((unsigned char)*from))
                from++;
        while (to > from && isspace((unsigned char)to[-1]))
                to--;
        return (struct revision_part){from, (size_t)(to - from)};
}

static bool revision_limit_ok(struct revision_part p)
{
        for (size_t i = 0; i < p.len; i++)
                if (isspace((unsigned char)p.text[i]) || strchr(",[]()", p.text[i]))
                        return false;
        return true;
}

/* Parses Ivy's forms: [a,b] ]a,b[ (a,b) and mixtures; (,b] has no lower bound, [a,) no upper one. */
static bool revision_parse_range(const char *text, struct range *range)
{
        size_t n = strlen(text);
        if (n < 3 || !strchr("[](", text[0]) || !strchr("[])", text[n - 1]))
                return false;
        const char *comma = strchr(text, ',');
        if (!comma)
                return false;
        *range = (struct range){revision_limit(text + 1, comma), revision_limit(comma + 1, text + n - 1),
                                text[0] == '[', text[n - 1] == ']'};
        if (!revision_limit_ok(range->lower) || !revision_limit_ok(range->upper))
                return false;
        if (range->lower.len == 0)
                return text[0] == '(' && range->upper.len > 0;
        return range->upper.len > 0 || text[n - 1] == ')';
}

bool revision_is_dynamic(const char *revision)
{
        struct range range;
        size_t n = strlen(revision);
        return strncmp(revision, "latest.", 7) == 0 || (n > 0 && revision[n - 1] == '+') ||
               revision_parse_range(revision, &range);
}

/* Compares @bound, which is not NUL-terminated, with @found. */
static int revision_compare_bound(struct revision_part bound, const char *found)
{
        char small[64];
        char *text = bound.len < sizeof(small) ? small : mem_alloc(bound.len + 1);
        memcpy(text, bound.text, bound.len);
        text[bound.len] = '\0';
        int r = strcmp(text, found) == 0 ? 0 : revision_compare(text, found);
        if (r == 0 && strcmp(text, found) != 0)
                r = -1; /* Ivy treats the found one as later if two are equal but written differently */
        if (text != small)
                free(text);
        return r;
}

bool revision_accepts(const char *asked, const char *found)
{
        struct range range;
        size_t n = strlen(asked);
        if (strncmp(asked, "latest.", 7) == 0)
                return true;
        if (n > 0 && asked[n - 1] == '+')
                return strncmp(asked, found, n - 1) == 0;
        if (!revision_parse_range(asked, &range))
                return strcmp(asked, found) == 0;
        if (range.lower.len > 0) {
                int r = revision_compare_bound(range.lower, found);
                if (r > 0 || (r == 0 && !range.with_lower))
                        return false;
        }
        if (range.upper.len > 0) {
                int r = revision_compare_bound(range.upper, found);
                if (r < 0 || (r == 0 && !range.with_upper))
                        return false;
        }
        return true;
}

bool revision_needs_status(const char *asked)
{
        return strncmp(asked, "latest.", 7) == 0 && strcmp(asked, "latest.integration") != 0;
}

bool revision_accepts_status(const char *asked, const char *status)
{
        static const char *const order[] = {"release", "milestone", "integration"};
        size_t wanted = 0, is = 0;
        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                if (strcmp(asked + strlen("latest."), order[i]) == 0)
                        wanted = i;
                if (strcmp(status, order[i]) == 0)
                        is = i;
        }
        return wanted >= is;
}
