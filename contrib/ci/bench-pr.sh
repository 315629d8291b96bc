#!/bin/sh
# Compare the working tree with another revision of the same repository, and print the result as Markdown.
#
#   sh bench-pr.sh BASE BUILD COMMAND [LIMIT]
#   sh bench-pr.sh origin/main 'make -j2' './solver small.in' 2% > comment.md
#
# Start it in the root of the repository. BUILD runs once in each tree; it must leave its program inside the tree.
# COMMAND then runs in each tree. LIMIT is 2% if not given. The exit status is that of `firstlight bench --limit`: 1 if
# the working tree is slower by more than LIMIT, 4 if that is uncertain; 3 if a tree does not build.
set -eu
base=${1:?usage: bench-pr.sh BASE BUILD COMMAND [LIMIT]}
build=${2:?usage: bench-pr.sh BASE BUILD COMMAND [LIMIT]}
command=${3:?usage: bench-pr.sh BASE BUILD COMMAND [LIMIT]}
limit=${4:-2%}
firstlight=${FIRSTLIGHT:-firstlight}
new=$PWD
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base"; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"
for tree in "$work/base" "$new"; do
  (cd "$tree" && sh -c "$build") >&2 || {
    printf '**Performance.** Not measured: %s does not build.\n' "$([ "$tree" = "$new" ] && echo 'the working tree' || echo "$base")"
    exit 3
  }
done
printf '#!/bin/sh\ncd "%s" && exec %s\n' "$work/base" "$command" >"$work/base.sh"
printf '#!/bin/sh\ncd "%s" && exec %s\n' "$new" "$command" >"$work/new.sh"
chmod +x "$work/base.sh" "$work/new.sh"
status=0
page=$($firstlight bench --limit "$limit" --results "$work/results" -- "$work/base.sh" -- "$work/new.sh") || status=$?
case $status in
  0) verdict="Not slower than $base by more than $limit." ;;
  1) verdict="Slower than $base by more than $limit, or a command failed." ;;
  4) verdict="Uncertain whether it is slower than $base by more than $limit." ;;
  *) verdict="Not measured (status $status)." ;;
esac
# shellcheck disable=SC2016 # Markdown, not commands
printf '**Performance.** %s\n\n```\n%s\n```\n' "$verdict" "$page"
exit "$status"
