"""The search page and its API: `trope serve`."""
