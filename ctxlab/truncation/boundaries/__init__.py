"""What each kind of text is made of: dividers for the cutter."""
