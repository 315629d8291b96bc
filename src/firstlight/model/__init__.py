"""The model: the catalogue of workloads that can be measured, and the plan of a run."""
