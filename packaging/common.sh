# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that build packages. Sets:
#   root                 the source folder
#   version              of CMakeLists.txt, "0.1.0"
#   SOURCE_DATE_EPOCH    time of the commit: packages of the same commit have the same dates
# shellcheck shell=bash disable=SC2034
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
version=$(sed -n 's/^project(quantloupe VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [[ -z ${SOURCE_DATE_EPOCH-} ]]; then
    # An unpacked archive may lie below another checkout.
    if [[ -e $root/.git ]]; then
        SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
    else
        SOURCE_DATE_EPOCH=$(stat -c %Y "$root/CMakeLists.txt")
    fi
fi
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8
umask 022
