/*
 * See pickled_classes.h. Cloudpickle creates a class by a call, REDUCE, whose arguments end with the number and None
 * (an enumeration too), or with the number (a type variable):
 *
 *      SHORT_BINUNICODE 32 "0123…" MEMOIZE NONE TUPLE MEMOIZE REDUCE
 *      SHORT_BINUNICODE 32 "0123…" MEMOIZE TUPLE MEMOIZE REDUCE
 */
#include "driver/resume/pickled_classes.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS 32
#define BEFORE "\x8c\x20" /* SHORT_BINUNICODE and the length */

static bool pickled_is_uuid(const char *text)
{
        return strspn(text, "0123456789abcdef") >= DIGITS && text[12] == '4' && strchr("89ab", text[16]);
}

/* @after has @left bytes. */
static bool pickled_ends_class(const char *after, size_t left)
{
        static const char *const ends[] = {"\x94Nt\x94R", "\x94t\x94R"};
        for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
                if (left >= strlen(ends[i]) && memcmp(after, ends[i], strlen(ends[i])) == 0)
                        return true;
        return false;
}

void pickled_classes_mask(char *data, size_t size)
{
        const char *end = data + size;
        const size_t before = strlen(BEFORE);
        for (char *at = data; (at = memmem(at, (size_t)(end - at), BEFORE, before)); at += before) {
                char *number = at + before;
                if ((size_t)(end - number) <= DIGITS)
                        break;
                char text[DIGITS + 1];
                memcpy(text, number, DIGITS);
                text[DIGITS] = '\0';
                if (pickled_is_uuid(text) && pickled_ends_class(number + DIGITS, (size_t)(end - number) - DIGITS))
                        memset(number, '0', DIGITS);
        }
}
