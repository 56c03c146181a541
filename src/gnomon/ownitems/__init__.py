"""Questions of one's own: rows of any file or dataset folder, mapped to items; imported tasks."""
