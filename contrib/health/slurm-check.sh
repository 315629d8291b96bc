#!/bin/sh
# Check each node of a partition as it becomes idle, with a job of its own instead of one large allocation.
#
#   sh slurm-check.sh PARTITION RESULTS
#
# RESULTS is a folder that all nodes share. Each node is compared with the limits of the site file, its accepted run and
# the newest runs of the other nodes. A node whose last check is still in the queue gets no second job.
#
# Variables:
#   ACCEPT=yes          accept the run of each node whose rows are sound, as the reference of later checks
#   DRAIN=yes           drain a node whose check ends with status 1, with the reason; requires a Slurm operator
#   FIRSTLIGHT=COMMAND  what starts firstlight on the nodes, if it is not on their PATH
#
# Run `firstlight setup node` once per kind of processor, on a compute node: the jobs then have nothing to build.
set -eu
partition=${1:?usage: slurm-check.sh PARTITION RESULTS}
results=${2:?usage: slurm-check.sh PARTITION RESULTS}
accept=
[ "${ACCEPT:-no}" = no ] || accept=--accept
for node in $(sinfo --noheader --Node --partition="$partition" --states=idle,allocated,mixed --format=%N | sort -u); do
  [ -z "$(squeue --noheader --name="firstlight-$node")" ] || continue
  sbatch --quiet --partition="$partition" --nodelist="$node" --exclusive --mem=0 --time=10 \
    --job-name="firstlight-$node" --output="$results/health-$node.txt" --open-mode=truncate <<JOB
#!/bin/sh
export LANG=C.UTF-8
${FIRSTLIGHT:-firstlight} health $accept --results "$results"
status=\$?
if [ \$status -eq 1 ] && [ "${DRAIN:-no}" = yes ]; then
  reason="firstlight: \$(sed -n 's/^  ✗ //p' "$results/health-$node.txt" | head -n 1)"
  scontrol update NodeName="$node" State=drain Reason="\$reason"
fi
exit \$status
JOB
done
