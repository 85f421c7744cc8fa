"""What the section on far stores works with: a proxy that waits and counts, two revisions."""
