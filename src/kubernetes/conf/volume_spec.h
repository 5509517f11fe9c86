/*
 * Reads volumes from the settings PREFIX + TYPE.NAME.mount.path, .mount.readOnly, .options.claimName, … Spark's
 * KubernetesVolumeUtils.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

#include <stdbool.h>

struct fst_error;
struct kube_conf;

enum volume_type { VOLUME_HOST_PATH, VOLUME_CLAIM, VOLUME_EMPTY_DIR, VOLUME_NFS };

struct volume_spec {
        enum volume_type type;
        char *name;
        char *mount_path;
        char *sub_path, *sub_path_expr; /* "" if not set */
        bool read_only;
        char *path;                         /* host path, or path on the NFS server */
        char *host_type;                    /* host path only; "" if not set */
        char *server;                       /* NFS server */
        char *claim, *storage_class, *size; /* a claim, the last two may be NULL; size: also of an empty directory */
        char *medium;                       /* medium of an empty directory, or NULL */
        struct strmap labels, annotations;  /* for a claim that is created */
};

struct volume_specs {
        struct volume_spec *data;
        size_t len, cap;
};

/* Appends the volumes below @prefix, sorted by type and name. Returns -EINVAL with Spark's message. */
int volume_specs_read(const struct kube_conf *c, const char *prefix, struct volume_specs *out, struct fst_error *error);
void volume_specs_deinit(struct volume_specs *specs);
