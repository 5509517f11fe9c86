/*
 * What an image is called: "[HOST[:PORT]/]REPOSITORY[:TAG]". Who names no host means Docker Hub, and there who names
 * no folder means "library": containerd wants both said, docker neither.
 */
#pragma once

struct fst_error;

struct image_name {
        char *shown; /* as it was said, with its tag: "firesteel:0.1.0" */
        char *full;  /* "docker.io/library/firesteel:0.1.0" */
        char *tag;   /* "0.1.0"; "latest" if none was said */
};

/* 0, or -EINVAL with @error for what is no name of an image (upper-case letters, blanks, a digest). */
int image_name_parse(const char *text, struct image_name *out, struct fst_error *error);
void image_name_deinit(struct image_name *name);
