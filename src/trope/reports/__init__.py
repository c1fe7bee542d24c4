"""How results are written down: tables and plots."""
