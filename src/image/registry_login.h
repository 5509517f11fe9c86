/*
 * Finds the credentials for a registry that docker login or podman login wrote. Reads REGISTRY_AUTH_FILE,
 * $XDG_RUNTIME_DIR/containers/auth.json, and config.json in DOCKER_CONFIG (~/.docker). The first file with the host
 * wins. If a file names a helper (credsStore, credHelpers), runs docker-credential-NAME.
 */
#pragma once

struct fst_error;

/*
 * Stores "name:password" for @host ("docker.io", "registry.example:5000") in *@out, owned by the caller, or NULL
 * without credentials. Returns -EINVAL for an invalid file, -EACCES for a failing helper, each named in @error.
 */
int registry_login_find(const char *host, char **out, struct fst_error *error);
