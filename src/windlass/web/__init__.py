"""HTTP: routes on one screen, endpoints without decisions, streams, auth, the page."""
