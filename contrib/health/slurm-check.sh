#!/bin/sh
# Check each node of a partition as it becomes idle, with a job of its own instead of one large allocation.
#
#   sh slurm-check.sh PARTITION RESULTS
#
# RESULTS is a folder that all nodes share: each node is compared with its accepted run and with the other nodes.
# A node whose check ends with status 1 is drained, with the reason; DRAIN=no only prints it. Run it as an operator.
# Run `firstlight setup node` once before, so that no job has to build programs.
set -eu
partition=${1:?usage: slurm-check.sh PARTITION RESULTS}
results=${2:?usage: slurm-check.sh PARTITION RESULTS}
firstlight=${FIRSTLIGHT:-firstlight}
for node in $(sinfo --noheader --Node --partition="$partition" --states=idle,allocated,mixed --format=%N | sort -u); do
  sbatch --quiet --partition="$partition" --nodelist="$node" --exclusive --time=10 \
    --job-name=firstlight-health --output="$results/health-%N.txt" <<JOB
#!/bin/sh
$firstlight health --results "$results"
status=\$?
if [ \$status -eq 1 ]; then
  reason="firstlight: \$(sed -n 's/^  ✗ //p' "$results/health-\$SLURMD_NODENAME.txt" | head -n 1)"
  if [ "${DRAIN:-yes}" = yes ]; then
    scontrol update NodeName="\$SLURMD_NODENAME" State=drain Reason="\$reason"
  else
    printf '%s: %s\n' "\$SLURMD_NODENAME" "\$reason"
  fi
fi
exit \$status
JOB
done
