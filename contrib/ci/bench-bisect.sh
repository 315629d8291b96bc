#!/bin/sh
# Find the commit that made a command slower: git bisect, with `firstlight bench` as the judge of each commit.
#
#   sh bench-bisect.sh GOOD BAD BUILD COMMAND [LIMIT]
#   sh bench-bisect.sh v1.2 HEAD 'make -j2' './solver small.in' 2%
#
# Start it in the root of the repository; the working tree stays as it is. BUILD runs in each commit that git chooses,
# and once in GOOD. A commit is bad if COMMAND fails, or is slower than in GOOD by more than LIMIT, which is 2% if not
# given. Commits that do not build, or whose result is uncertain, are skipped. The exit status is that of git bisect.
set -eu
good=${1:?usage: bench-bisect.sh GOOD BAD BUILD COMMAND [LIMIT]}
bad=${2:?usage: bench-bisect.sh GOOD BAD BUILD COMMAND [LIMIT]}
build=${3:?usage: bench-bisect.sh GOOD BAD BUILD COMMAND [LIMIT]}
command=${4:?usage: bench-bisect.sh GOOD BAD BUILD COMMAND [LIMIT]}
limit=${5:-2%}
script=$(cd "$(dirname "$0")" && pwd)/bench-pr.sh
repository=$PWD
work=$(mktemp -d)
trap 'cd "$repository"; git worktree remove --force "$work/tree"; rm -rf "$work"' EXIT
good=$(git rev-parse --verify "$good^{commit}")
git worktree add --quiet --detach "$work/tree" "$bad"
cd "$work/tree"
git bisect start "$(git rev-parse HEAD)" "$good" >&2
# git counts 1 as bad, 125 as not to be judged, and any other status below 128 as bad, too.
git bisect run sh -c '
  git clean -qfdx
  sh "$0" "$@" >&2 || { status=$?; [ "$status" -eq 1 ] && exit 1; exit 125; }
' "$script" "$good" "$build" "$command" "$limit"
