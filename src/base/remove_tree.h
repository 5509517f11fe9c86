/* Removing a directory with all that is in it. Links are removed, not followed; what cannot be removed stays. */
#pragma once

/* @path may be NULL, or no longer there. Blocks. */
void remove_tree(const char *path);
