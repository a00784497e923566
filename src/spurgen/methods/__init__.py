"""The methods: one file each. A file holds its settings, what it remembers, its loss, and a METHOD that says so."""
