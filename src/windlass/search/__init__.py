"""Web search: backends behind one port, and a guard through which their pages are read."""
