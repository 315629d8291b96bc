"""What every other package uses: errors, units, shell, arithmetic of declarations, roles, the confidence level."""
