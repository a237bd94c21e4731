"""What each request of a session read, why it did not, and what that cost."""
