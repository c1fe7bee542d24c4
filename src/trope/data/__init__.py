"""Data sets of image-text pairs: reading, checking, splitting, converting, and the built-in one."""
