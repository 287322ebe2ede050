"""What becomes of a run under faults: hostile servers, disks, files, signals and texts."""
