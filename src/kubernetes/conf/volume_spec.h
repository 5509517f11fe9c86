/*
 * Volumes as settings say them: PREFIX + TYPE.NAME.mount.path, .mount.readOnly, .options.claimName, … Spark's
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
        char *path;                         /* of the host, or of the NFS server */
        char *host_type;                    /* of a host path; "" if not set */
        char *server;                       /* NFS */
        char *claim, *storage_class, *size; /* of a claim, the latter two or NULL; an empty directory's limit or NULL */
        char *medium;                       /* an empty directory's, or NULL */
        struct strmap labels, annotations;  /* of a claim that is made */
};

struct volume_specs {
        struct volume_spec *data;
        size_t len, cap;
};

/* Append those below @prefix, sorted by type and name. -EINVAL with Spark's sentence. */
int volume_specs_read(const struct kube_conf *c, const char *prefix, struct volume_specs *out, struct fst_error *error);
void volume_specs_deinit(struct volume_specs *specs);
