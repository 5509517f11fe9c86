/* Parses spark.firesteel.compat; see compat.h. */
#include "conf/compat.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

int submit_compat_parse(const char *text, enum submit_compat *out, struct fst_error *error)
{
        static const char *const names[] = {
                [COMPAT_2_4] = "2.4",
                [COMPAT_3_5] = "3.5",
                [COMPAT_4_3] = "4.3",
        };
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(text ? text : "4.3", names[i]) == 0) {
                        *out = (enum submit_compat)i;
                        return 0;
                }
        }
        return error_set(error, -EINVAL, "spark.firesteel.compat is '%s', but may be 2.4, 3.5 or 4.3", text);
}
