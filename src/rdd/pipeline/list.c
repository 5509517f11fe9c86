/* The slow path of fst_list_next; see firesteel/list.h. */
#include "base/log.h"
#include "rdd/pipeline/op.h"

#include <firesteel/list.h>

#include <errno.h>

FST_API bool fst_list_bad(fst_list *list, uint32_t tag)
{
        char wanted[64], have[64];
        uint32_t type = fst_type_tag(list->type);
        list->status = type != tag ? -EINVAL : -EBADMSG;
        if (type != tag)
                log_error("List", "the elements are %s, but fst_list_next was given variables for %s",
                          fst_tag_name(type, have), fst_tag_name(tag, wanted));
        else
                log_error("List", "the bytes are not a list of %s: the last element is truncated",
                          fst_tag_name(type, have));
        return false;
}
