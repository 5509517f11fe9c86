/* See remove_tree.h. */
#include "base/remove_tree.h"

#include <ftw.h>
#include <stdio.h>

#define OPEN_MAX_AT_ONCE 16

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        remove(path);
        return 0;
}

void remove_tree(const char *path)
{
        if (path)
                nftw(path, remove_one, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
