"""What can be measured and what will be: the catalogue of workloads and the plan of a run."""
