"""Where questions come from and where they go: files of strangers, maps, tasks, experiments."""
