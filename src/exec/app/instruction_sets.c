/* See instruction_sets.h. */
#include "exec/app/instruction_sets.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <firesteel/detail/instruction_sets.h>

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define KEY "spark.firesteel.cc.march"

enum cpuid_register { CPUID_eax, CPUID_ebx, CPUID_ecx, CPUID_edx };

struct instruction_set {
        uint8_t bit; /* in the note */
        const char *name;
        uint8_t state; /* as in firesteel/detail/instruction_sets.h */
        uint32_t leaf, subleaf;
        enum cpuid_register place;
        uint8_t place_bit;
};

static const struct instruction_set instruction_sets[] = {
#define SET(bit, macro, name, state, leaf, subleaf, place, place_bit)                                                  \
        {bit, name, state, leaf, subleaf, CPUID_##place, place_bit},
        FST_INSTRUCTION_SETS(SET)
#undef SET
};

#ifdef __x86_64__
#include <cpuid.h>

#define OSXSAVE (1u << 27)
#define STATE_256 0x06u /* bits of XCR0: the operating system saves these registers */
#define STATE_512 0xe6u

/* The largest `state` whose registers the operating system saves. */
static unsigned saved_state(void)
{
        uint32_t a, b, c, d;
        if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
                return 0;
        __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        return (a & STATE_512) == STATE_512 ? 2 : (a & STATE_256) == STATE_256 ? 1 : 0;
}

uint64_t instruction_sets_here(void)
{
        unsigned state = saved_state();
        uint64_t sets = 0;
        for (size_t i = 0; i < ARRAY_SIZE(instruction_sets); i++) {
                const struct instruction_set *s = &instruction_sets[i];
                uint32_t r[4] = {0}, last;
                /* A leaf has as many sub-leaves as eax of its first one says. */
                if (s->subleaf && (!__get_cpuid_count(s->leaf, 0, &last, &r[1], &r[2], &r[3]) || last < s->subleaf))
                        continue;
                if (s->state <= state && __get_cpuid_count(s->leaf, s->subleaf, &r[0], &r[1], &r[2], &r[3]) &&
                    r[s->place] >> s->place_bit & 1)
                        sets |= (uint64_t)1 << s->bit;
        }
        return sets;
}

void instruction_sets_describe_processor(struct buf *out)
{
        uint32_t a = 0, b, c, d;
        __get_cpuid(1, &a, &b, &c, &d);
        buf_printf(out, "x86-64 %08x %" PRIx64, a, instruction_sets_here());
}
#else
uint64_t instruction_sets_here(void)
{
        return 0;
}

void instruction_sets_describe_processor(struct buf *out)
{
        buf_puts(out, "another");
}
#endif

void instruction_sets_names(uint64_t sets, struct buf *out)
{
        const char *before = "";
        for (size_t i = 0; i < ARRAY_SIZE(instruction_sets); i++) {
                if (!(sets >> instruction_sets[i].bit & 1))
                        continue;
                buf_printf(out, "%s%s", before, instruction_sets[i].name);
                before = ", ";
        }
        if (sets && !*before)
                buf_printf(out, "instruction sets that this version does not know (%" PRIx64 ")", sets);
}

/* Whether all tasks of @master run on this machine. */
static bool master_is_here(const char *master)
{
        static const char *const here[] = {"local", "local-cluster"};
        for (size_t i = 0; master && i < ARRAY_SIZE(here); i++) {
                size_t n = strlen(here[i]);
                if (strncmp(master, here[i], n) == 0 && (master[n] == 0 || master[n] == '['))
                        return true;
        }
        return false;
}

static const char *march_automatic(const char *master)
{
#ifdef __x86_64__
        bool can_refuse = true; /* modules state what they need, and a process without it refuses them */
#else
        bool can_refuse = false;
#endif
        return can_refuse && master_is_here(master) ? "native" : NULL;
}

int instruction_sets_march(const char *setting, const char *master, const char **march, struct fst_error *error)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
        if (!setting || !*setting || strcmp(setting, "auto") == 0)
                *march = march_automatic(master);
        else if (strcmp(setting, "none") == 0)
                *march = NULL;
        else if (strspn(setting, letters) == strlen(setting))
                *march = setting;
        else
                return error_set(error, -EINVAL,
                                 KEY "=%s: write auto, none, or one value for the compiler's -march, such as native or "
                                     "x86-64-v3",
                                 setting);
        return 0;
}
