"""The models: one file each, with a MODEL that says what it reads and how it is built."""
