"""What `ctxlab.prefix` promises."""
