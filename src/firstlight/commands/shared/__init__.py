"""Code that several commands share: the command line, output, options, runs, the site file, streams."""
