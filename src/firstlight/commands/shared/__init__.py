"""What several commands use: output, options of a run, the site file, streams."""
