/*
 * Lists what an image needs so that programs in R run in it: the R of this machine, the packages of its libraries
 * (SparkR among them), the shared libraries that they need, and a shell with the few programs by which R starts. R
 * itself finds them. R is where it is on this machine, because its start script names the directory; /usr/local/bin has
 * links R and Rscript. Left out: documentation, translations, Tk, and the graphics devices that need X or cairo.
 */
#pragma once

struct fst_error;
struct listed_files;

/*
 * Runs @command (Rscript: a path, or a name that PATH has). Blocks for some seconds. Fills @files, which must be
 * initialised. Returns 0, -ENOENT if it cannot be started or has no SparkR, or another negative status, with @error.
 */
int r_files_find(struct listed_files *files, const char *command, struct fst_error *error);
