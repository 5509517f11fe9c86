/*
 * The name of an image: "[HOST[:PORT]/]REPOSITORY[:TAG]". Without a host it means Docker Hub, and there a name without
 * a directory means "library". containerd needs both to be written, docker neither.
 */
#pragma once

struct fst_error;

struct image_name {
        char *shown; /* as given, with the tag: "firesteel:0.1.0" */
        char *full;  /* "docker.io/library/firesteel:0.1.0" */
        char *tag;   /* "0.1.0"; default "latest" */
};

/* Returns 0, or -EINVAL with @error for an invalid name (upper-case letters, blanks, a digest). */
int image_name_parse(const char *text, struct image_name *out, struct fst_error *error);
void image_name_deinit(struct image_name *name);
