"""The report: a judged run as one terminal page and one HTML page."""
