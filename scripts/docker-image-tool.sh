#!/bin/bash
# Builds and pushes the image of this Firesteel, without docker. Takes the options of Spark's script of this name.
set -euo pipefail

usage() {
        cat <<USAGE
Usage: $0 [OPTIONS] build|push

build writes the image REPO/spark:TAG as an archive, spark-TAG.tar in this folder (firesteel image build); push sends it
to its registry (firesteel image push).

  -r REPO   repository address, REGISTRY[/FOLDER]
  -t TAG    tag to apply to the image, or to push (default: latest)
  -I NAME   the image's name (default: spark)
  -u UID    UID to run as (default: 185)
  -a FILE   an application, or another file, to put in (--add of firesteel image build); several times
  -f FILE   build with this Dockerfile, by docker or podman: docker/Dockerfile, or one of your own
  -b ARG    build argument of the Dockerfile; several times
  -n        build the Dockerfile without docker's cache
  -m        load the image into minikube, too
USAGE
}

fail() {
        echo "$1" >&2
        exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
repo='' tag=latest name=spark dockerfile='' minikube=''
build_options=() docker_options=()
while getopts r:t:I:u:a:f:b:p:R:nmXh option; do
        case $option in
        r) repo=${OPTARG%/} ;;
        t) tag=$OPTARG ;;
        I) name=$OPTARG ;;
        u) build_options+=(--user "$OPTARG"); docker_options+=(--build-arg "spark_uid=$OPTARG") ;;
        a) build_options+=(--add "$OPTARG") ;;
        f) dockerfile=$OPTARG ;;
        b) docker_options+=(--build-arg "$OPTARG") ;;
        n) docker_options+=(--no-cache) ;;
        m) minikube=yes ;;
        p) fail "A native image runs no Python: images of genuine Spark are built by the tool of that Spark." ;;
        R) fail "A native image runs no R: images of genuine Spark are built by the tool of that Spark." ;;
        X) fail "An image is for the kind of machine that it is built on: run this on a machine of the other kind." ;;
        h) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
        esac
done
shift $((OPTIND - 1))

firesteel=${FIRESTEEL:-$here/firesteel}
[ -x "$firesteel" ] || firesteel=$here/../bin/firesteel
image=${repo:+$repo/}$name:$tag
archive=$name-$tag.tar

engine() {
        command -v docker || command -v podman ||
                fail "A Dockerfile is built by docker or podman, and neither is here; without -f no one is needed."
}

case ${1:-} in
build)
        if [ -n "$dockerfile" ]; then
                [ -d "$here/../docker" ] || fail "Dockerfiles are built from a checkout of Firesteel, of which this is none."
                docker=$(engine)
                "$docker" build "${docker_options[@]}" -t "$image" -f "$dockerfile" "$here/.."
                echo "The image is in ${docker##*/}: push it by '${docker##*/} push $image'."
        else
                "$firesteel" image build --tag "$image" --output "$archive" "${build_options[@]}"
                [ -z "$minikube" ] || minikube image load "$archive"
        fi
        ;;
push)
        [ -f "$archive" ] || fail "$archive is not there: build it first, with the same -r, -t and -I."
        exec "$firesteel" image push --tag "$image" "$archive"
        ;;
*)
        usage >&2
        exit 1
        ;;
esac
