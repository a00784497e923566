"""Shows what artefacts hold, at a glance; reads them and never trains."""
