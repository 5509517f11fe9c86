/* The slow path of fst_next; see firesteel/iter.h. */
#include "base/log.h"
#include "rdd/pipeline/op.h"
#include "rdd/cogroup/op_cogroup.h"
#include "rdd/pipeline/op_iter.h"

#include <firesteel/iter.h>

#include <errno.h>

FST_API bool fst_iter_more(fst_iter *iter, uint32_t tag)
{
        if (iter->status)
                return false;
        if (iter->tag != tag) {
                char wanted[64], have[64];
                iter->status = -EINVAL;
                if (iter_op_mismatch(iter, tag) || cogroup_iter_mismatch(iter, tag))
                        return false;
                log_error("Iterator", "the rows are %s, but fst_next was given variables for %s",
                          fst_tag_name(iter->tag, have), fst_tag_name(tag, wanted));
                return false;
        }
        return iter->refill(iter);
}
