#!/bin/bash
# Install the missing Debian packages of docs/dependencies.md. Returns at once if all are installed. "developer" adds the
# packages for lint, fuzz, docs and check-fresh; "kubernetes" adds those for the node of check-kubernetes. Uses sudo if
# you are not root. On other systems it only prints what is needed; the build's own checks do the rest.
set -euo pipefail
cd "$(dirname "$0")/.."

listed() { # the first column of the tables, of the section "For …" in which the word stands and of those for all
        awk -F'|' -v word="${1:-}" '
                /^## / { in_section = !/^## For / || (word != "" && index(tolower($0), word)) }
                in_section && /^\| *[a-z0-9]/ { gsub(/ /, "", $2); if ($2 != "package") print $2 }
        ' docs/dependencies.md
}

packages=$(listed "${1:-}")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian; the build needs what these Debian packages hold:" $packages >&2
        exit 0
fi

missing=()
for package in $packages; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
                echo "These packages are missing; install them as root: apt-get install ${missing[*]}" >&2
                exit 1
        fi
        as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
