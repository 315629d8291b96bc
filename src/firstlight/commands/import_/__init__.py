"""The command `firstlight import`: results of other tools become a run, reported by them and not verified here."""
