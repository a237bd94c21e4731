"""What filled the contexts of a session."""
