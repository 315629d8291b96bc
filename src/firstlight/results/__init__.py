"""What programs write, and how a run is stored."""
